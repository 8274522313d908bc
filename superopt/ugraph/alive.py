"""Which tile values a program has, and which of them are alive at once."""

from __future__ import annotations

from superopt.ugraph.profile import Profile
from superopt.ugraph.steps import Region
from superopt.ugraph.steps import What


def shapes(prof: Profile) -> dict[tuple[str, ...], None]:
    """All sets of axes whose tiles are multiplied somewhere."""
    found: dict[tuple[str, ...], None] = {}
    for region in prof.regions:
        for step in region.steps:
            found[step.work] = None
            if step.result is not None:
                found[step.result] = None
        found |= dict.fromkeys((*region.held, *region.computed, *(a for a, _ in region.operands)))
    return found


def peaks(region: Region) -> list[tuple[tuple[str, ...], ...]]:
    """The values that are alive at once while ``region`` runs: each set of them that is in no
    later or earlier one.

    In what runs once, or around inner walks, chains of point-wise steps do not count: the compiler
    takes them element by element as far as registers reach, and what spills there spills seldom.
    """
    read = {i for s in region.steps for i in s.frees}
    left: dict[int, tuple[str, ...]] = {}
    sets: list[dict[int, tuple[str, ...]]] = [{}]
    for index, step in enumerate(region.steps):
        for freed in step.frees:
            left.pop(freed, None)
        if step.result is not None:
            left[index] = step.result
            once = region.walk is None or region.outer
            if step.what is not What.POINT or not once:
                sets.append(dict(left))
            if index not in read:
                left.pop(index)
    biggest = [s for s in sets if not any(s.keys() < other.keys() for other in sets)]
    return [tuple(s.values()) for s in biggest]
