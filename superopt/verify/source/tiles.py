"""Tiles: what the names of a kernel's text are bound to while it is read.

Whole numbers and masks that do not depend on data are plain numpy arrays, which wrap as the
machine's do. All other elements are values of a domain (``cells.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import broadcast
from superopt.verify.source.cells import ends_of
from superopt.verify.source.cells import lifted
from superopt.verify.source.cells import literal
from superopt.verify.source.cells import settled
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError


@dataclass(frozen=True)
class DType:
    """An element type, of torch and of Triton alike; ``itemsize`` in bytes."""

    name: str
    kind: Kind
    bits: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    @property
    def is_floating_point(self) -> bool:
        """Whether its elements are reals."""
        return self.kind is Kind.REAL

    def __str__(self) -> str:
        return self.name


DTYPES = {
    "fp16": DType("fp16", Kind.REAL, 16),
    "bf16": DType("bf16", Kind.REAL, 16),
    "fp32": DType("fp32", Kind.REAL, 32),
    "int8": DType("int8", Kind.INT, 8),
    "int16": DType("int16", Kind.INT, 16),
    "int32": DType("int32", Kind.INT, 32),
    "int64": DType("int64", Kind.INT, 64),
    "bool": DType("bool", Kind.BOOL, 1),
}
FP32, INT32, INT64, BOOL = (DTYPES[n] for n in ("fp32", "int32", "int64", "bool"))
INT8 = DTYPES["int8"]

Data = Any  # an array of whatever domain the reading has
_COUNTING = (Fn.ADD, Fn.SUB, Fn.MAX, Fn.MIN)
_CHOOSING = (Fn.MAX, Fn.MIN, Fn.ABS, Fn.WHERE)  # which give one of their numbers


@dataclass(frozen=True, eq=False)
class Tile:
    """An array of one dtype: ``plain`` numpy numbers, or ``data`` of a domain."""

    cells: Domain[Any]
    dtype: DType
    plain: Plain | None = None
    data: Data = None

    # Shape.

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.plain.shape if self.plain is not None else self.cells.shape(self.data)

    def reshape(self, *shape: Any) -> Tile:
        """The same elements in row-major order."""
        wanted = tuple(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if prod(wanted) != prod(self.shape):
            raise FaultError(f"a tile of shape {self.shape} cannot have shape {wanted}")
        if self.plain is not None:
            return Tile(self.cells, self.dtype, self.plain.reshape(wanted))
        return Tile(self.cells, self.dtype, None, self.cells.reshape(self.data, wanted))

    def transposed(self, order: Sequence[int]) -> Tile:
        """Dimension ``i`` of the result is dimension ``order[i]``."""
        if self.plain is not None:
            return Tile(self.cells, self.dtype, self.plain.transpose(tuple(order)))
        return Tile(self.cells, self.dtype, None, self.cells.transpose(self.data, tuple(order)))

    def permute(self, order: Any) -> Tile:
        """``transposed``, as texts call it."""
        return self.transposed(tuple(map(int, order)))

    def wide(self, shape: tuple[int, ...]) -> Tile:
        """Stretched to ``shape``."""
        if self.shape == shape:
            return self
        if self.plain is not None:
            return Tile(self.cells, self.dtype, np.broadcast_to(self.plain, shape))
        return Tile(self.cells, self.dtype, None, broadcast(self.cells, self.data, shape))

    def __getitem__(self, keys: Any) -> Tile:
        keys = keys if isinstance(keys, tuple) else (keys,)
        kept = iter(self.shape)
        shape = []
        for key in keys:
            if key is None:
                shape.append(1)
            elif key == slice(None):
                shape.append(next(kept))
            else:
                raise OutsideVocabularyError(f"the index {key!r} of a tile")
        if list(kept):
            raise FaultError(f"{len(keys)} indices for a tile of shape {self.shape}")
        return self.reshape(tuple(shape))

    # Kinds.

    def lifted(self) -> Data:
        """The elements as values of the domain."""
        return lifted(self.cells, self.plain) if self.plain is not None else self.data

    def to(self, dtype: DType, bitcast: bool = False, **how: Any) -> Tile:
        """A conversion; between floats it is the identity of the reals."""
        if bitcast or how:
            raise OutsideVocabularyError(
                "a conversion that keeps the bits or rounds in a stated way"
            )
        old, new = self.dtype.kind, dtype.kind
        if new is old is Kind.INT and self.plain is None:
            ends, end = ends_of(self.data), 1 << dtype.bits - 1
            if ends is not None and not -end <= ends[0] <= ends[1] < end:
                raise OutsideVocabularyError(f"numbers from {ends[0]} to {ends[1]} as {dtype}")
            return Tile(self.cells, dtype, None, self.data)
        if new is old is Kind.INT:
            assert self.plain is not None
            return Tile(self.cells, dtype, wrapped(self.plain, dtype))
        if new is old:
            return Tile(self.cells, dtype, self.plain, self.data)
        if old is Kind.BOOL and self.plain is not None:
            whole = Tile(self.cells, INT8, self.plain.astype(np.int64))
            return whole.to(dtype)
        if old is Kind.BOOL and new is Kind.REAL:
            one, zero = (as_tile(self.cells, n) for n in (1, 0))
            arms = (self.data, *(_ranked(t, len(self.shape)) for t in (one, zero)))
            return Tile(self.cells, dtype, None, self.cells.apply(Fn.WHERE, arms))
        if old is Kind.INT and new is Kind.REAL:
            if dtype.bits < FP32.bits and self.dtype.bits > INT8.bits:  # it is exact where read
                raise OutsideVocabularyError(f"{self.dtype} as {dtype}, which has not its digits")
            return Tile(self.cells, dtype, None, self.lifted())
        raise OutsideVocabularyError(f"a conversion from {self.dtype} to {dtype}")

    def __bool__(self) -> bool:
        if self.shape not in ((), (1,) * len(self.shape)):
            raise FaultError(f"a tile of shape {self.shape} is no condition")
        if self.plain is not None:
            return bool(self.plain.reshape(()))
        found = settled(self.cells, self.cells.reshape(self.data, ()))
        if found is None:
            raise OutsideVocabularyError("a branch on data")
        return found

    def __index__(self) -> int:
        if self.plain is None or self.plain.dtype.kind not in "iu" or self.plain.size != 1:
            raise OutsideVocabularyError("a whole number that depends on data")
        return int(self.plain.reshape(()))

    __int__ = __index__

    # Operators.

    def __add__(self, other: Any) -> Any:
        return NotImplemented if hasattr(other, "buffer") else binary(Fn.ADD, self, other)

    def __radd__(self, other: Any) -> Tile:
        return binary(Fn.ADD, other, self)

    def __sub__(self, other: Any) -> Tile:
        return binary(Fn.SUB, self, other)

    def __rsub__(self, other: Any) -> Tile:
        return binary(Fn.SUB, other, self)

    def __mul__(self, other: Any) -> Tile:
        return binary(Fn.MUL, self, other)

    def __rmul__(self, other: Any) -> Tile:
        return binary(Fn.MUL, other, self)

    def __truediv__(self, other: Any) -> Tile:
        return binary(Fn.DIV, self, other)

    def __rtruediv__(self, other: Any) -> Tile:
        return binary(Fn.DIV, other, self)

    def __floordiv__(self, other: Any) -> Tile:
        return divided(self, other, quotient=True)

    def __rfloordiv__(self, other: Any) -> Tile:
        return divided(other, self, quotient=True)

    def __mod__(self, other: Any) -> Tile:
        return divided(self, other, quotient=False)

    def __rmod__(self, other: Any) -> Tile:
        return divided(other, self, quotient=False)

    def __neg__(self) -> Tile:
        return binary(Fn.SUB, 0, self)

    def __lt__(self, other: Any) -> Tile:
        return binary(Fn.LT, self, other)

    def __le__(self, other: Any) -> Tile:
        return binary(Fn.LE, self, other)

    def __gt__(self, other: Any) -> Tile:
        return binary(Fn.LT, other, self)

    def __ge__(self, other: Any) -> Tile:
        return binary(Fn.LE, other, self)

    def __eq__(self, other: object) -> Any:
        return binary(Fn.EQ, self, other)

    def __ne__(self, other: object) -> Any:
        return ~binary(Fn.EQ, self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Tile:
        if self.dtype.kind is Kind.INT and isinstance(other, int):
            return bitwise(np.bitwise_and, self, other)
        return binary(Fn.AND, self, other)

    def __rand__(self, other: Any) -> Tile:
        return binary(Fn.AND, other, self)

    def __xor__(self, other: Any) -> Tile:
        return bitwise(np.bitwise_xor, self, other)

    def __or__(self, other: Any) -> Tile:
        return binary(Fn.OR, self, other)

    def __ror__(self, other: Any) -> Tile:
        return binary(Fn.OR, other, self)

    def __invert__(self) -> Tile:
        if self.dtype is not BOOL:
            raise OutsideVocabularyError("~ of a number")
        if self.plain is not None:
            return Tile(self.cells, BOOL, ~self.plain)
        return Tile(self.cells, BOOL, None, self.cells.apply(Fn.NOT, (self.data,)))


# What whole numbers and masks do, where the domain is not asked.
_PLAIN = {
    Fn.ADD: np.add,
    Fn.SUB: np.subtract,
    Fn.MUL: np.multiply,
    Fn.MAX: np.maximum,
    Fn.MIN: np.minimum,
    Fn.LT: np.less,
    Fn.LE: np.less_equal,
    Fn.EQ: np.equal,
    Fn.AND: np.logical_and,
    Fn.OR: np.logical_or,
}


def as_tile(cells: Domain[Any], value: Any) -> Tile:
    """A tile, or a number of the text as one without dimensions."""
    if isinstance(value, Tile):
        return value
    value = getattr(value, "value", value) if type(value).__name__ == "Constexpr" else value
    if isinstance(value, bool):
        return Tile(cells, BOOL, np.asarray(value))
    if isinstance(value, int):
        return Tile(cells, INT32 if -(2**31) <= value < 2**31 else INT64, np.asarray(value))
    if (data := getattr(value, "data", None)) is not None:  # a number of the launcher
        return Tile(cells, FP32, None, data)
    if isinstance(value, float):
        return Tile(cells, FP32, None, literal(cells, value))
    raise OutsideVocabularyError(f"{type(value).__name__} {value!r} as a number")


def wrapped(value: Plain, dtype: DType) -> Plain:
    """Integers as ``dtype`` holds them."""
    if dtype.bits == 64:
        return value.astype(np.int64)
    span = 1 << dtype.bits
    low = span >> 1
    return (value.astype(np.int64) + low) % span - low


def shapes_together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that tiles have together. Raises FaultError."""
    several = {s for s in shapes if s}
    if len(several) < 2:
        return several.pop() if several else ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise FaultError(f"tiles of shapes {' and '.join(map(str, shapes))} do not fit") from None


