"""What a repair is: the record that fusion, splitting, verification and reports consume.

A premature carry folds ``g(x, u)`` while ``x`` (the producers' states) still moves. A repair
keeps ``rank`` components ``K = A(x) T`` where ``T`` are folds of functions of ``u`` alone, and
moves them by a ``rank x rank`` change of basis when ``x`` moves. Rank 1 is a size.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from superopt.ugraph.carry import Carry
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo


@dataclass(frozen=True)
class Guard:
    """Where a factor or an absorbed term would be undefined, and the unit or identity stands.

    ``component``: the guarded component. ``condition``: a truth value over old states (a move)
    or new states (a term, ``absorb``). ``why``: the reason in words.
    """

    component: str
    condition: Node
    absorb: bool
    why: str


@dataclass(frozen=True)
class Repair:
    """One repaired carry.

    ``axis``: the walked axis. ``carry``: the premature carry as fusion left it (its term is
    ``g``). ``producers``: the carries whose new states ``g`` reads, as they stand in the
    repaired walk. ``components``: what is kept; each has the absorbed term of a tile (guarded),
    its row of moves (guarded) and the action. ``factors``: the rows without guards, ``None`` for
    an absent entry (zero of the action). ``parts``: the separation, pairs ``(a(x), b(u))``; none
    where ``finalise`` acts on extrema in another way than by one factor each.
    ``finalise``: the carry's value over the components' (new) states: that of the first, which is
    the carry, or of all that make it up. ``guards``: what was
    guarded. ``facts``: truth values over states that hold between two tiles. ``reference``: what
    stands for what in ``g`` while the walk runs, and equals it at the end (the count of absorbed
    positions for the size of the axis). ``helpers``: plain carries that the repair adds for it.
    """

    axis: str
    carry: Carry
    producers: tuple[Carry, ...]
    components: tuple[Carry, ...]
    factors: tuple[tuple[Node | None, ...], ...]
    parts: tuple[tuple[Node, Node], ...]
    finalise: Node
    guards: tuple[Guard, ...] = ()
    facts: tuple[Node, ...] = ()
    reference: tuple[tuple[Node, Node], ...] = ()
    helpers: tuple[Carry, ...] = ()

    @property
    def term(self) -> Node:
        """``g`` as the walk computes it, in terms of the ``reference``."""
        return referred(self.carry.term, self.axis, self.reference)

    @property
    def rank(self) -> int:
        """How many components are kept."""
        return len(self.components)

    @property
    def fold(self) -> Fn:
        """The fold of the carry and of every component."""
        return self.carry.fold

    @property
    def action(self) -> Fn:
        """How a factor acts on a component."""
        return self.components[0].action

    @property
    def deferred(self) -> bool:
        """Whether nothing is moved inside the walk: the producers act once, at the end."""
        return not any(c.moves for c in self.components)

    @property
    def separated(self) -> Node:
        """``g`` in its separated form, which obligation 1 compares with ``carry.term``."""
        if not self.parts:
            return substitute(self.finalise, {c.state: c.term for c in self.components})
        acted = [Map(self.action, part) for part in self.parts]
        return reduce(lambda a, b: Map(self.fold, (a, b)), acted)

    def combine(
        self, left: Mapping[Node, Node], right: Mapping[Node, Node], common: Mapping[Node, Node]
    ) -> tuple[Node, ...]:
        """The components of two joined segments.

        ``left`` and ``right`` map every *old* state (producers and components) to the value at
        the end of a segment; ``common`` maps the producers' *new* states to their joined value.
        Rolling, splitting and trees are bracketings of this.
        """
        return tuple(
            Map(self.fold, (self.moved(i, left, common), self.moved(i, right, common)))
            for i in range(self.rank)
        )

    def moved(self, i: int, state: Mapping[Node, Node], common: Mapping[Node, Node]) -> Node:
        """Component ``i`` of one segment, moved to the ``common`` producers."""
        by = {c.name: c for c in self.components}
        return substitute(self.components[i].kept(by), {**state, **common})


def to_old(node: Node, names: frozenset[str] | None = None) -> Node:
    """``node`` with the new states (of ``names``, default all) replaced by the old ones."""
    states = [n for n in topo([node]) if isinstance(n, State) and not n.old]
    by: dict[Node, Node] = {
        s: State(s.carry, s.over, True, s.whole)
        for s in states
        if names is None or s.carry in names
    }
    return substitute(node, by)


def referred(term: Node, axis: str, reference: Iterable[tuple[Node, Node]]) -> Node:
    """``term`` with ``reference`` applied in every subterm that moves and has no ``axis``."""
    by = dict(reference)
    moving = {n for n in topo([term]) if states(n) and axis not in n.axes}
    return substitute(term, {n: substitute(n, by) for n in moving}) if by else term


def states(node: Node) -> dict[str, State]:
    """The new states that ``node`` reads, by carry, in structural order."""
    return {n.carry: n for n in topo([node]) if isinstance(n, State) and not n.old}


_SIGN = {Fn.ADD: "+", Fn.SUB: "-", Fn.MUL: "*", Fn.DIV: "/", Fn.LE: "<=", Fn.LT: "<", Fn.EQ: "=="}


def words(node: Node, room: int = 80) -> str:
    """A short text of a term for messages."""
    text = _words(node, 0)
    return text if len(text) <= room else text[: room - 3] + "..."


def _words(node: Node, depth: int) -> str:
    if depth > 8:
        return "..."
    match node:
        case Const(value=value):
            return str(value)
        case Named(name=constant):
            return constant.value
        case State(carry=carry, old=old):
            return f"{carry}.old" if old else carry
        case Map(fn=fn, args=(a, b)) if fn in _SIGN:
            return f"({_words(a, depth + 1)} {_SIGN[fn]} {_words(b, depth + 1)})"
        case Map(fn=fn, args=args):
            return f"{fn.symbol}({', '.join(_words(a, depth + 1) for a in args)})"
        case Reduce(fn=fn, axis=axis, arg=arg):
            return f"{fn.symbol}[{axis}]({_words(arg, depth + 1)})"
        case Recur(axis=axis):
            return f"recur[{axis}]({', '.join(_words(a, depth + 1) for a in children(node))})"
        case Scan(fn=fn, axis=axis, arg=arg):
            return f"scan_{fn.symbol}[{axis}]({_words(arg, depth + 1)})"
        case Index(axis=axis):
            return f"index({axis})"
        case Size(axis=axis):
            return f"size({axis})"
        case _:
            return str(getattr(node, "name", "") or f"{type(node).__name__.lower()}")
