"""One kernel of a cut: all its mappings with their bounds, and what becomes of each.

Kernels are shared between cuts, so everything here is worked out once per set of stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from superopt.errors import DoesNotFit
from superopt.errors import NoFusion
from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.repair.record import Repair
from superopt.rewrite.fuse import Passes
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.search.bounds import Case
from superopt.search.bounds import kernel_bound
from superopt.search.bounds import mapping_bound
from superopt.search.bounds import work
from superopt.search.configs import options
from superopt.search.mappings import Placement
from superopt.search.mappings import placements
from superopt.search.mappings import why_none
from superopt.search.option import Option
from superopt.search.turned import revisits
from superopt.search.turned import turned
from superopt.ugraph.check import check
from superopt.ugraph.contraction import matrix_axes
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import cleared
from superopt.ugraph.ranges import narrow
from superopt.ugraph.unscaled import unscaled

LARGE_TILE = 128  # positions
MOST_GROUPINGS = 6  # ways to group folds into walks, per placement, fewest walks first


@dataclass(frozen=True)
class Choice:
    """A mapping of one kernel: places, program order, walks; ``bound`` in microseconds. ``turned``:
    a walk that reads again what one before it read goes back over it."""

    placement: Placement
    passes: Passes
    bound: float
    turned: bool = False


@dataclass(frozen=True)
class Made:
    """A kernel that is ready: repaired, narrowed, with its ways to launch it (``Ladder``)."""

    block: BlockGraph
    options: tuple[Option, ...]
    repairs: tuple[Repair, ...]

    @property
    def us(self) -> float:
        """The model's time of the best option."""
        return self.options[0].us


@dataclass(frozen=True)
class Refused:
    """Why a mapping of a kernel cannot go on."""

    stage: str
    why: str


Repaired = dict[object, tuple[BlockGraph, tuple[Repair, ...]] | NoRepair]
"""What became of walks that were repaired; sizes do not matter to it."""


class Kernels:
    """All kernels met in one search, by their stores. ``repaired`` may be shared by searches."""

    def __init__(self, case: Case, axes: Sequence[str], repaired: Repaired | None = None) -> None:
        self.case, self.axes = case, tuple(axes)
        self._bounds: dict[tuple[Store, ...], float] = {}
        self._choices: dict[tuple[Store, ...], list[Choice]] = {}
        self._made: dict[tuple[tuple[Store, ...], int], Made | Refused] = {}
        self._repaired: Repaired = {} if repaired is None else repaired

    def bound(self, stores: tuple[Store, ...]) -> float:
        """The least time of a kernel, wherever its axes go."""
        if stores not in self._bounds:
            self._bounds[stores] = kernel_bound(work(stores, self.case), self.case)
        return self._bounds[stores]

    def choices(self, stores: tuple[Store, ...]) -> list[Choice]:
        """All mappings of a kernel, by bound, then by number of walks, then plainest first."""
        if stores not in self._choices:
            self._choices[stores] = self._mapped(stores)
        return self._choices[stores]

    def _mapped(self, stores: tuple[Store, ...]) -> list[Choice]:
        found: list[Choice] = []
        case, sure = self.case, work(stores, self.case)
        grouped: dict[tuple[str, ...], list[Passes]] = {}
        for placement in placements(stores, self.axes, case.sizes, case.device):
            looped = placement.looped
            if looped not in grouped:
                grouped[looped] = _grouped(stores, looped)
            bound = mapping_bound(sure, placement.places, case)
            split = any(isinstance(p, Split) for _, p in placement.places)
            found += [
                Choice(placement, passes, bound, back)
                for passes in grouped[looped]
                if not split or len(passes) == 1
                for back in ((False, True) if revisits(passes) and not sure.products else (False,))
            ]
        return sorted(found, key=lambda c: (round(c.bound, 6), len(c.passes)))

    def why_none(self, stores: tuple[Store, ...]) -> str:
        """Why a kernel has no mapping."""
        case = self.case
        for placement in placements(stores, self.axes, case.sizes, case.device):
            try:
                groupings(stores, placement.looped)
            except NoFusion as error:
                return str(error)
        return why_none(stores, self.axes, case.sizes)

    def known(self, stores: tuple[Store, ...], index: int) -> bool:
        """Whether that mapping was made before."""
        return (stores, index) in self._made

    def make(self, stores: tuple[Store, ...], index: int) -> Made | Refused:
        """Takes one mapping all the way to Configs."""
        key = (stores, index)
        if key not in self._made:
            self._made[key] = self._make(stores, self.choices(stores)[index])
        return self._made[key]

    def _make(self, stores: tuple[Store, ...], choice: Choice) -> Made | Refused:
        placement = choice.placement
        try:
            # Scales behind extrema are exact, and one operation an element is less.
            block = unscaled(fuse(stores, placement.places, placement.order, choice.passes))
        except NoFusion as error:
            return Refused("fuse", str(error))
        try:
            fixed, repairs = self._repair(block)
        except NoRepair as error:
            return Refused("repair", str(error))
        ragged = [a for a in matrix_axes(fixed) if _ragged(self.case.sizes[a])]
        ready = longest_first(cleared(narrow(fixed), ragged))
        if choice.turned:
            straight, ready = ready, turned(ready)
            if ready == straight:
                return Refused("order", "no walk reads again what one before it read")
        if problems := check(ready):
            return Refused("check", problems[0])
        case = self.case
        try:
            _, ladder = options(ready, case.sizes, case.dtype, case.device, case.tf32)
        except DoesNotFit as error:
            return Refused("fit", str(error))
        return Made(ready, tuple(ladder), repairs)

    def _repair(self, block: BlockGraph) -> tuple[BlockGraph, tuple[Repair, ...]]:
        """``repair``, once for all placements with the same walks: of the places it looks at
        nothing but whether the walk is split."""
        split = tuple(a for a, p in block.places if isinstance(p, Split))
        key = (block.walks, block.stores, split)
        if key not in self._repaired:
            try:
                self._repaired[key] = repair(block)
            except NoRepair as error:
                self._repaired[key] = error
        known = self._repaired[key]
        if isinstance(known, NoRepair):
            raise NoRepair(*known.args)
        fixed, repairs = known
        return replace(fixed, places=block.places, order=block.order), repairs


def _grouped(stores: tuple[Store, ...], looped: tuple[str, ...]) -> list[Passes]:
    try:
        return groupings(stores, looped)[:MOST_GROUPINGS]
    except NoFusion:
        return []


def _ragged(size: int) -> bool:
    """Whether the tiles that suit an axis of many positions leave a remainder."""
    return size > LARGE_TILE and size % LARGE_TILE != 0


def longest_first(block: BlockGraph) -> BlockGraph:
    """Programs with long walks get the low numbers, so that the last round is short."""
    turns = tuple(Turn(t.axis, reverse=_grows(t.axis, block.walks)) for t in block.order)
    return replace(block, order=turns)


def _grows(axis: str, walks: Sequence[Walk]) -> bool:
    """Whether walks get longer along a grid axis: its limits say so, and none says otherwise."""
    stops = sum(dict(b.terms).get(axis, 0) for w in walks for b in w.stop)
    starts = sum(dict(b.terms).get(axis, 0) for w in walks for b in w.start)
    return stops - starts > 0
