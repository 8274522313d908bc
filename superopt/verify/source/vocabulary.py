"""The part of ``triton.language`` that kernels are printed in, with its meaning for tiles."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.values import scanned
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.keys import Keys
from superopt.verify.source.memory import Clock
from superopt.verify.source.memory import Pointer
from superopt.verify.source.tiles import BOOL
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import INT32
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import binary
from superopt.verify.source.tiles import common
from superopt.verify.source.tiles import exactly
from superopt.verify.source.tiles import mapped
from superopt.verify.source.tiles import shapes_together
from superopt.verify.source.tiles import wrapped

UFUNC = {Fn.ADD: np.add, Fn.MUL: np.multiply, Fn.MAX: np.maximum, Fn.MIN: np.minimum}


class Constexpr:
    """``tl.constexpr``: a number that the compiler knows. As an annotation it says nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Grid:
    """The programs of the launch in hand: which one is executed, and how many there are."""

    at: tuple[int, ...] = (0,)
    shape: tuple[int, ...] = (1,)


class Strict:
    """A namespace in which anything unknown ends the reading by its name."""

    def __init__(self, name: str, **known: Any) -> None:
        self.__dict__.update(known)
        self._name = name

    def __getattr__(self, what: str) -> Any:
        raise OutsideVocabularyError(f"{self._name}.{what}")