def binary(fn: Fn, left: Any, right: Any) -> Tile:
    """A function of two operands, one of them a tile."""
    cells = left.cells if isinstance(left, Tile) else right.cells
    a, b = as_tile(cells, left), as_tile(cells, right)
    shapes_together(a.shape, b.shape)
    if fn in (Fn.AND, Fn.OR) and (a.dtype is not BOOL or b.dtype is not BOOL):
        raise OutsideVocabularyError(f"{fn.symbol} of numbers")
    dtype = BOOL if fn.value.result is Kind.BOOL else common(a, b, left, right)
    if a.plain is not None and b.plain is not None and fn in _PLAIN:
        found = np.asarray(_PLAIN[fn](a.plain, b.plain))
        return Tile(cells, dtype, found if dtype is BOOL else wrapped(found, dtype))
    if dtype.kind is Kind.INT and (dtype is not INT64 or fn not in _COUNTING):
        dtype = FP32  # of less than 64 bits it is not known that they hold the numbers
    return mapped(cells, fn, (a, b), dtype)


def bitwise(function: np.ufunc, left: Tile, right: int) -> Tile:
    """A function of the bits of whole numbers that do not depend on data."""
    if left.plain is None or left.dtype.kind is not Kind.INT:
        raise OutsideVocabularyError(f"{function.__name__} of {left.dtype}")
    found = np.asarray(function(left.plain, int(right)))
    return Tile(left.cells, left.dtype, wrapped(found, left.dtype))


