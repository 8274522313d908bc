"""What is known of a value: its axes and kind, and facts such as finite or positive.

Default: nothing. A fact may rest on axes being non-empty: it maps to the set of those axes
(``max`` over ``n`` of finite values is finite unless ``n`` is empty). A value that varies
over an axis exists only where that axis is not empty, so its own axes never count.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction

from superopt.rewrite.rule import Fact
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scalar import Number

Axes = frozenset[str]
Known = dict[Fact, Axes]
NONE: Axes = frozenset()
FINITE = (Fact.LOWER, Fact.UPPER)


@dataclass(frozen=True)
class Facts:
    """``known``: fact -> the axes that must be non-empty for it to hold."""

    axes: Axes
    kind: Kind
    known: Known
    const: Number | None = None

    def has(self, fact: Fact, given: Axes) -> bool:
        """Whether the fact holds where the axes ``given`` are not empty."""
        under = self.known.get(fact)
        return under is not None and under <= given

    def merged(self, other: Facts) -> Facts:
        """Both describe one value: everything that either knows."""
        known = dict(self.known)
        for fact, under in other.known.items():
            if fact not in known or _order(under) < _order(known[fact]):
                known[fact] = under
        const = self.const if self.const is not None else other.const
        return Facts(self.axes, self.kind, known, const)


def _order(axes: Set[str]) -> tuple[int, list[str]]:
    return len(axes), sorted(axes)


def of_number(value: Number) -> Known:
    """Facts of a known number."""
    known: Known = {Fact.DEFINED: NONE}
    if value != -INF:
        known[Fact.LOWER] = NONE
    if value != INF:
        known[Fact.UPPER] = NONE
    if value >= 0:
        known[Fact.NONNEGATIVE] = NONE
    if value != 0:
        known[Fact.NONZERO] = NONE
    return known


def of_leaf(node: Node) -> Facts:
    """Inputs and scalars are finite: infinities in inputs are outside of what is proved."""
    axes = frozenset(node.axes)
    if isinstance(node, Const):
        return Facts(axes, node.kind, of_number(node.value), node.value)
    known: Known = {Fact.DEFINED: NONE}
    if node.kind is not Kind.BOOL:
        known |= {Fact.LOWER: NONE, Fact.UPPER: NONE}
    match node:
        case Named():
            known |= {Fact.NONNEGATIVE: NONE, Fact.NONZERO: NONE}
        case Size(axis=axis):
            known |= {Fact.NONNEGATIVE: NONE, Fact.NONZERO: frozenset({axis})}
        case Index():
            known[Fact.NONNEGATIVE] = NONE
        case _:
            pass
    return Facts(axes, node.kind, known)


def of_fold(fn: Fn, axes: Axes, arg: Facts) -> Facts:
    """Facts of a fold of ``arg`` over ``axes`` (the unit where one of them is empty)."""
    unit = of_number(fn.unit)
    known: Known = {}
    for fact in Fact:
        under = arg.known.get(fact)
        if under is None or not _kept(fn, fact, arg):
            continue
        known[fact] = under if fact in unit else under | axes
    if fn is Fn.ADD and Fact.NONZERO in arg.known and Fact.NONNEGATIVE in arg.known:
        known[Fact.NONZERO] = arg.known[Fact.NONZERO] | arg.known[Fact.NONNEGATIVE] | axes
    return _facts(arg.axes - axes, arg.kind, known)


def of_best(axis: str, into: str, args: Sequence[Facts], at: bool, taken: bool) -> Facts:
    """Facts of a list of the best: its values are the candidates' or -inf, and what is taken with
    them the payloads or 0."""
    axes = frozenset[str]().union(*(a.axes for a in args)) - {axis} | {into}
    certain = (Fact.DEFINED, Fact.LOWER, Fact.UPPER, Fact.NONNEGATIVE)
    if at:
        return _facts(axes, Kind.INT, dict.fromkeys(certain, NONE))
    read = args[len(args) * 2 // 3 :] if taken else args[::2]
    known: Known = {}
    for fact in certain if taken else (Fact.DEFINED, Fact.UPPER):
        unders = [a.known.get(fact) for a in read]
        if all(u is not None for u in unders):
            known[fact] = frozenset[str]().union(*(u for u in unders if u is not None))
    kind = Kind.INT if all(a.kind is Kind.INT for a in read) else Kind.REAL
    return _facts(axes, kind, known)


def of_scan(fn: Fn, axis: str, arg: Facts) -> Facts:
    """Facts of the folds of ``arg`` up to each position of ``axis``: none of them is empty."""
    return _facts(arg.axes, arg.kind, of_fold(fn, frozenset({axis}), arg).known)


def of_recurrence(axis: str, args: Sequence[Facts], last: bool) -> Facts:
    """Facts of the states of a recurrence, which finite steps keep finite."""
    axes = frozenset[str]().union(*(a.axes for a in args))
    known: Known = {}
    finite = (Fact.DEFINED, *FINITE)
    if all(f in a.known for a in args for f in finite):
        known = {f: frozenset[str]().union(*(a.known[f] for a in args)) for f in finite}
    return _facts(axes - {axis} if last else axes, Kind.REAL, known)


def _kept(fn: Fn, fact: Fact, arg: Facts) -> bool:
    """Whether the fold of values with ``fact`` has it (its unit aside)."""
    is_finite = all(f in arg.known for f in FINITE)
    match fn:
        case Fn.ADD:
            one_sided = Fact.LOWER in arg.known or Fact.UPPER in arg.known
            return fact is not Fact.NONZERO and one_sided
        case Fn.MUL:
            return is_finite
        case _:
            return True


def _facts(axes: Axes, kind: Kind, known: Known) -> Facts:
    known = {f: under - axes for f, under in known.items()}
    if Fact.NONNEGATIVE in known and Fact.LOWER not in known:
        known[Fact.LOWER] = known[Fact.NONNEGATIVE]
    if known and Fact.DEFINED not in known:
        known[Fact.DEFINED] = min(known.values(), key=_order)
    return Facts(axes, kind, known)


def _every(args: Sequence[Facts], *facts: Fact) -> Axes | None:
    """The axes under which all arguments have all facts; None if that is not known."""
    found: Axes = NONE
    for arg in args:
        for fact in facts:
            under = arg.known.get(fact)
            if under is None:
                return None
            found |= under
    return found


def _any(args: Sequence[Facts], *facts: Fact) -> Axes | None:
    """The axes under which one argument has all facts and every argument is defined."""
    whole = _every(args, Fact.DEFINED)
    found = [u for a in args if (u := _every([a], *facts)) is not None]
    return None if whole is None or not found else whole | min(found, key=_order)


@dataclass(frozen=True)
class _Learn:
    """Where a transfer function writes what it finds (None: it found nothing)."""

    known: Known

    def __call__(self, under: Axes | None, *facts: Fact) -> None:
        if under is not None:
            self.known.update(dict.fromkeys(facts, under))


def of_map(fn: Fn, args: Sequence[Facts], kind: Kind, same: bool = False) -> Facts:
    """Facts of ``fn(args)``. ``same``: a product in which every factor occurs in pairs."""
    axes: Axes = frozenset().union(*(a.axes for a in args))
    known: Known = {}
    learn = _Learn(known)
    if fn in TABLE:
        TABLE[fn](args, learn)
    if same and fn is Fn.MUL:
        learn(_every(args, *FINITE), Fact.NONNEGATIVE)
    if kind is Kind.BOOL:
        known.clear()
        learn(_every(args, Fact.DEFINED), Fact.DEFINED)
    return _facts(axes, kind, known)


def of_where(condition: Facts, then: Facts, otherwise: Facts, kind: Kind) -> Facts:
    """Facts that both arms have (the caller has refined the arms by the condition)."""
    axes = condition.axes | then.axes | otherwise.axes
    known: Known = {}
    sure = condition.known.get(Fact.DEFINED)
    if sure is not None:
        for fact in Fact:
            under = _every([then, otherwise], fact)
            if under is not None:
                known[fact] = under | sure
    return _facts(axes, kind, known)


def refined(facts: Facts, value: Number, equal: bool) -> Facts:
    """``facts`` where the value is (not) equal to ``value``."""
    if equal:
        return Facts(facts.axes, facts.kind, of_number(value))
    under = facts.known.get(Fact.DEFINED)
    if under is None:
        return facts
    bounds: dict[Number, Fact] = {-INF: Fact.LOWER, INF: Fact.UPPER, Fraction(0): Fact.NONZERO}
    fact = bounds.get(value)
    return facts if fact is None else Facts(facts.axes, facts.kind, facts.known | {fact: under})


# Transfer functions ----------------------------------------------------------------------


def _add(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.LOWER), Fact.LOWER)
    learn(_every(args, Fact.UPPER), Fact.UPPER)
    plus = _every(args, Fact.NONNEGATIVE)
    learn(plus, Fact.NONNEGATIVE)
    some = _any(args, Fact.NONNEGATIVE, Fact.NONZERO)
    if plus is not None and some is not None:
        learn(plus | some, Fact.NONZERO)


def _mul(args: Sequence[Facts], learn: _Learn) -> None:
    whole = _every(args, *FINITE)
    if whole is not None:
        learn(whole, *FINITE)
        for fact in (Fact.NONZERO, Fact.NONNEGATIVE):
            under = _every(args, fact)
            learn(None if under is None else under | whole, fact)
        return
    open_ended = [a for a in args if _every([a], *FINITE) is None]
    rest = [a for a in args if _every([a], *FINITE) is not None]
    sure = _every(rest, *FINITE, Fact.NONZERO)
    if len(open_ended) != 1 or sure is None:
        return  # 0 * inf is undefined
    negative = sum(a.const is not None and a.const < 0 for a in rest)
    signed = [a for a in rest if a.const is None]
    plus = _every(signed, Fact.NONNEGATIVE)
    if plus is None:
        return
    sure |= plus
    for fact, now in _SCALED if negative % 2 else ((f, f) for f in Fact):
        under = open_ended[0].known.get(fact)
        learn(None if under is None else under | sure, now)


_SCALED = (
    (Fact.LOWER, Fact.UPPER),
    (Fact.UPPER, Fact.LOWER),
    (Fact.NONZERO, Fact.NONZERO),
    (Fact.DEFINED, Fact.DEFINED),
)


def _div(args: Sequence[Facts], learn: _Learn) -> None:
    top, below = args
    whole = _every([top], *FINITE)
    sure = _every([below], Fact.NONZERO)
    if whole is None or sure is None:
        return
    learn(whole | sure, *FINITE)  # a finite number over an infinite one is 0
    plus = _every(args, Fact.NONNEGATIVE)
    learn(None if plus is None else plus | whole | sure, Fact.NONNEGATIVE)
    full = _every([below], *FINITE)
    some = _every([top], Fact.NONZERO)
    if full is not None and some is not None:
        learn(full | some | whole | sure, Fact.NONZERO)


def _exp(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), Fact.NONNEGATIVE, Fact.LOWER)
    learn(_every(args, Fact.UPPER), Fact.UPPER)
    learn(_every(args, Fact.LOWER), Fact.NONZERO)


def _log(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.NONNEGATIVE), Fact.DEFINED)
    learn(_every(args, Fact.NONNEGATIVE, Fact.UPPER), Fact.UPPER)
    learn(_every(args, Fact.NONNEGATIVE, Fact.NONZERO), Fact.LOWER)


def _sqrt(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.NONNEGATIVE), Fact.NONNEGATIVE, Fact.LOWER)
    learn(_every(args, Fact.NONNEGATIVE, Fact.NONZERO), Fact.NONZERO)
    learn(_every(args, Fact.NONNEGATIVE, Fact.UPPER), Fact.UPPER)


def _rsqrt(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.NONNEGATIVE, Fact.NONZERO), *FINITE, Fact.NONNEGATIVE)
    learn(_every(args, Fact.NONNEGATIVE, Fact.NONZERO, Fact.UPPER), Fact.NONZERO)


def _bounded(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), *FINITE)


def _rounding(args: Sequence[Facts], learn: _Learn) -> None:
    for fact in (Fact.DEFINED, *FINITE, Fact.NONNEGATIVE):  # a small number may become zero
        learn(_every(args, fact), fact)


def _sigmoid(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), *FINITE, Fact.NONNEGATIVE)
    learn(_every(args, Fact.LOWER), Fact.NONZERO)


def _abs(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), Fact.NONNEGATIVE, Fact.LOWER)
    learn(_every(args, *FINITE), Fact.UPPER)
    learn(_every(args, Fact.NONZERO), Fact.NONZERO)


def _max(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), Fact.DEFINED)
    learn(_every(args, Fact.UPPER), Fact.UPPER)
    learn(_any(args, Fact.LOWER), Fact.LOWER)
    learn(_any(args, Fact.NONNEGATIVE), Fact.NONNEGATIVE)
    learn(_any(args, Fact.NONNEGATIVE, Fact.NONZERO), Fact.NONZERO)


def _min(args: Sequence[Facts], learn: _Learn) -> None:
    learn(_every(args, Fact.DEFINED), Fact.DEFINED)
    learn(_every(args, Fact.LOWER), Fact.LOWER)
    learn(_any(args, Fact.UPPER), Fact.UPPER)
    learn(_every(args, Fact.NONNEGATIVE), Fact.NONNEGATIVE)
    learn(_every(args, Fact.NONNEGATIVE, Fact.NONZERO), Fact.NONZERO)


Transfer = Callable[[Sequence[Facts], _Learn], None]
TABLE: dict[Fn, Transfer] = {
    Fn.ADD: _add,
    Fn.MUL: _mul,
    Fn.DIV: _div,
    Fn.EXP: _exp,
    Fn.EXP2: _exp,
    Fn.LOG: _log,
    Fn.LOG2: _log,
    Fn.SQRT: _sqrt,
    Fn.RSQRT: _rsqrt,
    Fn.TANH: _bounded,
    Fn.ERF: _bounded,
    Fn.SIGMOID: _sigmoid,
    **dict.fromkeys(GRIDS, _rounding),
    Fn.ABS: _abs,
    Fn.MAX: _max,
    Fn.MIN: _min,
}