class Vocabulary:
    """The functions, over cells of one kind.

    ``grid``, ``clock``: what the machine sets before each program.
    """

    def __init__(self, cells: Domain[Any], clock: Clock) -> None:
        self.cells = cells
        self.clock = clock
        self.grid = Grid()

    def namespace(self) -> Strict:
        """``tl``."""
        exponentials = {"exp": Fn.EXP, "exp2": Fn.EXP2, "log": Fn.LOG, "log2": Fn.LOG2}
        roots = {"sqrt": Fn.SQRT, "rsqrt": Fn.RSQRT, "erf": Fn.ERF, "sigmoid": Fn.SIGMOID}
        functions = {n: self._real(n, fn) for n, fn in {**exponentials, **roots}.items()}
        types = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "int1": "bool"}
        types |= {n: n for n in DTYPES if n.startswith("int")}
        return Strict(
            "tl",
            **functions,
            **{name: DTYPES[dtype] for name, dtype in types.items()},
            math=Strict("tl.math", **functions),
            extra=Strict("tl.extra", cuda=self._cuda()),
            constexpr=Constexpr,
            PropagateNan=Strict("tl.PropagateNan", ALL="all"),
            program_id=self.program_id,
            num_programs=self.num_programs,
            arange=self.arange,
            full=self.full,
            zeros=lambda shape, dtype: self.full(shape, 0, dtype),
            load=self.load,
            store=self.store,
            where=self.where,
            maximum=self._extreme("maximum", Fn.MAX),
            minimum=self._extreme("minimum", Fn.MIN),
            abs=self.absolute,
            sum=lambda value, axis=None: self.fold(Fn.ADD, value, axis),
            max=lambda value, axis=None: self._whole_fold(Fn.MAX, value, axis),
            min=lambda value, axis=None: self._whole_fold(Fn.MIN, value, axis),
            reduce=self.reduce,
            cumsum=lambda value, axis=0: self.scan(Fn.ADD, value, axis),
            associative_scan=self.associative_scan,
            dot=self.dot,
            cdiv=self.cdiv,
            trans=self.trans,
            permute=self.trans,
            reshape=lambda value, *shape: value.reshape(*shape),
            broadcast_to=lambda value, *shape: value.wide(tuple(map(int, _flat(shape)))),
            expand_dims=self.expand_dims,
            cast=lambda value, dtype: as_tile(self.cells, value).to(dtype),
            swizzle2d=self.swizzle2d,
            range=self.range,
            static_range=self.range,
            multiple_of=lambda value, _: value,
            max_contiguous=lambda value, _: value,
        )

    def _cuda(self) -> Strict:
        """What orders launches."""
        clock = self.clock
        return Strict("tl.extra.cuda", gdc_wait=clock.wait, gdc_launch_dependents=clock.lead)

    # Programs and positions.

    def program_id(self, axis: int) -> Tile:
        """The number of the program along a grid axis."""
        return as_tile(self.cells, self.grid.at[axis] if axis < len(self.grid.at) else 0)

    def num_programs(self, axis: int) -> Tile:
        """The number of programs along a grid axis."""
        return as_tile(self.cells, self.grid.shape[axis] if axis < len(self.grid.shape) else 1)

    def arange(self, first: Any, stop: Any) -> Tile:
        """Consecutive whole numbers."""
        length = int(stop) - int(first)
        if length < 1 or length & (length - 1):
            raise FaultError(f"tl.arange of {length} positions, which is no power of two")
        return Tile(self.cells, INT32, np.arange(int(first), int(stop)))

    def range(self, *limits: Any, **how: Any) -> Iterator[Tile]:
        """A loop; what tells the compiler how to pipeline it means nothing here."""
        for number in range(*map(int, limits)):
            yield as_tile(self.cells, number)

    def cdiv(self, a: Any, b: Any) -> Any:
        """The least whole number that is no less than a / b."""
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        return (a + (b - 1)) // b

    def swizzle2d(self, i: Tile, j: Tile, size_i: Any, size_j: Any, size_g: Any) -> Any:
        """Triton's own text: rows in groups of ``size_g``, column by column within a group."""
        ij = i * size_j + j
        size_gj = as_tile(self.cells, size_g) * size_j
        group = ij // size_gj
        off_i = group * size_g
        height = self._extreme("minimum", Fn.MIN)(as_tile(self.cells, size_i) - off_i, size_g)
        ij = ij % size_gj
        return off_i + ij % height, ij // height

    # Memory.

    def load(self, address: Any, mask: Any = None, other: Any = None, **hints: Any) -> Tile:
        """A load; hints to caches mean nothing here."""
        _only(hints, ("cache_modifier", "eviction_policy"))
        pointer = self._pointer(address)
        offsets, inside, _ = self._aligned(pointer, mask)
        return pointer.buffer.load(offsets, inside, other)

    def store(self, address: Any, value: Any, mask: Any = None, **hints: Any) -> None:
        """A store, which converts to the dtype of the memory."""
        _only(hints, ("cache_modifier", "eviction_policy"))
        pointer = self._pointer(address)
        tile = as_tile(self.cells, value)
        offsets, inside, shape = self._aligned(pointer, mask, tile.shape)
        pointer.buffer.store(offsets, self._stored(tile, pointer.buffer.dtype).wide(shape), inside)

    def _stored(self, tile: Tile, dtype: DType) -> Tile:
        if tile.dtype.kind is Kind.INT and dtype is BOOL:
            found: Tile = tile != 0
            return found
        return tile.to(dtype)

    def _pointer(self, address: Any) -> Pointer:
        if not isinstance(address, Pointer):
            raise OutsideVocabularyError(f"an address that is a {type(address).__name__}")
        return address

    def _aligned(
        self, pointer: Pointer, mask: Any, shape: tuple[int, ...] = ()
    ) -> tuple[np.ndarray, np.ndarray | None, tuple[int, ...]]:
        offsets = np.asarray(pointer.offsets)
        if mask is None:
            shape = shapes_together(offsets.shape, shape)
            return np.broadcast_to(offsets, shape), None, shape
        tile = as_tile(self.cells, mask)
        if tile.plain is None:
            raise OutsideVocabularyError("a mask that depends on data of floats")
        shape = shapes_together(offsets.shape, shape, tile.shape)
        inside = np.broadcast_to(tile.plain != 0, shape)
        return np.broadcast_to(offsets, shape), inside, shape

    # Values.

    def full(self, shape: Any, value: Any, dtype: DType) -> Tile:
        """One number everywhere."""
        number = as_tile(self.cells, value)
        if number.dtype is not dtype:
            number = number.to(dtype)
        lengths = tuple(map(int, shape))
        return number.wide(lengths) if lengths else number

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        """A choice of elements; what is not chosen does not matter."""
        if isinstance(a, Keys):
            return a.where(as_tile(self.cells, condition), b)
        c, x, y = (as_tile(self.cells, v) for v in (condition, a, b))
        shapes_together(c.shape, x.shape, y.shape)
        both = common(x, y, a, b)
        if both.kind is not Kind.REAL and all(t.plain is not None for t in (c, x, y)):
            assert c.plain is not None
            chosen = np.where(c.plain, x.plain, y.plain)  # type: ignore[arg-type]
            return Tile(self.cells, both, chosen if both is BOOL else wrapped(chosen, both))
        return mapped(self.cells, Fn.WHERE, (c, x, y), both)

    def absolute(self, value: Any) -> Tile:
        """|x|."""
        tile = as_tile(self.cells, value)
        if tile.plain is not None:
            return Tile(self.cells, tile.dtype, np.abs(tile.plain))
        return mapped(self.cells, Fn.ABS, (tile,), tile.dtype)

    def _real(self, name: str, fn: Fn) -> Callable[[Any], Tile]:
        def apply(value: Any) -> Tile:
            tile = as_tile(self.cells, value)
            if not tile.dtype.is_floating_point:
                raise OutsideVocabularyError(f"tl.{name} of {tile.dtype}")
            exactly(fn, tile.dtype)
            return mapped(self.cells, fn, (tile,), FP32)

        return apply

    def _extreme(self, name: str, fn: Fn) -> Callable[..., Tile]:
        def apply(a: Any, b: Any, propagate_nan: Any = None) -> Tile:
            y = as_tile(self.cells, b)
            found = binary(fn, a, b) if isinstance(a, Tile) else binary(fn, a, y)
            if found.dtype.is_floating_point and propagate_nan != "all":
                raise OutsideVocabularyError(f"tl.{name} that drops NaN")
            return found

        return apply

    # Folds.

    def fold(self, fn: Fn, value: Tile, axis: Any) -> Tile:
        """A fold of one dimension, or of all."""
        if axis is None:
            value, axis = value.reshape((prod(value.shape),)), 0
        exactly(fn, value.dtype)
        axis = _dimension(axis, len(value.shape))
        if value.plain is not None and value.dtype is not BOOL:
            found = np.asarray(UFUNC[fn].reduce(value.plain, axis=axis))
            return Tile(self.cells, value.dtype, wrapped(found, value.dtype))
        return Tile(self.cells, value.dtype, None, self.cells.fold(fn, value.lifted(), axis))

    def _whole_fold(self, fn: Fn, value: Tile, axis: Any) -> Tile:
        if value.dtype.is_floating_point:
            raise OutsideVocabularyError(f"tl.{fn.symbol} of floats, which drops NaN")
        return self.fold(fn, value, axis)

    def reduce(self, value: Tile, axis: Any, combine: Any) -> Tile:
        """A fold by a function of the file, which must be one of the folds."""
        return self.fold(_fold_of("tl.reduce", combine), value, axis)

    def scan(self, fn: Fn, value: Tile, axis: Any) -> Tile:
        """The folds of one dimension up to each position."""
        exactly(fn, value.dtype)
        axis = _dimension(axis, len(value.shape))
        if value.plain is not None and value.dtype is not BOOL:
            found = np.asarray(UFUNC[fn].accumulate(value.plain, axis=axis))
            return Tile(self.cells, value.dtype, wrapped(found, value.dtype))
        return Tile(self.cells, value.dtype, None, scanned(self.cells, fn, value.lifted(), axis))

    def associative_scan(self, value: Tile, axis: Any, combine: Any) -> Tile:
        """A scan by a function of the file, which must be one of the folds."""
        return self.scan(_fold_of("tl.associative_scan", combine), value, axis)

    def dot(self, a: Tile, b: Tile, acc: Any = None, **how: Any) -> Tile:
        """A matrix product, of the reals whatever its precision."""
        _only(how, ("input_precision", "out_dtype"))
        if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
            raise FaultError(f"a matrix product of shapes {a.shape} and {b.shape}")
        if a.dtype is not b.dtype:
            raise FaultError(f"a matrix product of {a.dtype} and {b.dtype}")
        left, right = a[:, :, None].lifted(), b[None, :, :].lifted()
        found = Tile(self.cells, FP32, None, self.cells.contract(left, right, 1))
        return found if acc is None else binary(Fn.ADD, acc, found)

    def trans(self, value: Tile, *order: Any) -> Tile:
        """Permuted dimensions."""
        places = tuple(map(int, _flat(order))) or tuple(reversed(range(len(value.shape))))
        return value.transposed(places)

    def expand_dims(self, value: Tile, axis: Any) -> Tile:
        """A new dimension of length 1."""
        shape = list(value.shape)
        shape.insert(_dimension(axis, len(shape) + 1), 1)
        return value.reshape(tuple(shape))


def _fold_of(name: str, combine: Any) -> Fn:
    found = getattr(combine, "fold", None)
    if not isinstance(found, Fn):
        raise OutsideVocabularyError(f"{name} by {getattr(combine, 'name', combine)}")
    return found


def _dimension(axis: Any, rank: int) -> int:
    """A dimension by its number, which may count from the end."""
    if not -rank <= int(axis) < rank:
        raise FaultError(f"dimension {int(axis)} of {rank}")
    return int(axis) % rank


def _flat(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(items[0]) if len(items) == 1 and isinstance(items[0], tuple | list) else items


def _only(given: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise OutsideVocabularyError(f"the argument {name!r}")
