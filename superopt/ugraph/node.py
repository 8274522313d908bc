"""The node classes of the algebra, with the checks that make a node well formed.

Nodes are interned (``is`` is equality), immutable, and the same at every level. Broadcasting
is by axis name. ``axes`` of a node is its *set* of axes as a sorted tuple: the sort makes it
deterministic and means nothing; memory and tile order are said by ``Input`` and by the level.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from dataclasses import field
from fractions import Fraction
from typing import Any

from superopt.errors import IllTyped
from superopt.ugraph.intern import Interned
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scalar import Number

INT_DTYPES = ("int8", "int16", "int32", "int64")
FLOAT_DTYPES = ("fp16", "bf16", "fp32")
DTYPES = (*FLOAT_DTYPES, *INT_DTYPES, "bool")


def kind_of_dtype(dtype: str | None) -> Kind:
    """The kind of a value that is stored as ``dtype`` (None: the case's float dtype)."""
    if dtype in INT_DTYPES:
        return Kind.INT
    return Kind.BOOL if dtype == "bool" else Kind.REAL


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Node(metaclass=Interned):
    """Base of all nodes.

    ``axes``: the named axes the value varies over, sorted. ``kind``: real, int or bool.
    ``key``: digest of the structure, equal between processes; use it wherever an order of
    nodes is needed. (It depends on names, so search in canonical names.)
    """

    axes: tuple[str, ...] = field(init=False, repr=False)
    kind: Kind = field(init=False, repr=False)
    key: str = field(init=False, repr=False)

    def _complete(self, axes: set[str], kind: Kind, *facts: object) -> None:
        object.__setattr__(self, "axes", tuple(sorted(axes)))
        object.__setattr__(self, "kind", kind)
        text = "\x1f".join([type(self).__name__, *map(str, facts)])
        object.__setattr__(self, "key", hashlib.blake2b(text.encode(), digest_size=12).hexdigest())

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickling must go through the constructor, or the result would be a twin.
        cls = type(self)
        names = [n for n in cls.__dataclass_fields__ if cls.__dataclass_fields__[n].init]
        return cls, tuple(getattr(self, n) for n in names)


@dataclass(frozen=True, slots=True, eq=False)
class Const(Node):
    """An exact number: a ``Fraction``, or plus or minus infinity as a float."""

    value: Number

    def __post_init__(self) -> None:
        if isinstance(self.value, float):
            if self.value not in (float("inf"), float("-inf")):
                raise IllTyped(f"constant {self.value!r} must be a Fraction or an infinity")
            integral = False
        elif isinstance(self.value, Fraction):
            integral = self.value.denominator == 1
        else:
            raise IllTyped(f"constant {self.value!r} must be a Fraction or an infinity")
        self._complete(set(), Kind.INT if integral else Kind.REAL, self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Named(Node):
    """An irrational constant, known by name (``LOG2E``)."""

    name: Constant

    def __post_init__(self) -> None:
        self._complete(set(), Kind.REAL, self.name.value)


@dataclass(frozen=True, slots=True, eq=False)
class Input(Node):
    """A tensor in device memory. ``order`` is its axes in memory order (innermost last).

    ``dtype`` None means the dtype of the case.
    """

    name: str
    order: tuple[str, ...]
    dtype: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.order)) != len(self.order):
            raise IllTyped(f"tensor {self.name!r} repeats an axis: {' '.join(self.order)!r}")
        _check_dtype(self.name, self.dtype)
        kind = kind_of_dtype(self.dtype)
        self._complete(set(self.order), kind, self.name, " ".join(self.order), self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Scalar(Node):
    """A number that the caller passes at run time. ``dtype`` is ``fp32`` or ``int32``."""

    name: str
    dtype: str = "fp32"

    def __post_init__(self) -> None:
        _check_dtype(self.name, self.dtype)
        self._complete(set(), kind_of_dtype(self.dtype), self.name, self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Size(Node):
    """The number of positions on an axis, an integer known at run time."""

    axis: str

    def __post_init__(self) -> None:
        self._complete(set(), Kind.INT, self.axis)


@dataclass(frozen=True, slots=True, eq=False)
class Index(Node):
    """The position on an axis: 0 .. size - 1."""

    axis: str

    def __post_init__(self) -> None:
        self._complete({self.axis}, Kind.INT, self.axis)


@dataclass(frozen=True, slots=True, eq=False)
class State(Node):
    """The value of a carry: ``old`` before the tile in hand is absorbed, else after it.

    After the walk (epilogue, later walks) ``old=False`` is the final value. ``whole``: it is
    an integer, and is kept as one. Only block graphs contain it.
    """

    carry: str
    over: tuple[str, ...]
    old: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        kind = Kind.INT if self.whole else Kind.REAL
        facts = (self.carry, " ".join(self.over), self.old, *(["whole"] if self.whole else ()))
        self._complete(set(self.over), kind, *facts)


@dataclass(frozen=True, slots=True, eq=False)
class Hole(Node):
    """A pattern variable of a law; never in a graph."""

    name: str

    def __post_init__(self) -> None:
        self._complete(set(), Kind.REAL, self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Map(Node):
    """A scalar function applied point by point. Axes: the union of the arguments' axes."""

    fn: Fn
    args: tuple[Node, ...]

    def __post_init__(self) -> None:
        if len(self.args) != self.fn.value.arity:
            raise IllTyped(
                f"{self.fn.symbol} takes {self.fn.value.arity} arguments, got {len(self.args)}"
            )
        _check_kinds(self.fn, self.args)
        axes = {a for arg in self.args for a in arg.axes}
        self._complete(axes, _result_kind(self.fn, self.args), self.fn.symbol, *keys(self.args))


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Node):
    """``arg`` folded over one named axis. Axes: those of ``arg`` without ``axis``.

    Over an empty axis its value is the fold's unit.
    """

    fn: Fn
    axis: str
    arg: Node

    def __post_init__(self) -> None:
        _check_folded(self.fn, self.axis, self.arg)
        self._complete(
            set(self.arg.axes) - {self.axis}, self.arg.kind, self.fn.symbol, self.axis, self.arg.key
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scan(Node):
    """``arg`` folded along an axis up to each position, that position included. Axes: ``arg``'s.

    In a block graph the scan along a walked axis is that of the tile in hand: it starts anew
    with every tile, and what came before is the old state of a carry.
    """

    fn: Fn
    axis: str
    arg: Node

    def __post_init__(self) -> None:
        _check_folded(self.fn, self.axis, self.arg)
        self._complete(set(self.arg.axes), self.arg.kind, self.fn.symbol, self.axis, self.arg.key)


@dataclass(frozen=True, slots=True, eq=False)
class Best(Node):
    """The best of several candidates, ranked along the axis ``into``: a fold on pairs.

    ``args``: pairs of a value and its position, flat. The candidates are the pairs along ``axis``,
    and along ``into`` where one varies over that (it is a list of this kind). Largest values come
    first, of equal ones the lowest position. Where there are fewer candidates than ranks, the
    value is -inf and the position ``size(of)``; where a candidate is NaN, all values are NaN and
    all positions ``size(of)``. ``at``: the value is the positions rather than the values.
    ``taken``: it is what goes with the best, their *payloads*, 0 at ``size(of)``. There is one
    for each pair, behind all pairs.
    """

    axis: str
    into: str
    of: str
    args: tuple[Node, ...]
    at: bool = False
    taken: bool = False

    def __post_init__(self) -> None:
        axes = {a for arg in self.args for a in arg.axes}
        if not self.args or len(self.args) % (3 if self.taken else 2):
            raise IllTyped("a list of the best is made of pairs of a value and a position")
        if self.axis == self.into or all(self.axis not in n.axes for n in self.pairs):
            raise IllTyped(f"no axis {self.axis!r} whose best could be ranked along {self.into!r}")
        if any(n.kind is not Kind.REAL for n in self.pairs[::2]):
            raise IllTyped("the best of reals are ranked, not of whole numbers or truth values")
        if any(n.kind is not Kind.INT for n in self.pairs[1::2]):
            raise IllTyped("a position is a whole number")
        if self.at and self.taken:
            raise IllTyped("a list is seen from one side: values, positions, or payloads")
        if any(n.kind is Kind.BOOL for n in self.payloads):
            raise IllTyped("numbers go with the best, not truth values")
        whole = self.at or (self.taken and all(n.kind is Kind.INT for n in self.payloads))
        seen = (self.at, *(["taken"] if self.taken else ()))
        facts = (self.axis, self.into, self.of, *seen, *keys(self.args))
        kind = Kind.INT if whole else Kind.REAL
        self._complete((axes - {self.axis}) | {self.into}, kind, *facts)

    @property
    def pairs(self) -> tuple[Node, ...]:
        """The values and positions that are ranked, flat."""
        return self.args[: len(self.args) * 2 // 3] if self.taken else self.args

    @property
    def payloads(self) -> tuple[Node, ...]:
        """What goes with each pair; none unless ``taken``."""
        return self.args[len(self.pairs) :]

    def list_of(self, at: bool = False) -> Best:
        """The values (or positions) of the list that this is a side of."""
        return Best(self.axis, self.into, self.of, self.pairs, at)


@dataclass(frozen=True, slots=True, eq=False)
class Recur(Node):
    """A state, at first ``first``, that every position along ``axis`` maps affinely to the next.

    ``args`` are what a position says: ``keep, add``, and for each of ``along`` a pair ``out,
    into``. With them ``s' = keep * s + add + sum of out * sum over along of (into * s)``, where
    the value of the state before is ``s``. Its axes are those of ``args`` but ``axis``. The value
    is the state after each position, over ``axis`` too, or (``last``) that after the last one.

    In a block graph a recurrence along a walked axis goes on, like a scan, from the old state of
    a carry.
    """

    axis: str
    along: tuple[tuple[str, ...], ...]
    args: tuple[Node, ...]
    last: bool = False
    first: Node = Const(Fraction(0))

    def __post_init__(self) -> None:
        if len(self.args) != 2 + 2 * len(self.along):
            raise IllTyped("a recurrence has a factor, a term, and a pair for each of its sums")
        axes = {a for arg in self.args for a in arg.axes}
        if self.axis in self.first.axes:
            why = f"begins before any of its positions, so no {self.axis!r} in its first state"
            raise IllTyped(f"a recurrence along {self.axis!r} {why}")
        if self.axis not in axes:
            raise IllTyped(f"no step of the recurrence depends on its axis {self.axis!r}")
        for names in self.along:
            if not names or not set(names) <= (axes | {*self.first.axes}) - {self.axis}:
                raise IllTyped(f"a step sums over {' '.join(names)!r}, which its state lacks")
        axes |= {*self.first.axes}
        if any(n.kind is Kind.BOOL for n in (*self.args, self.first)):
            raise IllTyped("a recurrence is one of numbers, not of truth values")
        nodes = (*self.args, self.first)
        facts = (self.axis, self.last, *map(" ".join, self.along), *keys(nodes))
        self._complete(axes - {self.axis} if self.last else axes, Kind.REAL, *facts)

    @property
    def state(self) -> tuple[str, ...]:
        """The axes of the state."""
        return tuple(a for a in self.axes if a != self.axis)

    @property
    def mixed(self) -> frozenset[str]:
        """The axes of the state over which steps sum."""
        return frozenset(a for names in self.along for a in names)


ZERO, ONE, MINUS = (Const(Fraction(n)) for n in (0, 1, -1))
Leaf = Const | Named | Input | Scalar | Size | Index | State | Hole


def keys(nodes: tuple[Node, ...]) -> list[str]:
    """The keys of ``nodes``, in order."""
    return [n.key for n in nodes]


def _check_folded(fn: Fn, axis: str, arg: Node) -> None:
    if not fn.is_fold:
        raise IllTyped(f"{fn.symbol} is no fold, so it cannot reduce an axis")
    if axis not in arg.axes:
        raise IllTyped(f"no axis {axis!r} to fold over; the value has {' '.join(arg.axes)!r}")
    if arg.kind is Kind.BOOL:
        raise IllTyped(f"{fn.symbol} folds numbers, not truth values")


def _check_dtype(name: str, dtype: str | None) -> None:
    if dtype is not None and dtype not in DTYPES:
        raise IllTyped(f"{name!r} has unsupported dtype {dtype!r}; supported: {', '.join(DTYPES)}")


def _check_kinds(fn: Fn, args: tuple[Node, ...]) -> None:
    if any(isinstance(a, Hole) for a in args):
        return  # a law is about all kinds; its instances are checked
    if fn in (Fn.AND, Fn.OR, Fn.NOT):
        wrong = [a for a in args if a.kind is not Kind.BOOL]
    elif fn is Fn.WHERE:
        wrong = [a for a in args[:1] if a.kind is not Kind.BOOL]
        if (args[1].kind is Kind.BOOL) != (args[2].kind is Kind.BOOL):
            raise IllTyped("the two arms of where are a number and a truth value")
    else:
        wrong = [a for a in args if a.kind is Kind.BOOL]
    if wrong:
        got = ", ".join(a.kind.value for a in args)
        raise IllTyped(f"{fn.symbol} got arguments of the wrong kind: {got}; {_remedy(fn)}")


def _remedy(fn: Fn) -> str:
    """How arguments of the other kind are written."""
    if fn in (Fn.AND, Fn.OR, Fn.NOT, Fn.WHERE):
        return "a number becomes a truth value by x != 0"
    return "a truth value becomes a number by where(condition, 1, 0)"


def _result_kind(fn: Fn, args: tuple[Node, ...]) -> Kind:
    if fn.value.result is not None:
        return fn.value.result
    values = args[1:] if fn is Fn.WHERE else args
    if all(a.kind is Kind.BOOL for a in values):
        return Kind.BOOL
    return Kind.INT if all(a.kind is Kind.INT for a in values) else Kind.REAL
