"""What programs and kernel graphs mean: their outputs, in any domain of values.

A kernel graph means its sequential walk (see ``levels.py``), which is followed here to the
letter: tiles with remainders, parts that may be empty, states from tile to tile, limits of
walks per program. Grid axes are cut into tiles only where a limit depends on them; elsewhere
all programs run at once, because their tiles do not change a value.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from superopt.errors import IllTyped
from superopt.ugraph.carry import Carry
from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import unmasked
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.pack import joined
from superopt.ugraph.recurrence import begun
from superopt.ugraph.scalar import INTEGER
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.scans import running
from superopt.ugraph.split import launches
from superopt.ugraph.split import part_axis
from superopt.ugraph.values import Range
from superopt.ugraph.values import Scope
from superopt.ugraph.values import aligned
from superopt.ugraph.values import evaluate_node
from superopt.ugraph.values import from_memory
from superopt.ugraph.values import size_of
from superopt.ugraph.values import to_memory
from superopt.ugraph.values import varying
from superopt.ugraph.walk import topo

__all__ = ["evaluate_kernels", "evaluate_launch", "evaluate_node", "evaluate_program"]


def evaluate_program(
    program: Program,
    domain: Domain[A],
    arrays: Mapping[str, A],
    sizes: Mapping[str, int],
    outputs: Sequence[str] | None = None,
) -> dict[str, A]:
    """The outputs of ``program`` (all, or those named), each in its ``Store.order``.

    ``arrays``: tensors in memory order and scalars without dimensions, by name. ``sizes``:
    positions per axis (0 and 1 are legal).

    Raises:
        IllTyped: an array or a size is missing or does not fit.
    """
    stores = [s for s in program.outputs if outputs is None or s.name in outputs]
    tensors = _tensors([s.value for s in stores], domain, arrays, sizes)
    region = {axis: (0, size) for axis, size in sizes.items()}
    scope = Scope(domain, sizes, region, {}, tensors)
    return {s.name: to_memory(domain, _stored(scope, s), s.order) for s in stores}


def evaluate_kernels(
    graph: KernelGraph,
    domain: Domain[A],
    arrays: Mapping[str, A],
    sizes: Mapping[str, int],
    configs: Sequence[Config],
) -> dict[str, A]:
    """The outputs of ``graph``, run with one Config for each of ``split.launches(graph)``."""
    blocks = launches(graph)
    if len(blocks) != len(configs):
        raise IllTyped(f"{len(blocks)} launches got {len(configs)} configs")
    memory = dict(arrays)
    lengths = dict(sizes)
    for block, config in zip(blocks, configs, strict=True):
        if axis := _split_axis(block):
            lengths[part_axis(axis)] = config.parts  # the combining kernel reads it, too
        memory.update(evaluate_launch(block, domain, memory, lengths, config))
    return {name: memory[name] for name in graph.outputs}


def evaluate_launch(
    block: BlockGraph,
    domain: Domain[A],
    arrays: Mapping[str, A],
    sizes: Mapping[str, int],
    config: Config,
) -> dict[str, A]:
    """Every store of one launch, by name, in memory order.

    ``block`` is one of ``split.launches``. The size of a part axis ``n.part`` is
    ``config.parts`` in the kernel of parts and must be in ``sizes`` for the combining one.
    """
    lengths = dict(sizes)
    if axis := _split_axis(block):
        if part_axis(axis) not in block.place:
            raise IllTyped(f"axis {axis!r} is split: run the graphs of split.launches instead")
        lengths[part_axis(axis)] = config.parts
    launch = _Launch(block, domain, arrays, lengths, config)
    found = launch.over(launch.looped, {})
    return {s.name: to_memory(domain, found[s.name], s.order) for s in block.all_stores}


def _split_axis(block: BlockGraph) -> str | None:
    return next((a for a, place in block.places if isinstance(place, Split)), None)


def _stored(scope: Scope[A], store: Store) -> A:
    """The value of a store over the scope's region, its dimensions sorted by axis name."""
    axes = tuple(sorted(store.order))
    if lost := [a for a in store.value.axes if a not in axes]:
        raise IllTyped(f"store {store.name!r} has no axis {lost[0]!r}, over which its value varies")
    domain = scope.domain
    value = aligned(domain, scope.of(store.value), store.value.axes, axes)
    for dim, (axis, length) in enumerate(zip(axes, scope.lengths(axes), strict=True)):
        if axis not in store.value.axes:  # the value is the same at all positions
            value = domain.join([domain.slice(value, dim, 0, 0), *[value] * length], dim)
    return value


