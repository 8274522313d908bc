"""Where the axes of one kernel may go, and how its programs may be numbered.

An axis is left out of a place only for a reason that holds for every operator: a fold cannot
cross programs, a store needs its grid axes, walks nest two deep at most (and only where neither
axis can be kept whole, for the inner one begins anew with every tile around it), a matrix
instruction has one row and one column axis, and a small axis gains nothing from being walked or
cut. Axes that form
rows (or columns) together may share one tile dimension (``Pack``): they fill instructions that
each alone would leave empty, and read what the other operand holds once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from superopt.device import Device
from superopt.search.configs import DOT_MOST
from superopt.search.configs import power_of_two
from superopt.search.dimensions import dimensions
from superopt.search.sharing import shared
from superopt.ugraph.contraction import factors
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Best
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.pack import hosts
from superopt.ugraph.pack import joined
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo

WHOLE_MOST = 1 << 16  # positions of an axis kept whole that no product has
RANKED_MOST = 1024  # and of the ranks of a list of the best
WHOLE_DOT_MOST = 256  # and of one that a product has
LOOP_LEAST = 64  # an axis up to this size is never walked
LOOP_DOT_LEAST = 128
GRID_LEAST = 64  # a row or column axis up to this size is never cut into tiles
SPLIT_LEAST = 256  # positions that make it worth to cut a walk into parts


@dataclass(frozen=True)
class Placement:
    """Places of all axes of a kernel (in tile order), and the order of its grid."""

    places: tuple[tuple[str, Place], ...]
    order: tuple[Turn, ...]

    @property
    def looped(self) -> tuple[str, ...]:
        """The axes that are walked."""
        return tuple(a for a, p in self.places if isinstance(p, Loop | Split))


@dataclass(frozen=True)
class _Roles:
    """What the axes of a kernel are to its folds and products.

    ``lists``: of the best, each ranked along an axis that is whole. ``batch``: in both operands of
    some product. ``sides``: for each operand of each product, the axes that only it has (rows, or
    columns). ``deep``: folded by a product. ``shared``: axes that may be packed, each with the one
    whose tiles it would share. ``scanned``: along which there are prefixes. ``stepped``: those of
    recurrences; ``mixed``: over which their steps sum.
    """

    axes: tuple[str, ...]
    folds: tuple[Reduce, ...]
    lists: tuple[Best, ...]
    batch: frozenset[str]
    sides: tuple[tuple[str, ...], ...]
    deep: frozenset[str]
    shared: Mapping[str, str]
    scanned: frozenset[str] = frozenset()
    stepped: frozenset[str] = frozenset()
    mixed: frozenset[str] = frozenset()

    @property
    def folded(self) -> frozenset[str]:
        axes = [*(f.axis for f in self.folds), *(n.axis for n in self.lists)]
        return frozenset(axes) | self.scanned | self.stepped | self.mixed

    @property
    def ranked(self) -> frozenset[str]:
        return frozenset(n.into for n in self.lists)


def placements(
    stores: Sequence[Store], order: Sequence[str], sizes: Mapping[str, int], device: Device
) -> list[Placement]:
    """All placements of one kernel, the plainest first. ``order``: the program's axes."""
    roles = _roles(stores, order, sizes)
    known: dict[tuple[object, ...], tuple[str, ...]] = {}
    found = []
    for place in _choices(roles, stores, sizes):
        if _unlawful(place, roles, stores, sizes) or not _sensible(place, roles, sizes, device):
            continue
        chosen = tuple(place.items())
        tiled, host = tile_dimensions(chosen), hosts(chosen)
        key = (tiled, *host.items())
        if key not in known:
            known[key] = dimensions(tiled, roles.folds, host)
        turned = dict(zip(tiled, known[key], strict=True))
        places = tuple((turned.get(a, a), place[turned.get(a, a)]) for a in place)
        found += [Placement(places, o) for o in _orders(place, roles)]
    return found


