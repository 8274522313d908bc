"""Which calls of a printed kernel its float checks make, and in what order."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from itertools import islice

from superopt.ugraph.described import with_descriptors
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.verify.run.hostile import distances
from superopt.verify.run.hostile import largest_value
from superopt.verify.run.inputs import Family
from superopt.verify.run.inputs import families
from superopt.verify.run.sizes import TILE
from superopt.verify.run.sizes import aligned_sizes
from superopt.verify.run.sizes import beyond
from superopt.verify.run.sizes import edge_sizes
from superopt.verify.run.sizes import lean_sizes
from superopt.verify.run.sizes import single
from superopt.verify.run.sizes import sizes_for
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from superopt.verify.run.tolerance import storage
from superopt.verify.run.trial import PERMUTED
from superopt.verify.run.trial import PLAIN
from superopt.verify.run.trial import Parameter
from superopt.verify.run.trial import Result
from superopt.verify.run.trial import Trial

ELEMENTS_MOST = 1 << 22  # of a value, above which a call is not interpreted
FAR_TILE = 64  # at sizes that masks with a distance ask for

Configs = tuple[Config, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """A trial and the inputs its outputs are judged by."""

    trial: Trial
    family: Family
    dtype: str


@dataclass(frozen=True)
class Plan:
    """The calls for one printed file.

    ``graphs``: those of the file, in its order. ``described``: the graphs whose functions with
    tensor descriptors the file has.
    ``skipped`` is filled with what could not be called, and why.
    """

    program: Program
    graphs: Sequence[KernelGraph]
    seed: int
    dtypes: Sequence[str]
    scalars: Mapping[str, float] | None = None
    described: Collection[int] = ()
    skipped: list[str] = field(default_factory=list)

    def calls(self, tuned: Sequence[tuple[int, Configs]] = ()) -> Iterator[Call]:
        """Every call, ordinary ones first, so that a wrong kernel is found soon.

        ``tuned``: (index of a graph, its Configs) to be called at sizes above their tiles.
        """
        for index in range(len(self.graphs)):
            yield from self._usual(index)
            yield from self._families(index)
            yield from self._sizes(index)
            yield from self._layouts(index)
            if index in self.described:
                yield from self._descriptors(index)
        for index, configs in tuned:
            sizes = sizes_for(self.graphs[index], configs)
            if any(c.descriptors for c in configs):
                sizes = aligned_sizes(self.graphs[index], sizes)
            if self._too_large(sizes, f"graph {index} with its tuned tiles"):
                continue
            yield self._ordinary(index, sizes, self.dtypes[-1], configs)

    def _usual(self, index: int) -> Iterator[Call]:
        """Ordinary inputs in each dtype, once with a repetition."""
        for place, dtype in enumerate(self.dtypes):
            yield self._ordinary(index, small_sizes(self.graphs[index]), dtype, repeats=not place)

    def _families(self, index: int) -> Iterator[Call]:
        """Every hostile family in each dtype."""
        sizes = lean_sizes(self.graphs[index])
        configs, alone = small_configs(self.graphs[index], sizes), single(self.graphs[index])
        for dtype in self.dtypes:
            made = families(self.program, sizes, dtype, self.seed, self.scalars, TILE, alone)
            for family in islice(made, 1, None):
                trial = trial_of(self.program, family, sizes, dtype, index, configs)
                yield Call(trial, family, dtype)

    def _sizes(self, index: int) -> Iterator[Call]:
        """Edge sizes, and sizes past the distances in masks."""
        graph = self.graphs[index]
        for sizes in edge_sizes(graph):
            yield self._ordinary(index, sizes, self.dtypes[0])
        far = beyond(graph, distances(self.program))
        if far == lean_sizes(graph):
            return
        if not self._too_large(far, f"graph {index} past the distances in its masks"):
            configs = small_configs(graph, far, FAR_TILE)
            yield self._ordinary(index, far, self.dtypes[0], configs)

    def _layouts(self, index: int) -> Iterator[Call]:
        """Strided tensors, and outputs that the launcher allocates."""
        sizes = small_sizes(self.graphs[index])
        yield self._ordinary(index, sizes, self.dtypes[-1], layout=PERMUTED)
        yield self._ordinary(index, sizes, self.dtypes[-1], out=False)

    def _descriptors(self, index: int) -> Iterator[Call]:
        """The functions with tensor descriptors: in each dtype and at edge sizes, where they must
        be the ones that run, and on tensors that allow no descriptor."""
        graph = self.graphs[index]
        small = small_sizes(graph)
        for dtype in self.dtypes:
            yield self._described(index, aligned_sizes(graph, small), dtype)
        for sizes in edge_sizes(graph):
            if all(sizes.values()):
                yield self._described(index, aligned_sizes(graph, sizes), self.dtypes[0])
        configs = with_descriptors(graph, small_configs(graph, small))
        yield self._ordinary(index, small, self.dtypes[-1], configs, layout=PERMUTED)

    def _described(self, index: int, sizes: Mapping[str, int], dtype: str) -> Call:
        graph = self.graphs[index]
        configs = with_descriptors(graph, small_configs(graph, sizes))
        return self._ordinary(index, sizes, dtype, configs)

    def _too_large(self, sizes: Mapping[str, int], what: str) -> bool:
        if largest_value(self.program, sizes) <= ELEMENTS_MOST:
            return False
        self.skipped.append(f"{what}: too large to interpret")
        return True

    def _ordinary(
        self,
        index: int,
        sizes: Mapping[str, int],
        dtype: str,
        configs: Configs | None = None,
        layout: str = PLAIN,
        out: bool = True,
        repeats: int = 0,
    ) -> Call:
        made = families(self.program, sizes, dtype, self.seed, self.scalars, TILE)
        family = next(made)
        chosen = small_configs(self.graphs[index], sizes) if configs is None else configs
        trial = trial_of(
            self.program, family, sizes, dtype, index, chosen, layout, out, int(repeats)
        )
        return Call(trial, family, dtype)


def trial_of(
    program: Program,
    family: Family,
    sizes: Mapping[str, int],
    dtype: str,
    graph: int = 0,
    configs: Configs | None = None,
    layout: str = PLAIN,
    out: bool = True,
    repeats: int = 0,
) -> Trial:
    """The call of a kernel for ``program`` on one family of inputs."""
    parameters = tuple(
        Parameter(p.name, p.dtype or dtype, family.arrays[p.name], not isinstance(p, Input))
        for p in program.params
    )
    results = tuple(
        Result(s.name, storage(s, dtype), tuple(sizes[a] for a in s.order)) for s in program.outputs
    )
    label = family.name + (", strided" if layout == PERMUTED else "") + ("" if out else ", no out=")
    asked = configs is not None and any(c.descriptors for c in configs)
    return Trial(
        label + (", descriptors" if asked else ""),
        parameters,
        results,
        tuple(sizes.items()),
        graph,
        configs,
        layout,
        out,
        repeats,
        # Permuted tensors have padded rows, so the launcher falls back to pointers.
        descriptors=asked and layout == PLAIN,
    )
