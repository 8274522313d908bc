"""What a list of the best is (``node.Best``), in any domain: candidates side by side, ranked."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import zip_longest

from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.node import Best
from superopt.ugraph.node import Node
from superopt.ugraph.walk import topo


def ranked(
    domain: Domain[A],
    node: Best,
    values: Mapping[Node, A],
    lengths: Callable[[Sequence[str]], tuple[int, ...]],
    end: int,
) -> A:
    """The value of ``node``, its dimensions in the order of its axes.

    ``values``: of its arguments, likewise. ``lengths``: of axes in the scope at hand. ``end``: the
    position of what is no candidate.
    """
    rest = [a for a in node.axes if a != node.into]
    (count,) = lengths([node.into])
    pairs, payloads = _having(rest, node.pairs), _having(rest, node.payloads)
    sides: list[list[A]] = [[], [], []]
    several = zip_longest(node.pairs[::2], node.pairs[1::2], node.payloads)
    for value, place, payload in several:
        along = [a for a in (node.axis, node.into) if a in value.axes or a in place.axes]
        for side, arg, has in zip(
            sides, (value, place, payload), (pairs, pairs, payloads), strict=True
        ):
            if arg is not None:
                side.append(_row(domain, values[arg], arg.axes, rest, along, has, lengths))
    candidates, places, *taken = (domain.join(side, len(rest)) for side in sides if side)
    found = domain.best(candidates, places, count, end, node.at, *taken)
    back = [*rest, node.into]
    return domain.transpose(found, tuple(back.index(a) for a in node.axes))


def _having(rest: Sequence[str], nodes: Sequence[Node]) -> frozenset[str]:
    """Those of ``rest`` that some node varies over: lists are not made anew for each payload."""
    return frozenset(a for n in nodes for a in n.axes if a in rest)


def _row(
    domain: Domain[A],
    value: A,
    has: Sequence[str],
    rest: Sequence[str],
    along: Sequence[str],
    wide: frozenset[str],
    lengths: Callable[[Sequence[str]], tuple[int, ...]],
) -> A:
    """``value`` over ``rest`` with all candidates, those over ``along``, in one last dimension.

    Of ``rest``, dimensions that are not ``wide`` have a length of 1.
    """
    order = [*rest, *along]
    inner = [has.index(a) for a in order if a in has]
    value = domain.transpose(value, tuple(inner))
    shape = tuple(n if a in has else 1 for a, n in zip(order, lengths(order), strict=True))
    value = domain.reshape(value, shape)
    for dim, (axis, length) in enumerate(zip(order, lengths(order), strict=True)):
        if axis not in has and (axis in wide or axis in along):  # the same at all positions
            value = domain.join([domain.slice(value, dim, 0, 0), *[value] * length], dim)
    together = 1
    for length in lengths(along):
        together *= length
    return domain.reshape(value, (*domain.shape(value)[: len(rest)], together))


def listed(roots: Iterable[Node], fixed: Iterable[tuple[str, int]]) -> dict[str, int]:
    """How many positions of an axis are listed at most, by axis.

    ``fixed``: sizes of the axes of ranks. An axis has to be longer for a list to leave any out.
    """
    sizes, found = dict(fixed), dict[str, int]()
    for node in topo(roots):
        if isinstance(node, Best):
            found[node.of] = max(found.get(node.of, 0), sizes.get(node.into, 0))
    return found
