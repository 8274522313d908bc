"""Which Configs a candidate gets: what the compiler says decides, the estimate only begins.

Shared memory over the limit cannot be launched. Registers that spill are slow, not wrong: a
smaller program is tried, and if all of them spill the one that spills least is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from superopt.case import Case
from superopt.device import Device
from superopt.emit.ahead import launch_specs
from superopt.search.configs import Ladder
from superopt.source import SPILL_BYTES_MOST
from superopt.source import Facts
from superopt.source import LaunchSpec
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.trial import NotCompiled

Known = dict[tuple[KernelGraph, LaunchSpec, str], Facts | NotCompiled]


@dataclass(frozen=True)
class Fitted:
    """The Configs of all launches, what the compiler said of them, and why there are none.
    ``passed``: why better ones by the model, with roles, were not taken."""

    configs: tuple[Config, ...]
    facts: tuple[Facts, ...] = ()
    why: str = ""
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Tried:
    """One rung of one kernel's ladder. ``why``: the reason why it cannot be launched."""

    configs: tuple[Config, ...]
    facts: tuple[Facts, ...]
    why: str

    @property
    def spilled(self) -> int:
        """Bytes, of the launch that spills most."""
        return max((f.spill_bytes for f in self.facts), default=0)

    @property
    def said(self) -> str:
        """What the compiler has against it."""
        return self.why or f"{self.facts[0].function}: {self.spilled} bytes of registers spill"

    @property
    def good(self) -> bool:
        """Whether nothing smaller need be tried."""
        return not self.why and self.spilled <= SPILL_BYTES_MOST


def fit(
    compiler: Compiler,
    file: Path,
    graph: KernelGraph,
    ladders: Sequence[Ladder],
    case: Case,
    device: Device,
    index: int = 0,
    known: Known | None = None,
) -> Fitted:
    """Climbs down every kernel's ladder until the compiler is content with each of them.

    ``file`` holds ``graph`` as its graph number ``index``; both in the same names as
    ``ladders``. Kernels are compiled side by side, at most once for each rung. ``known``: what
    the compiler said before (another case may ask the same), which grows.
    """
    known = {} if known is None else known
    tried: list[list[_Tried]] = [[] for _ in ladders]
    for rung in range(max(map(len, ladders))):
        open_ = [
            k
            for k, ladder in enumerate(ladders)
            if rung < len(ladder) and not (tried[k] and tried[k][-1].good)
        ]
        if not open_:
            break
        chosen = [ladder[min(rung, len(ladder) - 1)] for ladder in ladders]
        specs = _specs(graph, chosen, case, index)
        asked = {(graph, spec, device.arch): None for k in open_ for spec in specs[k]}
        new = [key for key in asked if key not in known]
        answers = compiler.compile_all([(file, spec, arch) for _, spec, arch in new])
        known.update(zip(new, answers, strict=True))
        for k in open_:
            said = [known[graph, spec, device.arch] for spec in specs[k]]
            tried[k].append(_judged(chosen[k], said, device))
    best = [min(t, key=lambda one: (bool(one.why), one.spilled)) for t in tried]
    why = next((one.why for one in best if one.why), "")
    return Fitted(
        tuple(c for one in best for c in one.configs),
        tuple(f for one in best for f in one.facts),
        why,
        tuple(
            one.said
            for k, chosen in enumerate(best)
            for one in tried[k][: tried[k].index(chosen)]
            if any(c.consumers for c in one.configs)
        ),
    )


def _specs(
    graph: KernelGraph, chosen: Sequence[tuple[Config, ...]], case: Case, index: int
) -> list[tuple[LaunchSpec, ...]]:
    """The launches of every kernel."""
    configs = tuple(c for one in chosen for c in one)
    specs = launch_specs(graph, configs, case.sizes, case.storage, case.tf32, index)
    found, at = [], 0
    for one in chosen:
        found.append(specs[at : at + len(one)])
        at += len(one)
    return found


def _judged(
    configs: tuple[Config, ...], results: Sequence[Facts | NotCompiled], device: Device
) -> _Tried:
    why = ""
    for result in results:
        match result:
            case NotCompiled(function=function, why=reason):
                why = why or f"{function}: {reason}"
            case Facts(function=function, shared_bytes=shared) if shared > device.shared_block:
                why = why or f"{function}: {shared} bytes of shared memory, over the limit"
    return _Tried(configs, tuple(r for r in results if isinstance(r, Facts)), why)
