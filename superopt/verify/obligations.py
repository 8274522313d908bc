"""The seven obligations of a repair, each a claim with its own verdict.

Equalities are tried by the solver over the reals, then by the field reading (which knows
infinities and nested exponentials). What a value can be is said by spans (``repair/span.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from superopt.repair.guard import EXTREMA
from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.repair.record import states
from superopt.repair.record import to_old
from superopt.repair.record import words
from superopt.repair.span import span
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Carry
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.verify.graphs import verify_graph
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict

ZERO = Const(Fraction(0))
ONE = Const(Fraction(1))
Equal = Callable[[Node, Node, tuple[Node, ...]], Verdict]
Claim = tuple[str, Verdict]


def judge_repair(
    repair: Repair, block: BlockGraph, seed: int = 0, equal: Equal | None = None
) -> tuple[Claim, ...]:
    """Every obligation of ``repair``, which stands in ``block``, with its verdict.

    ``equal`` decides equalities of nodes under facts (default: solver, then field).
    """
    decide = equal if equal is not None else _Equality(seed)
    judge = _Judge(repair, block, decide)
    return (
        ("separation", judge.separation()),
        ("endomorphism", judge.endomorphism()),
        ("composition", judge.composition()),
        ("combination", judge.combination()),
        ("domain", judge.domain()),
        ("range", judge.range()),
        ("scope", judge.scope()),
    )


def both(verdicts: Sequence[Verdict]) -> Verdict:
    """All of several claims: the weakest evidence. No claim at all is proved."""
    for kind in (Refuted, Unknown):
        for verdict in verdicts:
            if isinstance(verdict, kind):
                return verdict
    sampled = [v for v in verdicts if isinstance(v, Sampled)]
    if sampled:
        facts = tuple(dict.fromkeys(f for v in sampled for f in v.facts))
        worst = max(v.log2_bound for v in sampled)
        return Sampled(min(v.points for v in sampled), worst, facts)
    proved = [v for v in verdicts if isinstance(v, Proved)]
    by = ", ".join(dict.fromkeys(v.by for v in proved)) or "nothing to show"
    return Proved(by, tuple(dict.fromkeys(f for v in proved for f in v.facts)))


class _Equality:
    """Decides equalities of nodes in which states stand for arbitrary values."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.done: dict[tuple[Node, Node, tuple[Node, ...]], Verdict] = {}

    def __call__(self, left: Node, right: Node, facts: tuple[Node, ...]) -> Verdict:
        if left is right:
            return Proved("identity")
        key = (left, right, facts)
        if key not in self.done:
            self.done[key] = self._decided(*_opened(left, right, facts))
        return self.done[key]

    def _decided(self, left: Node, right: Node, facts: tuple[Node, ...]) -> Verdict:
        return _in_fields(left, right, self.seed)


def _opened(
    left: Node, right: Node, facts: tuple[Node, ...]
) -> tuple[Node, Node, tuple[Node, ...]]:
    """The nodes with states, and folds without states, as tensors of their own."""
    by: dict[Node, Node] = {}
    roots = [left, right, *facts]
    moving: set[Node] = set()
    for node in topo(roots):
        if isinstance(node, State):
            by[node] = Input(f"{node.carry}.{'old' if node.old else 'new'}", node.over, "fp32")
            moving.add(node)
        elif any(c in moving for c in _below(node)):
            moving.add(node)
        elif isinstance(node, Reduce):
            by[node] = Input(f"fold{len(by)}", node.axes, "fp32")
    return substitute(left, by), substitute(right, by), tuple(substitute(f, by) for f in facts)


def _below(node: Node) -> tuple[Node, ...]:
    match node:
        case Map(args=args):
            return args
        case Reduce(arg=arg):
            return (arg,)
        case _:
            return ()


def _in_fields(left: Node, right: Node, seed: int) -> Verdict:
    """Equality at random points: both as outputs of a kernel without walks."""
    order = tuple(dict.fromkeys((*left.axes, *right.axes)))
    below = topo([left, right])
    params = tuple(n for n in below if isinstance(n, Input | Scalar))
    folded = tuple(dict.fromkeys(n.axis for n in below if isinstance(n, Reduce)))
    grid: tuple[tuple[str, Place], ...] = tuple((a, Grid()) for a in order)
    program = Program("claim", params, (Store("out", order, "fp32", left),))
    block = BlockGraph(
        (*grid, *((a, Whole()) for a in folded)),
        (),
        (Store("out", order, "fp32", right),),
        tuple(Turn(a) for a in order),
    )
    return verify_graph(program, KernelGraph("claim", params, ("out",), (block,)), seed)