def _tensors(
    roots: Sequence[Node], domain: Domain[A], arrays: Mapping[str, A], sizes: Mapping[str, int]
) -> dict[Node, A]:
    """The whole tensors and scalars that ``roots`` read, checked, dimensions sorted."""
    found: dict[Node, A] = {}
    for node in topo(roots):
        if not isinstance(node, Input | Scalar):
            continue
        if node.name not in arrays:
            raise IllTyped(f"no array for {node.name!r}")
        order = node.order if isinstance(node, Input) else ()
        shape = tuple(size_of(axis, sizes) for axis in order)
        if (got := domain.shape(arrays[node.name])) != shape:
            raise IllTyped(f"{node.name!r} has shape {got}, but its axes have sizes {shape}")
        found[node] = from_memory(domain, arrays[node.name], order)
    return found


@dataclass
class _Launch(Generic[A]):
    """One launch: its programs, and what they share."""

    block: BlockGraph
    domain: Domain[A]
    arrays: Mapping[str, A]
    sizes: Mapping[str, int]
    config: Config

    def __post_init__(self) -> None:
        roots = self.block.roots()
        self.tensors = _tensors(roots, self.domain, self.arrays, self.sizes)
        self.places = self.block.place
        limits = [b for w in self.block.nest for b in w.limits]
        cut = {a for b in limits for a in b.axes if not isinstance(self.places.get(a), Whole)}
        if axis := _split_axis(self.block):
            cut.add(part_axis(axis))
        self.looped = [axis for axis in self.places if axis in cut]
        # As a walk runs on clear tiles (True), and elsewhere.
        self.bodies = {w: {False: w, True: unmasked(w)} for w in self.block.nest}

    def over(self, axes: Sequence[str], chosen: dict[str, Range]) -> dict[str, A]:
        """All stores over every tile of ``axes``, at the ``chosen`` tiles of other axes."""
        if not axes:
            return self.program(chosen)
        axis, *others = axes
        runs = [self.over(others, {**chosen, axis: tile}) for tile in self._tiles(axis)]
        if not runs:  # an empty grid writes nothing, and nothing is what the store holds
            runs = [self.over(others, {**chosen, axis: (0, 0)})]
        joined: dict[str, A] = {}
        for store in self.block.all_stores:
            if axis not in store.order:
                raise IllTyped(f"store {store.name!r} lacks the grid axis {axis!r}")
            dim = sorted(store.order).index(axis)
            joined[store.name] = self.domain.join([run[store.name] for run in runs], dim)
        return joined

    def _tiles(self, axis: str) -> Iterator[Range]:
        """The tiles of a grid axis."""
        place, size = self.places.get(axis), size_of(axis, self.sizes)
        if not isinstance(place, Grid):
            raise IllTyped(f"a limit of a walk depends on {axis!r}, which is no grid axis")
        step = self._tile(axis) if place.tiled else 1
        # Limits at tiles no longer than those of a program, so that they hide nothing it reads.
        step = max(1, step // max(1, joined(axis, self.block.places, self.sizes)))
        return ((first, min(first + step, size)) for first in range(0, size, step))

    def _tile(self, axis: str) -> int:
        tile = self.config.tile.get(axis)
        if tile is None or tile < 1:
            raise IllTyped(f"the config has no tile for axis {axis!r}")
        return tile

    def program(self, chosen: dict[str, Range]) -> dict[str, A]:
        """The stores of all programs whose tiles of the looped grid axes are ``chosen``."""
        region = {
            axis: (0, size_of(axis, self.sizes))
            for axis, place in self.places.items()
            if isinstance(place, Grid | Whole | Pack)
        } | chosen
        scope = Scope(self.domain, self.sizes, region, {}, self.tensors)
        found: dict[str, A] = {}
        for walk in self.block.walks:
            found |= self._walk(walk, scope)
        return found | {s.name: _stored(scope, s) for s in self.block.stores}

    def _walk(self, walk: Walk, scope: Scope[A]) -> dict[str, A]:
        """Runs one walk; its final states are then known in ``scope``."""
        bodies = self.bodies[walk]
        updates = {
            clear: {c.name: c.update(w.axis, w.components) for c in w.carries}
            for clear, w in bodies.items()
        }
        roots = [node for of_body in updates.values() for node in of_body.values()]
        roots += [s.value for w in bodies.values() for s in w.stores]
        roots += [n for w in walk.inner for body in self.bodies[w].values() for n in body.roots()]
        own = varying(roots, [walk.axis], [c.name for w in walk.nest for c in w.carries])
        states = {c.name: self._begun(c, scope) for c in walk.carries}
        before = {k: {s: c.old for s, c in running(w).items()} for k, w in bodies.items()}
        pieces: dict[str, dict[Range, A]] = {s.name: {} for s in walk.stores}
        for tile, clear in self._walked(walk, scope):
            inner = Scope(
                self.domain,
                self.sizes,
                {**scope.region, walk.axis: tile},
                {c.old: states[c.name] for c in walk.carries},
                self.tensors,
                scope,
                own,
                before[clear],
            )
            for nested in walk.inner:
                self._walk(nested, inner)
            for carry in walk.carries:
                states[carry.name] = inner.of(updates[clear][carry.name])
                inner.values[carry.state] = states[carry.name]
            for store in bodies[clear].stores:
                pieces[store.name][tile] = _stored(inner, store)
        scope.values.update({c.state: states[c.name] for c in walk.carries})
        return {s.name: self._joined(walk, s, pieces[s.name], scope) for s in walk.stores}

    def _walked(self, walk: Walk, scope: Scope[A]) -> Iterator[tuple[Range, bool]]:
        """The tiles of a walk, as far as they lie within its limits and its part, and whether
        they are clear."""
        lone = self.places.get(walk.axis) == Loop(tiled=False)
        step, size = 1 if lone else self._tile(walk.axis), size_of(walk.axis, self.sizes)
        first, stop = 0, size
        if isinstance(self.places.get(walk.axis), Split):
            part, _ = scope.region[part_axis(walk.axis)]
            tiles = -(-size // step)
            length = -(-tiles // self.config.parts) * step
            first, stop = part * length, min((part + 1) * length, size)
        low = max([first, *(self._limit(b, scope, min) for b in walk.start)])
        high = min([stop, *(self._limit(b, scope, max) for b in walk.stop)])
        starts = range(low // step * step, high, step)
        clear = walk.clear
        if clear is not None:
            first = max([low, *(self._limit(b, scope, max) for b in clear.start)])
            stop = min([high, *(self._limit(b, scope, min) for b in clear.stop)])

        def inside(begin: int) -> bool:
            return clear is not None and first <= begin and begin + step <= stop

        ordered = sorted(starts, key=lambda begin: not inside(begin))
        for begin in reversed(ordered) if walk.reverse else ordered:
            yield (max(begin, low), min(begin + step, high)), inside(begin)

    def _limit(self, bound: Bound, scope: Scope[A], widest: Callable[[int, int], int]) -> int:
        """The widest value of a limit over the tile of a program (or the narrowest)."""
        if bound.offset.axes:
            return self._data_limit(bound.value, scope, widest)
        value = self._integer(bound.offset)
        for axis, coefficient in bound.terms:
            first, stop = scope.region[axis]
            value += widest(coefficient * first, coefficient * (stop - 1))
        return value

    def _data_limit(self, node: Node, scope: Scope[A], widest: Callable[[int, int], int]) -> int:
        """The largest or smallest element of an integer node over the tile of a program."""
        if 0 in scope.lengths(node.axes):
            return 0
        value = scope.of(node)
        for _ in node.axes:
            value = self.domain.fold(Fn.MAX if widest is max else Fn.MIN, value, 0)
        return self.domain.integer(value)

    def _begun(self, carry: Carry, scope: Scope[A]) -> A:
        """A carry before the first tile."""
        axes = tuple(sorted(carry.over))
        shape = scope.lengths(axes)
        if not carry.stepwise:
            return self.domain.full(shape, self._unit(carry))
        first = carry.recurrence(last=False).first
        return begun(self.domain, first.axes, scope.of(first), axes, shape)

    def _unit(self, carry: Carry) -> Number:
        """What a carry that folds is before the first tile."""
        match carry.unit:
            case Const(value=value):
                return value
            case unit:
                return Fraction(self._integer(unit))

    def _integer(self, node: Node) -> int:
        """The exact value of a limit's offset."""
        match node:
            case Const(value=Fraction(denominator=1) as value):
                return int(value)
            case Size(axis=axis):
                return size_of(axis, self.sizes)
            case Scalar() | Input() if node in self.tensors:
                return self.domain.integer(self.tensors[node])
            case Map(fn=fn, args=args) if fn in INTEGER:
                return INTEGER[fn](*map(self._integer, args))
            case _:
                raise IllTyped(f"the offset of a limit cannot contain {node!r}")

    def _joined(self, walk: Walk, store: Store, pieces: Mapping[Range, A], scope: Scope[A]) -> A:
        """The pieces of a walk's store as one array."""
        if walk.start or walk.stop:
            raise IllTyped(f"store {store.name!r} is lost outside the limits of its walk")
        axes = tuple(sorted(store.order))
        if walk.axis not in axes:
            raise IllTyped(f"store {store.name!r} in a walk of {walk.axis!r} lacks that axis")
        if not pieces:
            lengths = [0 if axis == walk.axis else scope.lengths([axis])[0] for axis in axes]
            return self.domain.full(tuple(lengths), Fraction(0))
        return self.domain.join([pieces[t] for t in sorted(pieces)], axes.index(walk.axis))
