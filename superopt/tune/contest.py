"""One case, in this process: a printed kernel and its peers on one device, checked, then timed."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import torch

from superopt.case import Case
from superopt.device import Device
from superopt.tune.bench import Call
from superopt.tune.bench import Clock
from superopt.tune.bench import Contender
from superopt.tune.bench import interleaved
from superopt.tune.bench import reason
from superopt.tune.bench import rotated_sets
from superopt.tune.bench import still_works
from superopt.tune.peers import Peer
from superopt.tune.roofline import Roofline
from superopt.tune.roofline import roofline
from superopt.tune.roofline import work
from superopt.tune.series import Series
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.verify.run import real_sizes
from superopt.verify.run.run_kernel import TORCH_DTYPES
from superopt.verify.run.run_kernel import as_tuple
from superopt.verify.run.run_kernel import same_bits
from superopt.verify.run.tolerance import Expected
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import storage

OURS = "superopt"
MEMORY_SHARE = 3  # the rotated sets take at most one part in so many of the free memory
SEED = 1

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Check:
    """How outputs compare with the expected values: "" or what is wrong, and the relative error
    of the worst output beside its limit."""

    problem: str
    error: float
    limit: float


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
    """The inputs of one case on a device, and what the outputs should be."""

    def __init__(self, program: Program, case: Case, device: str, target: Device) -> None:
        self.program, self.case, self.device = program, case, device
        self.sizes, self.dtype = dict(case.sizes), case.storage
        first = self._drawn(SEED)
        free = torch.cuda.mem_get_info()[0] if device == "cuda" else 1 << 30
        held = sum(t.nbytes for t in first.values())
        count = rotated_sets(held, target.l2_bytes, free // MEMORY_SHARE)
        self.sets = [first, *(self._drawn(SEED + i) for i in range(1, count))]
        found = work(program, self.sizes, self.dtype, self._mask_values())
        self.roofline = roofline(found, target, self.dtype, case.tf32)
        self.at = real_sizes.sampled(program, self.sizes)
        self._expected: dict[str, Expected] | None = None

    def _drawn(self, seed: int) -> Tensors:
        """Parameters, and outputs full of NaN."""
        given = {n: float(v) for n, v in self.case.scalars.items()}
        tensors = real_sizes.drawn(
            self.program,
            self.sizes,
            self.dtype,
            self.device,
            seed,
            given,
            self.case.integers,
        )
        for store in self.program.outputs:
            kind = TORCH_DTYPES[storage(store, self.dtype)]
            shape = [self.sizes[a] for a in store.order]
            tensors[store.name] = torch.empty(shape, dtype=kind, device=self.device)
        self.poison(tensors)
        return tensors

    def poison(self, tensors: Tensors) -> None:
        """Fills the outputs with what no kernel writes."""
        for store in self.program.outputs:
            value = tensors[store.name]
            real = value.dtype.is_floating_point
            value.fill_(float("nan") if real else value.dtype is torch.bool or 113)

    def _mask_values(self) -> dict[str, Any]:
        """The tensors and scalars that masks read."""
        first = self.sets[0]
        return {
            p.name: first[p.name].cpu().numpy()
            for p in self.program.params
            if not isinstance(p, Input) or p.kind is not Kind.REAL
        }

    @property
    def expected(self) -> dict[str, Expected]:
        """The outputs of the first set at the sampled positions; computed once."""
        if self._expected is None:
            self._expected = real_sizes.expected_at(
                self.program,
                self.sets[0],
                self.sizes,
                self.dtype,
                self.device,
                self.at,
                self.case.tf32,
            )
        return self._expected

    def check(self, outputs: Sequence[torch.Tensor]) -> Check:
        """``outputs`` of a call on the first set, against the expected values."""
        stores = self.program.outputs
        if len(outputs) != len(stores):
            return Check(f"{len(outputs)} outputs instead of {len(stores)}", np.inf, 0.0)
        worst = Check("", 0.0, np.inf)
        for store, got in zip(stores, outputs, strict=True):
            shape = tuple(self.sizes[a] for a in store.order)
            if not isinstance(got, torch.Tensor) or tuple(got.shape) != shape:
                what = tuple(got.shape) if isinstance(got, torch.Tensor) else type(got).__name__
                return Check(f"{store.name}: {what} instead of shape {shape}", np.inf, 0.0)
            seen = real_sizes.select(got, store.order, self.at).double().cpu().numpy()
            found = compare(seen, self.expected[store.name])
            here = Check("", found.rel, found.limit.rel)
            if not found.ok:
                why = found.message or f"error {found.rel:.1e}, limit {found.limit.rel:.1e}"
                return replace(here, problem=f"{store.name}: {why}")
            if here.error * worst.limit > worst.error * here.limit or worst.limit == np.inf:
                worst = here
        return worst

    def kernel_calls(self, module: ModuleType, plan: object = None) -> tuple[Call, ...]:
        """Calls of the printed kernel, one for each set, into that set's outputs."""
        function = getattr(module, self.program.name)
        return tuple(self._kernel_call(function, tensors, plan) for tensors in self.sets)

    def _kernel_call(self, function: Callable[..., Any], tensors: Tensors, plan: object) -> Call:
        arguments = [
            tensors[p.name] if isinstance(p, Input) else tensors[p.name].item()
            for p in self.program.params
        ]
        outs = tuple(tensors[s.name] for s in self.program.outputs)
        out = outs if len(outs) > 1 else outs[0]
        return lambda: function(*arguments, out=out, plan=plan)

    def checked(self, call: Call) -> Check:
        """Runs the kernel's call on the first set twice, into poisoned outputs: the same bits, and
        near enough to the expected values."""
        runs = []
        for _ in range(2):
            self.poison(self.sets[0])
            runs.append([t.clone() for t in as_tuple(call())])
        if not all(same_bits(a, b) for a, b in zip(*runs, strict=True)):
            return Check("two runs differ: a race", np.inf, 0.0)
        return self.check(runs[0])


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
    ours = contest.kernel_calls(module)
    check = contest.checked(ours[0])
    if check.problem:
        return Result(check, (), contest.roofline, len(contest.sets))
    contenders = [Contender(OURS, ours)]
    wrong: dict[str, str] = {}
    failed: dict[str, str] = {}
    for peer in peers:
        started(peer.name)
        try:
            calls = tuple(peer.make(_arguments(contest, t), contest.case) for t in contest.sets)
            contest.poison(contest.sets[0])  # or our own right output might pass for the peer's
            if peer.checked:
                wrong[peer.name] = contest.check(as_tuple(calls[0]())).problem
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
    return Result(check, tuple(rows), contest.roofline, len(contest.sets))


def _arguments(contest: Contest, tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """What a peer gets: tensors, run-time scalars as Python numbers, and outputs."""
    scalars = {p.name for p in contest.program.params if not isinstance(p, Input)}
    return {n: t.item() if n in scalars else t for n, t in tensors.items()}