def mapped(cells: Domain[Any], fn: Fn, args: Sequence[Tile], dtype: DType) -> Tile:
    """A function of the domain, point by point."""
    exactly(fn, dtype)
    rank = max(len(a.shape) for a in args)
    return Tile(cells, dtype, None, cells.apply(fn, tuple(_ranked(a, rank) for a in args)))


def exactly(fn: Fn, dtype: DType) -> None:
    """Conversions are the identity here: so nothing is computed in a dtype that loses digits.

    Raises:
        OutsideVocabularyError: the function rounds its results to 16 bits.
    """
    if dtype.is_floating_point and dtype.bits < FP32.bits and fn not in _CHOOSING:
        raise OutsideVocabularyError(f"{fn.symbol} in {dtype}, which loses digits")


def _ranked(tile: Tile, rank: int) -> Data:
    shape = tile.shape
    data = tile.lifted()
    return tile.cells.reshape(data, (1,) * (rank - len(shape)) + shape)


def common(a: Tile, b: Tile, left: Any, right: Any) -> DType:
    """The dtype of a result: a number of the text takes that of the tile beside it."""
    if a.dtype.kind is b.dtype.kind and isinstance(left, Tile) != isinstance(right, Tile):
        return a.dtype if isinstance(left, Tile) else b.dtype
    order = (Kind.BOOL, Kind.INT, Kind.REAL)
    x, y = order.index(a.dtype.kind), order.index(b.dtype.kind)
    if x != y:
        return a.dtype if x > y else b.dtype
    return a.dtype if a.dtype.bits >= b.dtype.bits else b.dtype


def divided(left: Any, right: Any, quotient: bool) -> Tile:
    """``//`` and ``%`` of whole numbers, which truncate."""
    cells = left.cells if isinstance(left, Tile) else right.cells
    a, b = as_tile(cells, left), as_tile(cells, right)
    if a.plain is None or b.plain is None:
        raise OutsideVocabularyError("// or % of data")
    if (b.plain == 0).any():
        raise FaultError("a division of whole numbers by zero")
    whole = np.abs(a.plain) // np.abs(b.plain) * np.sign(a.plain) * np.sign(b.plain)
    found = whole if quotient else a.plain - whole * b.plain
    dtype = common(a, b, left, right)
    return Tile(cells, dtype, wrapped(np.asarray(found), dtype))
