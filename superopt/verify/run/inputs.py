"""Input families: ordinary numbers and the hostile ones that a fused kernel must survive.

No operator is known here: what a family aims at is read off the program's nodes (``hostile.py``).
All values can be held by the dtype of the tensor they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

import numpy as np

from superopt.ugraph.floats import Array
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import kind_of_dtype
from superopt.ugraph.scalar import Kind
from superopt.verify.run import hostile
from superopt.verify.run.integers import integers
from superopt.verify.run.padding import Hidden
from superopt.verify.run.padding import hidden as padding
from superopt.verify.run.padding import ignored
from superopt.verify.run.padding import somewhere
from superopt.verify.run.rounding import LARGEST
from superopt.verify.run.rounding import rounded

Arrays = dict[str, Array]

ABOVE = 1e4
BELOW = -1e6
TILE = 16
POOL = 6  # different sizes of numbers, where data are compared


@dataclass(frozen=True, eq=False)
class Family:
    """One set of inputs.

    ``arrays``: what the kernel gets, in memory order. ``claimed``: what the reference is computed
    from, if not the same (where values that are masked for every row hold NaN). ``twins``: the
    same inputs with other finite numbers in place of a planted NaN or infinity; an output element
    depends on the planted one if and only if it differs between the twins. ``infinite``: an
    infinity was planted.
    """

    name: str
    arrays: Arrays
    claimed: Arrays | None = None
    twins: tuple[Arrays, ...] = ()
    infinite: bool = False


@dataclass(frozen=True)
class _Maker:
    """What all families of one program at one choice of sizes and dtype share."""

    program: Program
    sizes: Mapping[str, int]
    dtype: str
    ordinary: Arrays
    tile: int
    single: Collection[str] = ()

    def fit(self, arrays: Mapping[str, Array]) -> Arrays:
        """The nearest values that the tensors' dtypes hold, none of them overflowing."""
        fitted = dict(arrays)
        for tensor in hostile.float_inputs(self.program):
            kind = tensor.dtype or self.dtype
            value, most = arrays[tensor.name], LARGEST[kind]
            clipped = np.where(np.isfinite(value), np.clip(value, -most, most), value)
            fitted[tensor.name] = rounded(clipped.astype(np.float32), kind)
        return fitted

    def changed(self, change: Callable[[Input, Array], Array], names: set[str]) -> Arrays:
        """The ordinary inputs with the float tensors ``names`` replaced."""
        new = dict(self.ordinary)
        for tensor in hostile.float_inputs(self.program):
            if tensor.name in names:
                new[tensor.name] = change(tensor, self.ordinary[tensor.name])
        return self.fit(new)

    @property
    def aimed(self) -> set[str]:
        """The float tensors below the scores; all of them if there are no scores."""
        scores = hostile.scores(self.program)
        floats = {t.name for t in hostile.float_inputs(self.program)}
        return (hostile.below(scores) & floats) or floats


def families(
    program: Program,
    sizes: Mapping[str, int],
    dtype: str,
    seed: int,
    scalars: Mapping[str, float] | None = None,
    tile: int = TILE,
    single: Collection[str] = (),
) -> Iterator[Family]:
    """All families for ``program`` at these sizes, the ordinary one first.

    ``scalars``: values of run-time scalars (others are chosen, also for whole ones beyond all
    sizes). ``tile``: how many positions
    count as the first or last tile. ``single``: axes of which a program of the kernel has one
    position. A size of 0 has the ordinary family only.
    """
    plain = ordinary(program, sizes, dtype, seed, scalars)
    yield Family("ordinary", plain)
    if 0 in sizes.values():
        return
    maker = _Maker(program, sizes, dtype, plain, tile, single)
    yield from _extreme(maker)
    stabilised = hostile.stabilised_axes(program)
    for axis in stabilised:
        yield from _along(maker, axis)
    for axis in hostile.folded_axes(program) if not stabilised else ():
        yield from _sums(maker, axis)
    if equal := hostile.compared_as_they_are(program):
        few = np.random.default_rng(seed).standard_normal(POOL)
        pool = np.concatenate([few, -few])  # a lost digit makes either half smaller
        yield Family("compared data equal", maker.changed(_of(pool, seed), equal))
    yield from _planted(maker)
    yield from _masked_everywhere(maker)
    yield from _truths(maker)
    for name, changed in integers(program, plain, sizes):
        yield Family(name, {**plain, **changed})


