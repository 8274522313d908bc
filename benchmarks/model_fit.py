"""How well the model's order of Configs agrees with the clock, on all measured Configs.

    python benchmarks/model_fit.py                # seconds: the table
    python benchmarks/model_fit.py --leave-out    # minutes: are the constants fitted too closely?

Reads ``results/tuning_*.json`` and ``results/configs_*.json`` (what was measured), takes the graphs
and Configs from there, and asks the model of today; then the same of ``results/roles_*.json``:
Configs with roles, and the three fastest plain ones of each case. A row is a workload of one file:
its Configs, Spearman's rank correlation of the model with the clock by the model that was stored
with the measurement (in parentheses) and by that of today, how much longer than the best one the
model's first and the best of its first ten take (both models), and how the times of today's model
lie to the measured ones (the median).

``--leave-out``: for each family of workloads the constants are fitted again, from rough values and
on all other families, and the family left out is ranked with them. Deterministic.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from superopt.device import Device
from superopt.device import target
from superopt.report.correlation import spearman
from superopt.search import chain
from superopt.search import footprint
from superopt.search import model
from superopt.search import overlapped
from superopt.search import units
from superopt.threads.build import of_config
from superopt.ugraph.cost import Counter
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.profile import profile
from superopt.ugraph.split import launches

RESULTS = Path(__file__).resolve().parent / "results"
DAY = "2026-11-29_h200"
ROLES_DAY = "2026-11-30_h200"
FIRST = "(first fit)"  # what the first fit was made to
GOAL = 0.7
# Rough values of the constants that were fitted, from which a fit with data left out begins.
ROUGH: dict[str, float] = {
    "DEPTH": 32,
    "NARROW": 0.25,
    "CROWDED": 0.5,
    "MOVED": 8,
    "ACROSS": 30,
    "FOLD_US": 0.04,
    "ROW_US": 0.02,
    "CROSS_US": 0.05,
    "APART": 0.5,
    "TOGETHER": 2.0,
    "LATE": 0.25,
    "WHOLE": 0.5,
    "LINES": 0.2,
    "START_US": 0.1,
    "PLAIN_REGISTERS": 16,
    "PIECES": 0.5,
    "latency_us": 0.6,
    "l2_latency_us": 0.4,
    "launch_us": 2.0,
}
AT_MOST_ONE = ("APART", "LATE", "WHOLE")
FACTORS = (0.7, 0.9, 1.1, 1.4)  # a constant is tried at these times its value
SWEEPS = 2
EVERY = 3  # one Config in so many is fitted to
ENOUGH = 0.75  # rank correlation below which a workload counts more in a fit
FAMILIES = {
    "long rows": ("attention", "causal", "alibi", "document", "sink", "sliding", "softcap"),
    "few rows": ("grouped", "gdec", "alibi_decode", "softcap_decode"),
    "folds": ("softmax", "rms_norm", "layer_norm", "logsumexp"),
    "products": ("rms_norm_linear", "lora", "gated_mlp"),
}


@dataclass(frozen=True)
class Sample:
    """One measured choice of Configs. ``stored``: microseconds by the model of that day."""

    workload: str
    launches: tuple[tuple[Cost, Config], ...]
    dtype: str
    us: float
    stored: float


@dataclass(frozen=True)
class Ranked:
    """How one model ranks a workload: rank correlation, and the shares by which the best of the
    model's first (ten) is slower than the best of all."""

    rank: float
    first: float
    ten: float


@dataclass(frozen=True)
class Row:
    """One workload by the stored model and by that of today; ``level``: the latter's times over
    the measured ones, in the median."""

    workload: str
    configs: int
    before: Ranked
    now: Ranked
    level: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leave-out", action="store_true", help="fit without each family")
    options = parser.parse_args()
    samples = read(RESULTS)
    found = rows(samples, predicted(samples, target("h200")))
    show(found)
    print("\nwith roles")
    measured = read_roles(RESULTS)
    show(rows(measured, predicted(measured, target("h200"))))
    if options.leave_out:
        left_out(samples, target("h200"))
    return 0


