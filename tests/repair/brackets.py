"""Segments of a walk, evaluated one by one, and their joins in any order."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from superopt.ugraph.carry import Carry
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Size
from superopt.ugraph.scans import acting
from superopt.ugraph.values import Scope

States = dict[str, np.ndarray]  # of every carry of a walk, by name


@dataclass
class Segments:
    """A repaired ``walk`` of ``program``, whose states are joined as its repairs say.

    ``arrays``: in memory order; ``before``: the states of earlier walks.
    """

    walk: Walk
    program: Program
    arrays: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]
    before: Mapping[Node, np.ndarray]

    def scope(self, values: Mapping[Node, np.ndarray], part: tuple[int, int] | None) -> Scope:
        """Where nodes are evaluated; the walked axis has no range but in a ``part``."""
        region = {a: (0, n) for a, n in self.sizes.items() if a != self.walk.axis}
        if part is not None:
            region[self.walk.axis] = part
        tensors: dict[Node, np.ndarray] = {}
        for p in self.program.params:
            axes = p.order if isinstance(p, Input) else ()
            tensors[p] = np.transpose(self.arrays[p.name], [axes.index(a) for a in p.axes])
        known = {**self.before, **{n: v for n, v in tensors.items() if not n.axes}, **values}
        return Scope(FloatDomain(np.float64), self.sizes, region, known, tensors)

    def unit(self, carry: Carry) -> float:
        """What a carry is before the first position."""
        unit = carry.unit
        return self.sizes[unit.axis] if isinstance(unit, Size) else float(unit.value)

    def merged(self, carry: Carry, left: States, right: States) -> np.ndarray:
        """A list of both ends' candidates, or what goes with them."""
        axes = carry.state.axes
        dim = axes.index(carry.listed.into)
        count, end = self.sizes[carry.listed.into], self.sizes[carry.listed.of]

        def both(one: Carry) -> np.ndarray:
            missing = [d for d, a in enumerate(axes) if a not in one.state.axes]
            shape = [self.sizes[a] for a in axes]
            ends = (np.expand_dims(end[one.name], missing) for end in (left, right))
            wide = [np.broadcast_to(value, shape) for value in ends]
            return np.moveaxis(np.concatenate(wide, dim), dim, -1)

        values, places = carry.pair(self.walk.components)
        taken = both(carry) if carry.listed.taken else None
        pairs = both(values), both(places).astype(int)
        found = FloatDomain().best(*pairs, count, end, carry.listed.at, taken)
        return np.moveaxis(found, -1, dim)

    def part(self, start: int, stop: int) -> States:
        """The states of a walk over these positions alone; none of them is legal."""
        empty: dict[Node, np.ndarray] = {
            c.old: np.full([self.sizes[a] for a in c.old.axes], self.unit(c))
            for c in self.walk.carries
        }
        scope = self.scope(empty, (start, stop))
        for c in self.walk.carries:
            scope.values[c.state] = scope.of(c.update(self.walk.axis, self.walk.components))
        return {c.name: scope.values[c.state] for c in self.walk.carries}

    def join(self, left: States, right: States) -> States:
        """Both are moved to the joined producers, and folded; where a total acts, the right one
        is there already."""
        by, acts = self.walk.components, acting(self.walk)
        joined: States = {}
        domain = FloatDomain(np.float64)
        for c in self.walk.carries:
            if c.listed is not None:
                joined[c.name] = self.merged(c, left, right)
                continue
            known = {by[name].state: value for name, value in joined.items()}
            there = {name: joined[name] for name in acts[c.name]}
            kept = [
                self.scope({**{by[n].old: v for n, v in end.items()}, **known}, None).of(c.kept(by))
                for end in (left, {**right, **there})
            ]
            joined[c.name] = domain.apply(c.fold, kept)
        return joined

    def brackets(self, cuts: Sequence[int]) -> dict[str, States]:
        """The joins of all parts between ``cuts``: from the left, from the right, as a tree."""
        size = self.sizes[self.walk.axis]
        parts = [self.part(a, b) for a, b in zip((0, *cuts), (*cuts, size), strict=True)]
        left, right, tree = parts[0], parts[-1], parts
        for one in parts[1:]:
            left = self.join(left, one)
        for one in parts[-2::-1]:
            right = self.join(one, right)
        while len(tree) > 1:
            pairs = zip(tree[::2], tree[1::2], strict=False)
            tree = [*(self.join(a, b) for a, b in pairs), *tree[len(tree) & ~1 :]]
        return {"whole": self.part(0, size), "left": left, "right": right, "tree": tree[0]}

    def stored(self, states: States, block: BlockGraph) -> dict[str, np.ndarray]:
        """What the kernel stores at the end, if this is its only walk."""
        by = self.walk.components
        scope = self.scope({by[name].state: value for name, value in states.items()}, None)
        found: dict[str, np.ndarray] = {}
        for s in block.stores:
            value = scope.of(s.value)
            where = [s.value.axes.index(a) for a in s.order if a in s.value.axes]
            found[s.name] = np.transpose(value, where)
        return found


def segments(
    block: BlockGraph,
    program: Program,
    arrays: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
) -> Segments:
    """The last walk of ``block`` that has moves or is the only one; earlier ones are done."""
    last = max((i for i, w in enumerate(block.walks) if any(c.moves for c in w.carries)), default=0)
    before: dict[Node, np.ndarray] = {}
    for walk in block.walks[:last]:
        done = Segments(walk, program, arrays, sizes, before).part(0, sizes[walk.axis])
        before |= {walk.components[name].state: value for name, value in done.items()}
    return Segments(block.walks[last], program, arrays, sizes, before)
