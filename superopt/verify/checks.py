"""Float checks of a printed kernel: which calls are made, and how near each output must be.

Every graph of the file is run on all input families at small sizes in each dtype; on the ordinary
family at edge sizes, on strided tensors, and with its tuned Configs. Outputs and workspaces
start as NaN, memory around tensors is watched, and one call is repeated and compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path

from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.verify.execute import Runner
from superopt.verify.inputs import Family
from superopt.verify.inputs import families
from superopt.verify.sizes import TILE
from superopt.verify.sizes import edge_sizes
from superopt.verify.sizes import lean_sizes
from superopt.verify.sizes import sizes_for
from superopt.verify.sizes import small_configs
from superopt.verify.sizes import small_sizes
from superopt.verify.tolerance import compare
from superopt.verify.tolerance import expected_of
from superopt.verify.tolerance import storage
from superopt.verify.trial import PERMUTED
from superopt.verify.trial import PLAIN
from superopt.verify.trial import Parameter
from superopt.verify.trial import Result
from superopt.verify.trial import RunResult
from superopt.verify.trial import Trial

INTERPRETED_DTYPES = ("fp32", "fp16")  # tl.dot on bf16 is wrong in Triton's interpreter
ELEMENTS_MOST = 1 << 22  # of a product of sizes, above which a tuned Config is not interpreted

Configs = tuple[Config, ...]
Choose = Callable[[KernelGraph, Mapping[str, int]], Configs]


@dataclass(frozen=True)
class Figure:
    """One output of one call: measures, their limits, and what is wrong (if anything)."""

    label: str
    dtype: str
    graph: int
    sizes: tuple[tuple[str, int], ...]
    output: str
    rel: float
    worst: float
    rel_limit: float
    worst_limit: float
    ok: bool
    message: str = ""

    @property
    def used(self) -> float:
        """The share of the tolerance that is used up."""
        return (
            max(self.rel / self.rel_limit, self.worst / self.worst_limit) if self.rel_limit else 0.0
        )

    def __str__(self) -> str:
        sizes = " ".join(f"{a}={n}" for a, n in self.sizes)
        text = f"{self.dtype} {self.label} ({sizes}): output {self.output!r}: "
        return text + (self.message or f"rel {self.rel:.1e}, worst {self.worst:.1e}: within limits")


@dataclass(frozen=True)
class FloatReport:
    """All figures of a printed kernel. ``skipped``: what was not run, and why."""

    figures: tuple[Figure, ...]
    skipped: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether something was run and all of it is within the limits."""
        return bool(self.figures) and all(f.ok for f in self.figures)

    @property
    def failures(self) -> tuple[Figure, ...]:
        """The figures that are not within their limits."""
        return tuple(f for f in self.figures if not f.ok)

    def worst(self, dtype: str) -> Figure | None:
        """The figure of ``dtype`` that used up most of its tolerance."""
        found = [f for f in self.figures if f.dtype == dtype]
        return max(found, key=lambda f: f.used, default=None)


@dataclass(frozen=True, eq=False)
class Call:
    """A trial and the inputs its outputs are judged by."""

    trial: Trial
    family: Family
    dtype: str


def check_floats(
    kernel_file: Path,
    function: str,
    program: Program,
    graphs: Sequence[KernelGraph],
    *,
    seed: int = 0,
    runner: Runner | None = None,
    dtypes: Sequence[str] = INTERPRETED_DTYPES,
    tuned: Sequence[tuple[int, Configs]] = (),
    scalars: Mapping[str, float] | None = None,
    tf32: bool = False,
    choose: Choose = small_configs,
    stop_early: bool = False,
) -> FloatReport:
    """Runs ``function`` of ``kernel_file`` and compares it with the float64 meaning of ``program``.

    ``graphs`` are those of the file, in its order, with the file's names. ``tuned``: (index of a
    graph, its Configs) to be run, too. ``choose`` picks the Configs of the small runs.
    ``stop_early``: no more calls after the first failure.
    """
    own = runner or Runner()
    figures: list[Figure] = []
    skipped: list[str] = []
    try:
        for call in _calls(program, graphs, seed, dtypes, tuned, scalars, choose, skipped):
            result = own.run(kernel_file, function, call.trial)
            figures += judged(program, call, result, tf32)
            if stop_early and not all(f.ok for f in figures):
                break
    finally:
        if runner is None:
            own.close()
    return FloatReport(tuple(figures), tuple(skipped))


def _calls(
    program: Program,
    graphs: Sequence[KernelGraph],
    seed: int,
    dtypes: Sequence[str],
    tuned: Sequence[tuple[int, Configs]],
    scalars: Mapping[str, float] | None,
    choose: Choose,
    skipped: list[str],
) -> Iterator[Call]:
    """Every call, ordinary ones first, so that a wrong kernel is found soon."""

    def call(
        index: int,
        sizes: Mapping[str, int],
        configs: Configs,
        dtype: str,
        family: Family,
        layout: str = PLAIN,
        out: bool = True,
        repeats: int = 0,
    ) -> Call:
        trial = trial_of(program, family, sizes, dtype, index, configs, layout, out, repeats)
        return Call(trial, family, dtype)

    def ordinary(sizes: Mapping[str, int], dtype: str) -> Family:
        return next(families(program, sizes, dtype, seed, scalars, TILE))

    for index, graph in enumerate(graphs):
        usual, lean = small_sizes(graph), lean_sizes(graph)
        for place, dtype in enumerate(dtypes):
            family = ordinary(usual, dtype)
            yield call(index, usual, choose(graph, usual), dtype, family, repeats=not place)
        for dtype in dtypes:
            configs = choose(graph, lean)
            for family in islice(families(program, lean, dtype, seed, scalars, TILE), 1, None):
                yield call(index, lean, configs, dtype, family)
        for sizes in edge_sizes(graph):
            yield call(index, sizes, choose(graph, sizes), dtypes[0], ordinary(sizes, dtypes[0]))
        for layout, out in ((PERMUTED, True), (PLAIN, False)):
            family = ordinary(usual, dtypes[-1])
            yield call(index, usual, choose(graph, usual), dtypes[-1], family, layout, out)
    for index, configs in tuned:
        sizes = sizes_for(graphs[index], configs)
        if prod(sizes.values()) > ELEMENTS_MOST:
            skipped.append(f"graph {index} with its tuned tiles: too large to interpret")
            continue
        yield call(index, sizes, configs, dtypes[-1], ordinary(sizes, dtypes[-1]))


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
    return Trial(
        label, parameters, results, tuple(sizes.items()), graph, configs, layout, out, repeats
    )


def judged(program: Program, call: Call, result: RunResult, tf32: bool = False) -> list[Figure]:
    """The figures of one call, one an output; a call that did not end in order has one."""
    trial = call.trial
    sizes = dict(trial.sizes)
    if not result.ran:
        names = ", ".join(r.name for r in trial.results)
        inf = float("inf")
        return [
            Figure(
                trial.label,
                call.dtype,
                trial.graph,
                trial.sizes,
                names,
                inf,
                inf,
                0,
                0,
                False,
                result.message,
            )
        ]
    figures = []
    for name, expected in expected_of(program, call.family, sizes, call.dtype, tf32).items():
        c = compare(result.outputs[name], expected)
        figures.append(
            Figure(
                trial.label,
                call.dtype,
                trial.graph,
                trial.sizes,
                name,
                c.rel,
                c.worst,
                c.limit.rel,
                c.limit.worst,
                c.ok,
                c.message,
            )
        )
    return figures