def read(folder: Path) -> list[Sample]:
    """All that was measured on ``DAY``: the tuned Configs, and those of the first fit."""
    tuning = json.loads((folder / f"tuning_{DAY}.json").read_text())
    first = json.loads((folder / f"configs_{DAY}.json").read_text())
    return [*_tuned(tuning), *_first(first)]


def read_roles(folder: Path) -> list[Sample]:
    """What was measured of Configs with roles on ``ROLES_DAY``."""
    return [*_tuned(json.loads((folder / f"roles_{ROLES_DAY}.json").read_text()))]


def _tuned(record: Mapping[str, Any]) -> Iterator[Sample]:
    for run in record["runs"]:
        cases = {c["name"]: c for c in run["cases"]}
        graphs = {d: Graph(text) for d, text in run["graphs"].items()}
        for one in run["measured"]:
            case = cases[one["case"]]
            if one["us"] is not None:
                counted = graphs[one["digest"]].counted(case, one["configs"])
                name = f"{run['name']} {case['name']}"
                yield Sample(name, counted, case["dtype"], one["us"], one["model_us"])


def _first(record: Mapping[str, Any]) -> Iterator[Sample]:
    for case in record["cases"]:
        graph = Graph(case["graph"])
        for one in case["configs"]:
            counted = graph.counted(case, one["launches"])
            name = f"{case['function']} {case['case']} {FIRST}"
            yield Sample(name, counted, case["dtype"], one["us"], one["model_us"])


class Graph:
    """A measured graph; counts that its Configs share are worked out once."""

    def __init__(self, text: str) -> None:
        self.profiles = [profile(b) for b in launches(parse_as(KernelGraph, text))]
        self._counters: dict[tuple[object, ...], Counter] = {}

    def counted(
        self, case: Mapping[str, Any], configs: Sequence[Mapping[str, Any]]
    ) -> tuple[tuple[Cost, Config], ...]:
        """The counts of every launch with its Config."""
        lengths, found = dict(case["sizes"]), []
        for number, (prof, one) in enumerate(zip(self.profiles, configs, strict=True)):
            fields = {k: v for k, v in one.items() if k != "tiles"}
            config = Config(tuple(one["tiles"].items()), **fields)
            lengths |= {a: config.parts for a, _ in prof.block.places if a not in case["sizes"]}
            key = (number, *sorted(lengths.items()))
            if key not in self._counters:
                self._counters[key] = Counter(prof, dict(lengths), case["dtype"])
            tiles = config.tiles
            if config.consumers:
                rows = of_config(prof.block, config, case["dtype"]).rows
                tiles = overlapped.whole(tiles, rows, config.sharers)
            found.append((self._counters[key].cost(replace(config, tiles=tiles)), config))
        return tuple(found)


def predicted(samples: Sequence[Sample], device: Device) -> list[float]:
    """Microseconds by the model of today."""
    return [
        sum(model.launch_times(cost, c, s.dtype, device)["total"] for cost, c in s.launches)
        for s in samples
    ]


def rows(samples: Sequence[Sample], times: Sequence[float]) -> list[Row]:
    """A row for each workload."""
    by: dict[str, list[tuple[Sample, float]]] = {}
    for sample, us in zip(samples, times, strict=True):
        by.setdefault(sample.workload, []).append((sample, us))
    return [_row(name, pairs) for name, pairs in by.items()]


def _row(name: str, pairs: Sequence[tuple[Sample, float]]) -> Row:
    clock = [s.us for s, _ in pairs]
    before = ranked(clock, [s.stored for s, _ in pairs])
    now = ranked(clock, [us for _, us in pairs])
    return Row(name, len(pairs), before, now, median(us / s.us for s, us in pairs))


