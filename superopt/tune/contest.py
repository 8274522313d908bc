"""One case, in this process: a printed kernel and its peers on one device, checked, then timed."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from superopt.case import Case
from superopt.device import Device
from superopt.tune.bench import Clock
from superopt.tune.bench import Contender
from superopt.tune.bench import interleaved
from superopt.tune.bench import reason
from superopt.tune.bench import rotated_sets
from superopt.tune.bench import still_works
from superopt.tune.bench_job import OURS
from superopt.tune.case_data import CaseData
from superopt.tune.case_data import Check
from superopt.tune.peers import Peer
from superopt.tune.roofline import Roofline
from superopt.tune.roofline import roofline
from superopt.tune.roofline import work
from superopt.tune.series import Series
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.verify.run.run_kernel import as_tuple

MEMORY_SHARE = 3  # the rotated sets take at most one part in so many of the free memory
HOST_BYTES = 1 << 30  # for the sets where there is no GPU, which is for tests
SEED = 1


@dataclass(frozen=True)
class Row:
    """One contender in one mode. ``wrong``: why its output is not what the spec means."""

    name: str
    mode: str
    series: Series
    wrong: str = ""
    checked: bool = True


@dataclass(frozen=True)
class Result:
    """What came of one case. ``check``: of the kernel; without a good one it has no time."""

    check: Check
    rows: tuple[Row, ...]
    roofline: Roofline
    sets: int


class Contest:
    """The data of one case on a device, and the roofline of the operator with it."""

    def __init__(self, program: Program, case: Case, device: str, target: Device) -> None:
        def sets(held: int) -> int:
            free = torch.cuda.mem_get_info()[0] if device == "cuda" else HOST_BYTES
            return rotated_sets(held, target.l2_bytes, free // MEMORY_SHARE)

        self.data = CaseData(program, case, device, SEED, sets)
        found = work(program, self.data.sizes, case.storage, self._mask_values())
        self.roofline = roofline(found, target, case.storage, case.tf32)

    def _mask_values(self) -> dict[str, Any]:
        """The tensors and scalars that masks read."""
        first = self.data.sets[0]
        return {
            p.name: first[p.name].cpu().numpy()
            for p in self.data.program.params
            if not isinstance(p, Input) or p.kind is not Kind.REAL
        }


def hold(
    contest: Contest,
    module: ModuleType,
    peers: Sequence[Peer],
    modes: Sequence[str],
    rounds: int,
    clock: Clock,
    started: Callable[[str], None] = lambda name: None,
) -> Result:
    """Checks the kernel and its peers, and times them in every mode.

    A kernel that fails its check gets no time, nor do its peers: there is nothing to compare.
    ``started``: told who is at work.

    Raises:
        Exception: whatever the kernel's own call raises.
    """
    started(OURS)
    data = contest.data
    ours = data.calls(getattr(module, data.program.name))
    check = data.checked(ours[0])
    if check.problem:
        return Result(check, (), contest.roofline, len(data.sets))
    contenders = [Contender(OURS, ours)]
    wrong: dict[str, str] = {}
    failed: dict[str, str] = {}
    for peer in peers:
        started(peer.name)
        try:
            calls = tuple(peer.make(_arguments(data, t), data.case) for t in data.sets)
            data.poison()  # or our own right output might pass for the peer's
            if peer.checked:
                wrong[peer.name] = data.check(as_tuple(calls[0]())).problem
            contenders.append(Contender(peer.name, calls))
        except Exception as error:  # a peer that does not run is a row that says why
            failed[peer.name] = reason(error)
            still_works(clock)
    rows = []
    unchecked = {p.name for p in peers if not p.checked}
    for mode in modes:
        series = interleaved(contenders, rounds, mode, clock, started=started)
        series |= {n: Series(n, (), why) for n, why in failed.items()}
        rows += [
            Row(n, mode, series[n], wrong.get(n, ""), n not in unchecked)
            for n in (OURS, *(p.name for p in peers))
        ]
    return Result(check, tuple(rows), contest.roofline, len(data.sets))


def _arguments(data: CaseData, tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """What a peer gets: tensors, run-time scalars as Python numbers, and outputs."""
    scalars = {p.name for p in data.program.params if not isinstance(p, Input)}
    return {n: t.item() if n in scalars else t for n, t in tensors.items()}
