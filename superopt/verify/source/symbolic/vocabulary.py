"""The functions that a printed kernel calls: what they do to integers, masks and addresses."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.symbolic.expression import Expressions
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.memory import touches
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.value import Access
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Step
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.value import merged

MOST_LANES = 2**20  # elements of a tile; Triton refuses to compile more
WIDTHS = {"tl.int8": 8, "tl.int16": 16, "tl.int32": 32, "tl.int64": 64}
REAL = {
    *("float", "libdevice.tanh", "libdevice.rint", ".reshape", ".trans", ".permute"),
    *("tl.abs", "tl.associative_scan", "tl.cast", "tl.ceil", "tl.clamp", "tl.cos", "tl.cumsum"),
    *("tl.dot", "tl.erf", "tl.exp", "tl.exp2", "tl.extra.libdevice.tanh", "tl.floor", "tl.fma"),
    *("tl.log", "tl.log2", "tl.math.div_rn", "tl.math.fma", "tl.math.rint", "tl.reduce"),
    *("tl.permute", "tl.rsqrt", "tl.sigmoid", "tl.sin", "tl.sort", "tl.sqrt", "tl.sum"),
    *("tl.argmax", "tl.argmin", "tl.flip", "tl.join", "tl.reshape", "tl.topk", "tl.trans"),
}
NOTHING = ("tl.extra.cuda.gdc_launch_dependents", "tl.debug_barrier")
MEMORY = ("tl.load", "tle.load", "tl.store", ".load", "tl.extra.cuda.gdc_wait")
LOAD_OPTIONS = {"mask", "other", "eviction_policy", "cache_modifier"}
HINTED_OPTIONS = LOAD_OPTIONS | {"is_async"}  # which says nothing of the value
STORE_OPTIONS = {"mask", "eviction_policy", "cache_modifier"}


class Vocabulary(Expressions):
    """Expressions with calls. ``programs``: of the launch, if they are known."""

    programs: Poly | None = None

    def call(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        """What a call returns; loads and stores are kept."""
        if name in REAL:
            return Opaque()
        if name in NOTHING:
            return Named(name)
        if name in self.text.kernels:
            return self._helper(node, name)
        if name in MEMORY:
            return self._memory(node, name, arguments, keywords)
        return self._special(node, name, arguments, keywords)

    def _memory(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        match name, arguments:
            case "tl.load", [Address() as address] if set(keywords) <= LOAD_OPTIONS:
                return self._load(address, keywords.get("mask"))
            case "tle.load", [Address() as address] if set(keywords) <= HINTED_OPTIONS:
                return self._load(address, keywords.get("mask"))
            case "tl.store", [Address() as address, _] if set(keywords) <= STORE_OPTIONS:
                self._access(True, address, keywords.get("mask"))
                return Named(name)
            case "tl.extra.cuda.gdc_wait", []:
                self.waits.append((len(self.accesses), tuple(self.path)))
                return Named(name)
            case ".load", [Descriptor() as source, tuple() as at]:
                return self._copied(False, source, at)
            case _:
                raise self.outside(node)

    def _special(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        match name, arguments:
            case "tl.program_id", [Whole(poly=axis)] if axis == number(0):
                return self.whole(self.pid, 32, (), ())
            case "tl.num_programs", [Whole(poly=axis)] if axis == number(0) and self.programs:
                return self.whole(self.programs, 32, (), ())
            case "tl.arange", [Whole(poly=first), Whole(poly=stop)] if first == number(0):
                return self._lanes(node.args[1], stop)
            case (("tl.full" | "tl.zeros"), [tuple() as shape, *rest]):
                return self._full(shape, rest)
            case (("tl.maximum" | "tl.minimum"), [a, b]):
                return self._extreme(name, a, b)
            case "tl.cdiv", [Whole() as a, Whole() as b]:
                return self._tiles(a, b)
            case "tl.where", [condition, a, b]:
                return self.chosen(self.truth(condition), a, b)
            case (("tl.max" | "tl.min"), [value, *_]):
                return self._folded(value, keywords.get("axis"))
            case "tl.swizzle2d", [Whole() as i, Whole() as j, *rest]:
                return self._grouped(i, j, *(n for n in rest if isinstance(n, Whole)))
            case ".to", [value, Named(text=dtype)]:
                return self._cast(value, dtype)
            case _:
                raise self.outside(node)

    def _helper(self, node: ast.Call, name: str) -> Value:
        """A helper of the file, which may only compute."""
        if touches(self.text, name):
            raise self.outside(node)
        return Opaque()

    def _lanes(self, extent: ast.expr, stop: Poly) -> Whole:
        """0 .. stop - 1. One range of a text is one atom, however often it is written."""
        if stop.constant is not None and stop.constant > MOST_LANES:
            raise OutsideVocabularyError(f"line {self.line}: a tile of {stop.constant} elements")
        for name in stop.atoms if self.branches == 0 else ():
            self.atoms.assume(name, at_least(number(MOST_LANES), stop))
        key = ast.unparse(extent)
        if key not in self.ranges:
            lane = self.atoms.free(f"lane_{key}", upper=(stop,))
            self.ranges[key] = Whole(lane, 32, (lane.atom,))
        return self.ranges[key]

    def _full(self, shape: tuple[Value, ...], rest: Sequence[Value]) -> Value:
        match rest:
            case [Whole(poly=poly), Named(text=dtype)] if dtype in WIDTHS:
                return Whole(poly, WIDTHS[dtype], (None,) * len(shape))
            case _:
                return Opaque()

    # Memory.

    def _access(self, stores: bool, address: Address, mask: Value | None) -> Access:
        formula: Formula = TRUE
        dims, steps = address.dims, address.steps
        if mask is not None:
            condition, address, dims = self.along(self.truth(mask), address)
            formula, steps = condition.formula, merged(address.steps, condition.steps)
        self.use(steps)
        found = Access(
            stores,
            address.tensor,
            address.offset,
            dims,
            formula,
            tuple(self.path),
            tuple(self.trips),
            self.line,
        )
        self.accesses.append(found)
        return found

    def _load(self, address: Address, mask: Value | None) -> Value:
        access = self._access(False, address, mask)
        return self._data(access.tensor, access.dims)

    def _data(self, tensor: Tensor, dims: tuple[str | None, ...]) -> Value:
        """An element of a tensor: any number of its dtype."""
        if tensor.dtype == "bool":
            return self.unknown_truth(dims)
        if not tensor.dtype:
            return Opaque()
        bits = WIDTHS[f"tl.{tensor.dtype}"]
        if self.data is not None:
            return Whole(number(self.data), bits, dims)
        found = self.atoms.free(f"data_of_{tensor.name}", op=Op.DATA)
        assert found.atom is not None
        self.atoms.assume(found.atom, *fits(found, bits))
        return Whole(found, bits, dims)

    def _copied(self, stores: bool, described: Descriptor, at: tuple[Value, ...]) -> Value:
        """A box that hardware copies, as far as it lies within the tensor; the rest is 0."""
        tensor = described.tensor
        first = [v for v in at if isinstance(v, Whole) and not any(v.dims)]
        if not len(first) == len(at) == len(tensor.shape) == len(described.box) or (
            not tensor.plain  # of which the step along the innermost axis is 1
        ):
            raise OutsideVocabularyError(f"line {self.line}: a box of {tensor.name}")
        offset, inside, dims = ZERO, [], []
        for axis, (begin, extent) in enumerate(zip(first, described.box, strict=True)):
            lane = ZERO
            if extent != ONE:
                lane = self.atoms.free(f"{tensor.name}_box_{axis}", upper=(extent,))
            position = begin.poly + lane
            inside += [at_least(position, ZERO), below(position, tensor.shape[axis])]
            offset += position * tensor.strides[axis]
            dims.append(lane.atom)
        steps = merged(*(v.steps for v in first))
        address = Address(tensor, offset, tuple(dims), steps)
        self._access(stores, address, Mask(both(inside), tuple(dims)))
        return Opaque()

    # Functions of integers.

    def _tiles(self, a: Whole, b: Whole) -> Whole:
        """tl.cdiv, as its own text has it."""
        less = self.arithmetic(ast.Sub(), b, Whole(ONE))
        return self.arithmetic(ast.FloorDiv(), self.arithmetic(ast.Add(), a, less), b)

    def _extreme(self, name: str, a: Value, b: Value) -> Value:
        if not (isinstance(a, Whole) and isinstance(b, Whole)):
            return Opaque()
        a, b, dims = self.along(a, b)
        extreme = self.atoms.greatest if name == "tl.maximum" else self.atoms.least
        steps = merged(a.steps, b.steps)
        return Whole(extreme(a.poly, b.poly), max(a.bits, b.bits), dims, steps)

    def _folded(self, value: Value, axis: Value | None) -> Value:
        """An extremum along a dimension: the value at some lane of it."""
        if not isinstance(value, Whole):
            return Opaque()
        match axis:
            case Whole(poly=poly) if poly.constant in range(len(value.dims)):
                place = poly.constant or 0
            case _:
                raise OutsideVocabularyError(f"line {self.line}: a fold along {axis}")
        lane = value.dims[place]
        dims = value.dims[:place] + value.dims[place + 1 :]
        if lane is None:
            return Whole(value.poly, value.bits, dims, value.steps)
        some = self.atoms.free(f"some_{lane}", upper=self.atoms.definitions[lane].upper)
        by = {**self.atoms.fixed(data=False), lane: some}
        poly = self.atoms.instance(value.poly, by, "'")
        return Whole(poly, value.bits, dims, value.steps)

    def _grouped(self, i: Whole, j: Whole, rows: Whole, columns: Whole, group: Whole) -> Value:
        """tl.swizzle2d, as its own text has it."""
        times, minus, over, rest = ast.Mult(), ast.Sub(), ast.FloorDiv(), ast.Mod()
        do = self.arithmetic
        number_ = do(ast.Add(), do(times, i, columns), j)
        each = do(times, group, columns)
        first = do(times, do(over, number_, each), group)
        left = do(minus, rows, first)
        height = self._height(left, group)
        inside = do(rest, number_, each)
        row = do(ast.Add(), first, do(rest, inside, height))
        return (row, do(over, inside, height))

    def _height(self, left: Whole, group: Whole) -> Whole:
        """How many rows a group has."""
        steps = merged(left.steps, group.steps)
        return Whole(self.atoms.least(left.poly, group.poly), 32, (), steps)

    def _cast(self, value: Value, dtype: str) -> Value:
        if not isinstance(value, Whole) or dtype not in WIDTHS:
            return value if isinstance(value, Mask) and dtype == "tl.int1" else Opaque()
        bits, steps = WIDTHS[dtype], value.steps
        if bits < value.bits:
            steps = merged(steps, (Step(value.poly, bits, self.line),))
        return Whole(value.poly, bits, value.dims, steps)


def fits(poly: Poly, bits: int) -> tuple[Formula, ...]:
    """That a number is one of ``bits`` bits."""
    half = 2 ** (bits - 1)
    return at_least(poly, number(-half)), at_least(number(half - 1), poly)