def ranked(clock: Sequence[float], times: Sequence[float]) -> Ranked:
    """How ``times`` order what took ``clock``."""
    order = [us for _, us in sorted(zip(times, clock, strict=True), key=lambda p: p[0])]
    best = min(clock)
    return Ranked(spearman(clock, times) or 0.0, order[0] / best - 1, min(order[:10]) / best - 1)


def show(found: Sequence[Row]) -> None:
    print(f"{'workload':34}{'configs':>8}{'rank':>6}{'':8}{'first':>6}{'':9}{'ten':>5}{'':9}level")
    for row in found:
        now, before = row.now, row.before
        print(
            f"{row.workload:34}{row.configs:8}{now.rank:6.2f} ({before.rank:5.2f})"
            f"{now.first:6.0%} ({before.first:6.1%}){now.ten:6.1%} ({before.ten:5.1%})"
            f"{row.level:6.2f}"
        )
    tuned = [r for r in found if not r.workload.endswith(FIRST)]
    for name, of in (("today", [r.now for r in tuned]), ("stored", [r.before for r in tuned])):
        ranks = [r.rank for r in of]
        print(
            f"{name}: {sum(r >= GOAL for r in ranks)} of {len(of)} tuned workloads at {GOAL} or "
            f"more, mean {_mean(ranks):.3f}, least {min(ranks):.3f}; slower than the best: first "
            f"{_mean([r.first for r in of]):.1%}, best of ten {_mean([r.ten for r in of]):.1%}"
        )


def left_out(samples: Sequence[Sample], device: Device) -> None:
    """Prints how each family is ranked by constants that were fitted without it."""
    print(f"\n{'left out':12}{'mean':>7}{'least':>7}   constants fitted to all others")
    for family in FAMILIES:
        others = [s for s in samples if family_of(s) != family][::EVERY]
        constants = fitted(others, device)
        own = [s for s in samples if family_of(s) == family]
        values = [r.now.rank for r in rows(own, with_constants(own, device, constants))]
        words = " ".join(f"{k}={v:.3g}" for k, v in constants.items())
        print(f"{family:12}{_mean(values):7.2f}{min(values):7.2f}   {words}", flush=True)


def family_of(sample: Sample) -> str:
    """The family of a workload: the one with the longest name that begins its own."""
    word = sample.workload.split()[0]
    found = [(len(p), f) for f, names in FAMILIES.items() for p in names if word.startswith(p)]
    return max(found)[1]


def fitted(samples: Sequence[Sample], device: Device) -> dict[str, float]:
    """Constants that rank ``samples`` well, by trying one after another, from ``ROUGH``."""
    constants = dict(ROUGH)
    best = loss(samples, with_constants(samples, device, constants))
    for _ in range(SWEEPS):
        for name in ROUGH:
            for factor in FACTORS:
                value = constants[name] * factor
                trial = constants | {name: min(1.0, value) if name in AT_MOST_ONE else value}
                found = loss(samples, with_constants(samples, device, trial))
                if found < best:
                    best, constants = found, trial
    return constants


def loss(samples: Sequence[Sample], times: Sequence[float]) -> float:
    """What a fit makes small: missing correlation (twice where it is low), and half of the mean
    error of times, as a logarithm."""
    errors = [min(0.5, abs(math.log(us / s.us))) for s, us in zip(samples, times, strict=True)]
    ranks = [r.now.rank for r in rows(samples, times)]
    missing = [1 - r + 2 * max(0.0, ENOUGH - r) for r in ranks]
    return _mean(missing) + _mean(errors) / 2


def with_constants(
    samples: Sequence[Sample], device: Device, constants: Mapping[str, float]
) -> list[float]:
    """Predictions with other values of the model's constants, which are put back."""
    places = [(m, k) for m in (model, chain, units, footprint) for k in constants if hasattr(m, k)]
    kept = [(m, k, getattr(m, k)) for m, k in places]
    others = {k: v for k, v in constants.items() if hasattr(device, k)}
    try:
        for module, name in places:
            setattr(module, name, constants[name])
        return predicted(samples, replace(device, **others))
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    sys.exit(main())