def ordinary(
    program: Program,
    sizes: Mapping[str, int],
    dtype: str,
    seed: int,
    scalars: Mapping[str, float] | None = None,
) -> Arrays:
    """Normal floats, small sorted integers (ids), mostly true truth values, scalars near 1."""
    random = np.random.default_rng(seed)
    given = scalars or {}
    arrays: Arrays = {}
    for param in program.params:
        shape = tuple(sizes[a] for a in param.order) if isinstance(param, Input) else ()
        kind = kind_of_dtype(param.dtype)
        most = max(sizes.values(), default=0)
        if isinstance(param, Scalar) and kind is Kind.INT:  # a length, a window
            value = given.get(param.name, most + 1)
            # A value for large sizes would mask nothing at small ones.
            arrays[param.name] = np.asarray(value if value <= most else 2 * most // 3, np.int64)
        elif isinstance(param, Scalar) and param.name in given:
            arrays[param.name] = np.asarray(given[param.name], np.float32)
        elif isinstance(param, Scalar):
            arrays[param.name] = random.uniform(0.5, 1.5, ()).astype(np.float32)
        elif kind is Kind.INT:
            drawn = random.integers(0, 4, shape)
            arrays[param.name] = np.sort(drawn, axis=-1) if shape else drawn
        elif kind is Kind.BOOL:
            arrays[param.name] = random.random(shape) < 0.75
        else:
            normal = random.standard_normal(shape).astype(np.float32)
            arrays[param.name] = rounded(normal, param.dtype or dtype)
    return arrays


def _extreme(maker: _Maker) -> Iterator[Family]:
    """Scores far above and far below zero; without scores, large and tiny inputs."""
    first = min(maker.aimed, key=list(maker.ordinary).index, default="")
    for name, sign, target in (("scores above", 1, ABOVE), ("scores below", -1, BELOW)):

        def signed(tensor: Input, value: Array, sign: int = sign) -> Array:
            return np.asarray(np.abs(value) * (sign if tensor.name == first else 1))

        if hostile.scores(maker.program):
            yield Family(name, _passing(maker, signed, target))
        elif first:
            factor = 2.0 ** (6 * sign)
            scaled = maker.changed(_times(factor), {first})
            yield Family(f"{first} times {factor:g}", scaled)


def _times(
    factor: float, change: Callable[[Input, Array], Array] = lambda _, value: value
) -> Callable[[Input, Array], Array]:
    """``change``, and then a multiplication."""
    return lambda tensor, value: change(tensor, value) * factor


def _of(pool: Array, seed: int) -> Callable[[Input, Array], Array]:
    """Numbers of a pool, in a random order for each tensor."""

    def picked(tensor: Input, value: Array) -> Array:
        random = np.random.default_rng([seed, *tensor.name.encode()])
        return np.asarray(random.choice(pool, value.shape))

    return picked


def _passing(maker: _Maker, signed: Callable[[Input, Array], Array], target: float) -> Arrays:
    """Inputs scaled by the least power of two at which some score passes ``target``."""
    arrays = maker.ordinary
    for exponent in range(22):
        arrays = maker.changed(_times(2.0**exponent, signed), maker.aimed)
        for node in hostile.scores(maker.program):
            value = hostile.value_of(node, maker.program, arrays, maker.sizes)
            finite = value[np.isfinite(value)]
            if np.any(finite / target > 1):
                return arrays
    return arrays


@dataclass(frozen=True)
class _Axis:
    """Changes of the tensors that have one axis; the others lose their signs."""

    maker: _Maker
    axis: str

    @property
    def last(self) -> int:
        return self.maker.sizes[self.axis] - 1

    @property
    def first_tile(self) -> slice:
        return slice(0, min(self.maker.tile, self.last + 1))

    @property
    def last_tile(self) -> slice:
        return slice(self.last // self.maker.tile * self.maker.tile, None)

    def dim(self, tensor: Input) -> int:
        return tensor.order.index(self.axis)

    def on(self, tensor: Input, positions: slice) -> tuple[slice, ...]:
        return (slice(None),) * self.dim(tensor) + (positions,)

    def each(self, change: Callable[[Input, Array], Array]) -> Arrays:
        def one(tensor: Input, value: Array) -> Array:
            return change(tensor, value) if self.axis in tensor.order else np.abs(value)

        return self.maker.changed(one, self.maker.aimed)

    def put(self, number: float, positions: slice) -> Arrays:
        def change(tensor: Input, value: Array) -> Array:
            new = np.array(value)
            new[self.on(tensor, positions)] = number
            return new

        return self.each(change)

    def ordered(self, tensor: Input, value: Array) -> Array:
        return np.sort(np.abs(value), axis=self.dim(tensor))

    def reversed(self, tensor: Input, value: Array) -> Array:
        return np.flip(self.ordered(tensor, value), self.dim(tensor))

    def tied(self, tensor: Input, value: Array) -> Array:
        one = value[self.on(tensor, slice(0, 1))]
        return np.broadcast_to(one, value.shape).copy()

    def outlier(self, tensor: Input, value: Array) -> Array:
        new, place = np.array(value), self.on(tensor, slice(self.last, None))
        new[place] = 40 * np.abs(new[place]) + 40
        return new


def _sums(maker: _Maker, axis: str) -> Iterator[Family]:
    """Zeros and an outlier along an axis that is summed."""
    on = _Axis(maker, axis)
    yield Family(f"zero first tile of {axis}", on.put(0.0, on.first_tile))
    yield Family(f"zero along {axis}", on.put(0.0, slice(None)))
    yield Family(f"late outlier on {axis}", on.each(on.outlier))


def _along(maker: _Maker, axis: str) -> Iterator[Family]:
    """Order, ties, a large mean and empty tiles along a stabilised axis, and what sums have."""
    on = _Axis(maker, axis)
    yield Family(f"increasing along {axis}", on.each(on.ordered))
    yield Family(f"decreasing along {axis}", on.each(on.reversed))
    yield Family(f"ties along {axis}", on.each(on.tied))
    mean, spread = (100.0, 0.01) if maker.dtype == "fp32" else (8.0, 0.05)
    yield Family(
        f"mean far above spread along {axis}", on.each(lambda _, value: mean + spread * value)
    )
    yield from _sums(maker, axis)
    if hostile.scores(maker.program):
        yield Family(f"-inf in first tile of {axis}", on.put(-np.inf, on.first_tile))
        yield Family(f"-inf in last tile of {axis}", on.put(-np.inf, on.last_tile))
        yield Family(f"-inf all along {axis}", on.put(-np.inf, slice(None)))


def _planted(maker: _Maker) -> Iterator[Family]:
    """One NaN or infinity in each float tensor, past the middle of every axis."""
    for tensor in hostile.float_inputs(maker.program):
        index = tuple(maker.sizes[a] // 2 for a in tensor.order)

        def put(number: float, tensor: Input = tensor, index: tuple[int, ...] = index) -> Arrays:
            new = np.array(maker.ordinary[tensor.name])
            new[index] = number
            return {**maker.ordinary, tensor.name: new}

        most = min(1e4, LARGEST[tensor.dtype or maker.dtype])
        twins = (maker.fit(put(most)), maker.fit(put(-most)))
        for number in (np.nan, np.inf, -np.inf):
            name = f"{number:+} in {tensor.name}".replace("+nan", "nan")
            yield Family(name, put(number), None, twins, infinite=bool(np.isinf(number)))


def _masked_everywhere(maker: _Maker) -> Iterator[Family]:
    """NaN wherever a value is masked for every row (padding, a length)."""
    drawn = replace(maker, ordinary=somewhere(maker.program, maker.ordinary, maker.sizes))
    found: dict[tuple[str, tuple[str, ...], bytes], int] = {}
    for hidden in padding(maker.program, drawn.ordinary, maker.sizes, maker.single):
        names = {
            t.name
            for t in hostile.float_inputs(maker.program)
            if hidden.axis in t.order
            and ignored(maker.program, drawn.ordinary, maker.sizes, t, hidden)
        }
        key = (hidden.axis, tuple(sorted(names)), hidden.where.tobytes())
        if names and key not in found:
            found[key] = sum(axis == hidden.axis for axis, _, _ in found)
            arrays = drawn.changed(_filler(hidden, lambda _: np.nan), names)
            clean = drawn.changed(_filler(hidden, np.zeros_like), names)
            name = f"NaN where {hidden.axis} is masked for every row"
            yield Family(f"{name}, {found[key] + 1}" if found[key] else name, arrays, clean)


def _filler(
    hidden: Hidden, other: Callable[[Array], Array | float]
) -> Callable[[Input, Array], Array]:
    """Puts other values where positions are hidden."""
    return lambda tensor, value: np.where(hidden.of(tensor), other(value), value)


def _truths(maker: _Maker) -> Iterator[Family]:
    """Truth values that are all true, all false, or false in the first tile of an axis."""
    for param in maker.program.params:
        if not isinstance(param, Input) or kind_of_dtype(param.dtype) is not Kind.BOOL:
            continue
        value = maker.ordinary[param.name]
        for truth in (True, False):
            yield Family(
                f"{param.name} all {str(truth).lower()}",
                {**maker.ordinary, param.name: np.full_like(value, truth)},
            )
        for place, axis in enumerate(param.order):
            new = np.array(value)
            new[(slice(None),) * place + (slice(0, maker.tile),)] = False
            yield Family(
                f"{param.name} false in first tile of {axis}", {**maker.ordinary, param.name: new}
            )
