"""A repair as it stands in a walk of its block: what states can be, and which terms are equal."""

from __future__ import annotations

from collections.abc import Mapping

from superopt.repair.guard import Regions
from superopt.repair.record import Repair
from superopt.repair.span import Span
from superopt.repair.span import at
from superopt.repair.span import join
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.equality import same_value
from superopt.verify.reals.smt import RLIMIT
from superopt.verify.verdict import Verdict


class Standing:
    """``repair`` in ``block``.

    ``walk``: where it stands; ``split``: whether that is cut into parts; ``final``: the carries of
    earlier walks, by name; ``regions``: what states can be; ``regular``: that, off the points that
    are guarded.
    """

    def __init__(
        self, repair: Repair, block: BlockGraph, seed: int = 0, rlimit: int = RLIMIT
    ) -> None:
        self.repair = repair
        self.seed = seed
        self.rlimit = rlimit
        first = repair.components[0].name
        self.walk = next(w for w in block.walks if first in w.components)
        index = [c.name for c in self.walk.carries].index(first)
        self.split = isinstance(block.place.get(self.walk.axis), Split)
        walks = block.walks[: block.walks.index(self.walk)]
        self.final = {c.name: c for w in walks for c in w.carries}
        # Lists are no extrema of their terms, nor is what goes with them.
        before, ended = (
            tuple(c for c in some if c.listed is None)
            for some in (self.walk.carries[:index], self.final.values())
        )
        self.regions = Regions(before, ended)
        self.regular = self._off_guards()

    def _off_guards(self) -> dict[Node, Span]:
        """Spans off the points that are guarded; a point without a guard is not left out."""
        guarded = {g.condition for g in self.repair.guards if not g.absorb}
        known = dict(self.regions.regular)
        for point in self.regions.points:
            p = point.producer
            if not point.empty and point.condition([self.repair.term], old=True) not in guarded:
                known |= {s: join(known[s], at(point.value)) for s in (p.state, p.old)}
        return known

    def equal(
        self,
        left: Node,
        right: Node,
        facts: tuple[Node, ...] = (),
        lowest: tuple[Node, ...] = (),
    ) -> Verdict:
        """Whether both are one value where ``facts`` hold; ``lowest``: what may be -inf."""
        return same_value(left, right, facts, lowest, self.seed, self.rlimit)

    def signs(self, roots: list[Node], like: Mapping[Node, Node] | None = None) -> tuple[Node, ...]:
        """The signs of the states below ``roots``; ``like``: states that mean another."""
        facts: list[Node] = []
        for node in topo(roots):
            known: Span | None = self.regular.get((like or {}).get(node, node))
            if isinstance(node, State) and known is not None and known.nonnegative:
                facts.append(Map(Fn.LT if known.positive else Fn.LE, (ZERO, node)))
            elif isinstance(node, Size | Index):
                facts.append(Map(Fn.LT if isinstance(node, Size) else Fn.LE, (ZERO, node)))
        return tuple(facts)