def why_none(stores: Sequence[Store], order: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Why a kernel has no placement: what stands in the way of the plainest one."""
    roles = _roles(stores, order, sizes)
    for axis in roles.axes:
        if axis in roles.mixed and not _places(axis, roles, stores, sizes):
            return f"steps sum over {axis!r}, which is too long to be kept whole"
        if not _places(axis, roles, stores, sizes):
            return "an axis that some store lacks is too long to be kept whole"
    reasons = [_unlawful(place, roles, stores, sizes) for place in _choices(roles, stores, sizes)]
    return next((r for r in reasons if r), "no placement lets programs share the work")


def _choices(
    roles: _Roles, stores: Sequence[Store], sizes: Mapping[str, int]
) -> Iterator[dict[str, Place]]:
    for chosen in product(*(_places(a, roles, stores, sizes) for a in roles.axes)):
        place = dict(zip(roles.axes, chosen, strict=True))
        taken = [p.into for p in place.values() if isinstance(p, Pack)]
        small = [a for a in roles.shared.values() if sizes[a] <= GRID_LEAST and a not in taken]
        if all(place[a] == Grid() for a in taken) and all(place[a] != Grid() for a in small):
            yield place


def _roles(stores: Sequence[Store], order: Sequence[str], sizes: Mapping[str, int]) -> _Roles:
    nodes = topo([s.value for s in stores])
    present = {a for s in stores for a in s.order} | {a for n in nodes for a in n.axes}
    folds = [n for n in nodes if isinstance(n, Reduce)]
    recurrences = [n for n in nodes if isinstance(n, Recur)]
    stepped = frozenset(n.axis for n in recurrences)
    batch: set[str] = set()
    deep: set[str] = set()
    sides: dict[tuple[str, ...], None] = {}
    lists = [n for n in nodes if isinstance(n, Best)]
    # The rows of one position are no operand of a matrix instruction.
    products = [(f.axis, _operands(f)) for f in folds if not stepped.intersection(f.arg.axes)]
    products += [(n.axis, _chosen(n)) for n in lists if n.taken]
    for axis, groups in products:
        if len(groups) < 2:
            continue
        deep.add(axis)
        for i, group in enumerate(groups):
            others = {a for j, g in enumerate(groups) if j != i for a in g}
            batch |= (group & others) - {axis}
            own = tuple(a for a in order if a in group - others and a != axis)
            if own:
                sides[own] = None
    return _Roles(
        tuple(a for a in order if a in present),
        tuple(folds),
        tuple(lists),
        frozenset(batch),
        tuple(sides),
        frozenset(deep),
        shared(stores, tuple(sides), batch, sizes),
        frozenset(n.axis for n in nodes if isinstance(n, Scan)),
        stepped,
        frozenset[str]().union(*(n.mixed for n in recurrences)),
    )


def _operands(fold: Reduce) -> list[set[str]]:
    """The axes of the factors of a folded product that vary over the folded axis, each set once.

    A set within another one is no operand of its own (a row scale, a vector of weights).
    """
    if fold.fn is not Fn.ADD:
        return []
    found: list[set[str]] = []
    for factor in factors(fold.arg):
        axes = set(factor.axes)
        if fold.axis in axes and axes not in found:
            found.append(axes)
    return [a for a in found if len(found) == 2 or not any(a < b for b in found)]


def _chosen(node: Best) -> list[set[str]]:
    """What goes with a list is a product over its axis, of what is chosen and the payloads: their
    axes, unless one has all of the other's."""
    found = [{a for n in some for a in n.axes} for some in (node.pairs, node.payloads)]
    apart = not found[0] <= found[1] and not found[1] <= found[0]
    return found if apart and all(node.axis in axes for axes in found) else []


def _places(
    axis: str, roles: _Roles, stores: Sequence[Store], sizes: Mapping[str, int]
) -> list[Place]:
    if axis in roles.stepped:
        return [Loop(tiled=False)]
    size = sizes[axis]
    dot = axis in roles.deep or any(axis in s for s in roles.sides)
    whole = power_of_two(size) <= (WHOLE_DOT_MOST if dot else WHOLE_MOST)
    if axis in roles.mixed:
        return [Whole()] if whole else []
    if axis in roles.ranked:
        return [Whole()] if power_of_two(size) <= RANKED_MOST else []
    if axis in roles.folded:
        walk = size > (LOOP_DOT_LEAST if axis in roles.deep else LOOP_LEAST)
        found: list[Place] = [Loop()] if walk or not whole else []
        found += [Whole()] if whole else []
        return found + ([Split()] if size >= SPLIT_LEAST else [])
    if not all(axis in s.order for s in stores):
        return [Whole()] if whole else []
    if size <= 1:
        return [Grid(tiled=False)]
    side = any(axis in s for s in roles.sides)
    if axis in roles.batch and not side:
        return [Grid(tiled=False)]
    if side:
        crowded = any(axis in s and len(s) > 1 for s in roles.sides) or axis in roles.batch
        found = [Whole()] if whole else []
        found += [Grid()] if size > GRID_LEAST or axis in roles.shared.values() else []
        found += [Grid(tiled=False)] if crowded else []
        return found + ([Pack(roles.shared[axis])] if axis in roles.shared else [])
    return [Grid(tiled=False), Grid()]


def _unlawful(
    place: Mapping[str, Place], roles: _Roles, stores: Sequence[Store], sizes: Mapping[str, int]
) -> str:
    """Why no kernel can have these places; empty if one can."""
    looped = {a for a, p in place.items() if isinstance(p, Loop | Split)}
    split = [a for a, p in place.items() if isinstance(p, Split)]
    walked = [f for f in roles.folds if f.axis in looped]
    nests = {(f.axis, a) for f in walked for a in f.axes if a in looped}
    inner = {axis for axis, _ in nests}
    if any(len(looped.intersection(f.axes)) > 1 for f in walked) or inner & {a for _, a in nests}:
        return "a fold inside walks of two other axes: walks nest two deep at most"
    if any(Whole() in _places(a, roles, stores, sizes) for nest in nests for a in nest):
        return "a walk inside a walk, though one of the axes can be kept whole"
    if any(n.axis in looped and looped.intersection(n.axes) for n in roles.lists):
        return "the best are listed inside a walk of another axis, which is not supported"
    if any(len(looped.intersection(s.order)) > 1 for s in stores):
        return "a store varies over two axes that are walked"
    beside = looped - inner | {f.axis for f in walked if not looped.intersection(f.axes)}
    beside |= {n.axis for n in roles.lists if n.axis in looped}
    if len(split) > 1 or (split and beside != {*split}):
        return "an axis is split beside another walk"
    if split and any(split[0] in s.order for s in stores):
        return "a store varies over the axis that is split"
    return ""


def _sensible(
    place: Mapping[str, Place], roles: _Roles, sizes: Mapping[str, int], device: Device
) -> bool:
    tiled = [a for a, p in place.items() if p == Grid()]
    free = [a for a in tiled if not any(a in s for s in roles.sides)]
    if any(sum(place[a] == Grid() for a in side) > 1 for side in roles.sides):
        return False  # two tiled rows (or columns) make no matrix product
    if roles.sides and free and roles.deep:
        return False
    if len(free) > 2 or (free and not roles.deep and not _innermost_free(free, place)):
        return False
    if _copied(place, roles, sizes):
        return False
    if any(isinstance(p, Split) for p in place.values()):
        # Cutting a walk pays only while the device has idle multiprocessors.
        programs = prod(
            -(-sizes[a] * joined(a, tuple(place.items()), sizes) // DOT_MOST)
            if p == Grid()
            else sizes[a]
            for a, p in place.items()
            if isinstance(p, Grid)
        )
        return programs < 4 * device.sms
    return True


def _copied(place: Mapping[str, Place], roles: _Roles, sizes: Mapping[str, int]) -> bool:
    """Whether a partial state is written once for each program of a grid axis that it lacks,
    though that axis could be kept whole."""
    split = [a for a, p in place.items() if isinstance(p, Split)]
    short = [
        a
        for a, p in place.items()
        if isinstance(p, Grid | Pack) and power_of_two(sizes[a]) <= WHOLE_DOT_MOST
    ]
    return any(f.axis in split and a not in f.axes for f in roles.folds for a in short)


def _innermost_free(free: Sequence[str], place: Mapping[str, Place]) -> bool:
    """Whether the tiled axes are the last ones of the grid, where neighbours share lines."""
    grid = [a for a, p in place.items() if isinstance(p, Grid)]
    return list(free) == grid[len(grid) - len(free) :]


def _orders(place: Mapping[str, Place], roles: _Roles) -> Iterator[tuple[Turn, ...]]:
    """Axes without tiles are slow, so that neighbours share what varies over them only; the
    tiled ones in both orders."""
    scalars = [a for a, p in place.items() if p == Grid(tiled=False)]
    tiled = [a for a, p in place.items() if p == Grid()]
    yield tuple(Turn(a) for a in (*scalars, *tiled))
    if len(tiled) > 1:
        yield tuple(Turn(a) for a in (*scalars, *reversed(tiled)))
    shared = [a for a in scalars if a not in roles.batch]
    if shared and tiled and len(tiled) == 1 and roles.deep:
        rest = [a for a in scalars if a in roles.batch]
        yield tuple(Turn(a) for a in (*rest, *tiled, *shared))