class _Judge:
    """The claims of one repair."""

    def __init__(self, repair: Repair, block: BlockGraph, equal: Equal) -> None:
        self.repair = repair
        self.block = block
        self.equal = equal
        names = [c.name for c in repair.components]
        self.walk = next(w for w in block.walks if names[0] in w.components)
        first = [c.name for c in self.walk.carries].index(names[0])
        self.before = self.walk.carries[:first]
        index = block.walks.index(self.walk)
        self.final = tuple(c for w in block.walks[:index] for c in w.carries)
        self.regions = Regions(self.before, self.final)
        self.positive = tuple(
            Map(Fn.LT, (ZERO, s)) for s, v in self.regions.regular.items() if v.positive
        )

    # 1
    def separation(self) -> Verdict:
        """The separated form equals ``g``."""
        found = [self.equal(self._regular(self.repair.term), self.repair.separated, self.positive)]
        for size, state in self.repair.reference:
            counts = [c for c in self.walk.carries if c.state is state]
            ones = counts and span(counts[0].term, {}).point == 1 and not counts[0].moves
            why = f"{words(state)} is not the number of positions, {words(size)}"
            found.append(Proved("a sum of ones") if ones else Unknown(why))
        return both(found)

    def _regular(self, term: Node) -> Node:
        from superopt.repair.guard import regular_form

        return regular_form(term, self.repair.axis, self.regions.points)[0]

    # 2
    def endomorphism(self) -> Verdict:
        """A factor acts alike on a fold and on what was folded."""
        fold, action = self.repair.fold, self.repair.action
        if self.repair.deferred:
            factors = [a for a, _ in self.repair.parts]
        else:
            factors = [f for row in self.repair.factors for f in row if f is not None]
        p, q, f = (Input(name, ("i",), "fp32") for name in ("p", "q", "f"))
        left = Map(action, (Map(fold, (p, q)), f))
        right = Map(fold, (Map(action, (p, f)), Map(action, (q, f))))
        if fold in EXTREMA and action is Fn.MUL:
            wrong = [x for x in factors if not span(x, self.regions.regular).nonnegative]
            if wrong:
                return Unknown(f"{words(wrong[0])} may be negative")
            return Proved("monotone: a product with a factor of at least 0", ("factor >= 0",))
        if fold in EXTREMA:
            return Proved("monotone: a sum")
        return self.equal(left, right, ())

    # 3
    def composition(self) -> Verdict:
        """Moving to the same place is nothing, and two moves are one."""
        if self.repair.deferred:
            return Proved("nothing moves")
        still = {s: State(s.carry, s.over) for s in self._old_states()}
        rank = self.repair.rank
        found: list[Verdict] = []
        one, none = (ZERO, None) if self.repair.action is Fn.ADD else (ONE, ZERO)
        for i in range(rank):
            for j in range(rank):
                factor = self.repair.factors[i][j]
                if factor is not None:
                    want = one if i == j else none
                    assert want is not None
                    found.append(self.equal(substitute(factor, still), want, self.positive))
                found.append(self._two_moves(i, j))
        return both(found)

    def _two_moves(self, i: int, k: int) -> Verdict:
        """Old to a value between, and from there to new; the producers' values are free."""
        between = {s: State(f"{s.carry}.mid", s.over) for s in self._old_states()}
        first: dict[Node, Node] = {
            State(s.carry, s.over): m for s, m in between.items()
        }  # old -> between
        second: dict[Node, Node] = dict(between)  # between -> new
        steps: list[Node] = []
        for j in range(self.repair.rank):
            after, before = self.repair.factors[i][j], self.repair.factors[j][k]
            if after is not None and before is not None:
                pair = (substitute(after, second), substitute(before, first))
                steps.append(Map(self.repair.action, pair))
        direct = self.repair.factors[i][k]
        if not steps or direct is None:
            zero = direct is None and not steps
            if zero or self.repair.action is Fn.ADD:
                same = zero or direct is None
                return Proved("identity") if same and not steps else Unknown("moves differ")
            total = reduce(lambda a, b: Map(Fn.ADD, (a, b)), steps) if steps else ZERO
            return self.equal(total, direct if direct is not None else ZERO, self._facts(between))
        total = reduce(lambda a, b: Map(self.repair.fold, (a, b)), steps)
        return self.equal(total, direct, self._facts(between))

    def _old_states(self) -> list[State]:
        factors = [f for row in self.repair.factors for f in row if f is not None]
        both_ends = [n for n in topo(factors) if isinstance(n, State)]
        return list(dict.fromkeys(State(s.carry, s.over, old=True) for s in both_ends))

    def _facts(self, between: Mapping[State, State]) -> tuple[Node, ...]:
        facts = list(self.positive)
        for state, middle in between.items():
            new = State(state.carry, state.over)
            if self.regions.regular.get(new, self.regions.regular.get(state)) is not None:
                values = self.regions.regular[new]
                facts += [Map(Fn.LT, (ZERO, middle))] if values.positive else []
        return tuple(facts)

    # 4
    def combination(self) -> Verdict:
        """Joining segments is associative and has a unit, component by component."""
        mine = [c.name for c in self.repair.components]
        segments = [self._segment(i) for i in range(3)]
        left = self._joined(self._joined(segments[0], segments[1]), segments[2])
        right = self._joined(segments[0], self._joined(segments[1], segments[2]))
        units = {c.name: Const(c.fold.unit) for c in self._carries()}
        found = [self.equal(left[name], right[name], ()) for name in mine]
        first: dict[str, Node] = dict(units)
        for name in mine:
            found.append(self.equal(self._joined(first, segments[0])[name], segments[0][name], ()))
            found.append(self.equal(self._joined(segments[0], first)[name], segments[0][name], ()))
        return both(found)

    def _carries(self) -> tuple[Carry, ...]:
        """The components and everything that their moves depend on, in the order of the walk."""
        wanted = {c.name for c in self.repair.components}
        for carry in reversed(self.walk.carries):
            if carry.name in wanted:
                for move in carry.moves:
                    wanted.add(move.source)
                    wanted |= {n.carry for n in topo([move.factor]) if isinstance(n, State)}
        return tuple(c for c in self.walk.carries if c.name in wanted)

    def _segment(self, number: int) -> dict[str, Node]:
        """The states at the end of a segment, as free values."""
        return {c.name: State(f"{c.name}.{number}", c.over) for c in self._carries()}

    def _joined(self, left: Mapping[str, Node], right: Mapping[str, Node]) -> dict[str, Node]:
        """Every state of two joined segments."""
        total: dict[str, Node] = {}
        components = self.walk.components
        for carry in self._carries():
            ends: list[Node] = []
            for segment in (left, right):
                by: dict[Node, Node] = {components[n].old: v for n, v in segment.items()}
                by |= {components[n].state: v for n, v in total.items()}
                ends.append(substitute(carry.kept(components), by))
            total[carry.name] = Map(carry.fold, (ends[0], ends[1]))
        return total

    # 5
    def domain(self) -> Verdict:
        """Factors and terms are defined for every value that a prefix can have."""
        for carry in self.repair.components:
            for move in carry.moves:
                if span(move.factor, self.regions.regular).nan:
                    return Unknown(f"the factor {words(move.factor)} may be undefined")
            if span(carry.term, self.regions.regular).nan:
                return Unknown(f"the term {words(carry.term)} may be undefined")
            for point in self.regions.points:
                where = f"while {point.producer.name} is {point.value}"
                at_point = [self.regions.at_point(point, True, new) for new in (False, True)]
                for move in carry.moves:
                    if any(span(move.factor, known).nan for known in at_point):
                        return Unknown(f"the factor {words(move.factor)} is undefined {where}")
                counted = point.empty and point.producer.fold not in EXTREMA
                if not counted and span(carry.term, at_point[1]).nan:
                    return Unknown(f"the term {words(carry.term)} is undefined {where}")
        value = span(self.repair.finalise, self.regions.regular)
        if self.repair.deferred and value.nan:
            return Unknown(f"the value {words(self.repair.finalise)} may be undefined")
        return Proved("spans of values", ("inputs are finite",))

    # 6
    def range(self) -> Verdict:
        """No exponential grows, one of a tile is 1, and no difference cancels."""
        return Unknown("not judged yet")

    # 7
    def scope(self) -> Verdict:
        """What is read between the folds is current: nobody reads a moving value as final."""
        mine = set(self.walk.components)
        order = [c.name for c in self.walk.carries]
        for carry in self.walk.carries:
            read = [n for n in topo([carry.term]) if isinstance(n, State) and n.carry in mine]
            if any(n.old for n in read):
                return Unknown(f"the term of {carry.name} reads an old value")
            late = [n for n in read if order.index(n.carry) >= order.index(carry.name)]
            if late:
                return Unknown(f"the term of {carry.name} reads {late[0].carry} too early")
            if read and not carry.moves and carry.name == self.repair.components[0].name:
                return Unknown(f"{carry.name} reads moving values and does not move")
        for store in self.walk.stores:
            if any(n in mine for n in states(store.value)):
                return Unknown(f"{store.name!r} stores a value that still moves")
        return Proved("the structure of the walk")


__all__ = ["both", "judge_repair", "to_old", "Walk"]
