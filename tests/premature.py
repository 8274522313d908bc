"""Which reads of a naive fusion come too early."""

from __future__ import annotations

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.node import State
from superopt.ugraph.walk import topo


def premature(block: BlockGraph) -> list[tuple[str, str]]:
    """The pairs (carry, producer) in which a plain carry's term reads a moving value."""
    found: list[tuple[str, str]] = []
    for walk in block.walks:
        for carry in (c for c in walk.carries if not c.moves):
            states = [n.carry for n in topo([carry.term]) if isinstance(n, State)]
            names = [n for n in dict.fromkeys(states) if n in walk.components]
            found += [(carry.name, name) for name in names]
    return found
