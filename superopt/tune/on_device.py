"""One case on the device: its inputs, what is expected of them, kernels checked and then timed.

A kernel is run on poisoned outputs, compared at sampled positions with the float64 meaning of the
spec, run again on other poison and compared bit for bit (so that an element that it does not
write, or a race, shows anywhere). Only then is it timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol

import torch

from superopt.tune.record import Figures
from superopt.tune.request import Effort
from superopt.tune.request import Entry
from superopt.tune.request import Reply
from superopt.tune.request import Setting
from superopt.ugraph.node import Input
from superopt.verify.run import real_sizes
from superopt.verify.run.run_kernel import TORCH_DTYPES
from superopt.verify.run.run_kernel import as_tuple
from superopt.verify.run.run_kernel import first_line
from superopt.verify.run.run_kernel import launch_of
from superopt.verify.run.run_kernel import load
from superopt.verify.run.run_kernel import same_bits
from superopt.verify.run.run_kernel import widened
from superopt.verify.run.tolerance import Expected
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import storage

SAMPLED_ELEMENTS = (
    1 << 22
)  # of the reference's largest value: the check must not outlast the timing
OTHER_POISON = 113.0  # of the second run; the first one's is NaN where the dtype has it
Call = Callable[[], object]


class Timing(Protocol):
    """How kernels that passed their checks are timed."""

    def sets(self, set_bytes: int) -> int:
        """How many sets of inputs a timing rotates through."""

    def quick(self, calls: Sequence[Call], effort: Effort) -> Figures:
        """One kernel alone; one call for each set of inputs."""

    def interleaved(
        self, calls: Mapping[str, Sequence[Call]], rounds: int
    ) -> dict[str, Figures | str]:
        """Several kernels in turns; for each its figures, or why there are none."""


@dataclass(frozen=True)
class _Checked:
    """What the check of one kernel found."""

    why: str
    error: tuple[float, float] | None


@dataclass(frozen=True)
class Bound:
    """A call of ``entry`` on the set of inputs number ``index``, into ``outputs``."""

    entry: Entry
    call: Callable[[int, Any], Any]
    index: int
    outputs: Sequence[torch.Tensor]

    def __call__(self) -> object:
        """Makes the call."""
        return self.call(self.index, self.outputs)


class OnDevice:
    """Inputs and expected values of ``setting``, and the kernels that are run on them."""

    def __init__(self, setting: Setting, timing: Timing) -> None:
        self.setting, self.timing = setting, timing
        case, program = setting.case, setting.program
        self.sizes = dict(case.sizes)
        self.sets = [self._drawn(setting.seed)]
        self.at = real_sizes.sampled(program, self.sizes, SAMPLED_ELEMENTS)
        self.expected = real_sizes.expected_at(
            program, self.sets[0], self.sizes, case.storage, setting.device, self.at, case.tf32
        )
        held = sum(t.numel() * t.element_size() for t in self.sets[0].values())
        wanted = timing.sets(held + self._output_bytes())
        self.sets += [self._drawn(setting.seed + i) for i in range(1, wanted)]
        self.outputs = [self._empty() for _ in self.sets]

    def measure(self, entry: Entry, effort: Effort) -> Reply:
        """Checks one kernel and times it alone."""
        stage, checked = "run", None
        try:
            checked = self._check(entry)
            if checked.why:
                return Reply("floats", checked.why, error=checked.error)
            stage = "time"
            figures = self.timing.quick(self._calls(entry), effort)
            return Reply(figures=figures, error=checked.error)
        except Exception as error:
            return self._failed(stage, error, checked)

    def compare(self, entries: Sequence[Entry], rounds: int) -> dict[str, Reply]:
        """Checks all of ``entries`` again and times those that are right, interleaved."""
        replies: dict[str, Reply] = {}
        calls: dict[str, Sequence[Call]] = {}
        for entry in entries:
            try:
                checked = self._check(entry)
            except Exception as error:
                replies[entry.name] = self._failed("run", error, None)
                continue
            stage = "floats" if checked.why else ""
            replies[entry.name] = Reply(stage, checked.why, error=checked.error)
            if not checked.why:
                calls[entry.name] = self._calls(entry)
        for name, found in self.timing.interleaved(calls, rounds).items() if calls else ():
            seen = replies[name].error
            if isinstance(found, str):
                replies[name] = Reply("time", found, error=seen)
            else:
                replies[name] = Reply(figures=found, error=seen)
        return replies

    def _check(self, entry: Entry) -> _Checked:
        call = self._caller(entry)
        # Fills torch.empty with NaN, so that a workspace that is read before it is written shows.
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            first = self._run(call, float("nan"))
            second = self._run(call, OTHER_POISON)
        finally:
            torch.use_deterministic_algorithms(False)
        most: tuple[float, float] | None = None
        for store, got in zip(self.setting.program.outputs, first, strict=True):
            expected: Expected = self.expected[store.name]
            seen = compare(widened(real_sizes.select(got, store.order, self.at)), expected)
            if most is None or seen.rel * most[1] > most[0] * seen.limit.rel:
                most = (seen.rel, seen.limit.rel)
            if not seen.ok:
                return _Checked(f"output {store.name!r}: {seen.message}", most)
        for store, a, b in zip(self.setting.program.outputs, first, second, strict=True):
            if not same_bits(a, b):
                why = "two runs differ: a race, or an element that is never written"
                return _Checked(f"output {store.name!r}: {why}", most)
        return _Checked("", most)

    def _run(self, call: Callable[[int, Any], Any], fill: float) -> list[torch.Tensor]:
        """One run on the first set, into fresh outputs full of ``fill``."""
        outputs = self._empty()
        for output in outputs:
            output.fill_(poison(output.dtype, fill))
        returned = as_tuple(call(0, outputs))
        if self.setting.device == "cuda":
            torch.cuda.synchronize()
        if any(r is not o for r, o in zip(returned, outputs, strict=True)):
            raise ValueError("the launcher did not write into the outputs that it was given")
        return outputs

    def _caller(self, entry: Entry) -> Callable[[int, Any], Any]:
        """A call of a printed kernel on one set of inputs, into given outputs."""
        case = self.setting.case
        module = load(entry.file)
        launches = tuple(launch_of(module, c) for c in entry.launches)
        plan = module.Plan("timed", entry.graph, launches, self.sizes, case.storage, case.tf32)
        function = getattr(module, self.setting.program.name)

        def call(index: int, outputs: Sequence[torch.Tensor]) -> Any:
            out = outputs[0] if len(outputs) == 1 else tuple(outputs)
            return function(*self._arguments(index), out=out, plan=plan)

        return call

    def _calls(self, entry: Entry) -> list[Call]:
        """One call for each set of inputs, with its outputs in place."""
        call = self._caller(entry)
        return [Bound(entry, call, i, o) for i, o in enumerate(self.outputs)]

    def _arguments(self, index: int) -> list[Any]:
        params = self.setting.program.params
        held = self.sets[index]
        return [held[p.name] if isinstance(p, Input) else held[p.name].item() for p in params]

    def _drawn(self, seed: int) -> real_sizes.Tensors:
        s, case = self.setting, self.setting.case
        return real_sizes.drawn(
            s.program, self.sizes, case.storage, s.device, seed, case.scalars, case.integers
        )

    def _empty(self) -> list[torch.Tensor]:
        return [
            torch.empty(
                tuple(self.sizes[a] for a in s.order),
                dtype=TORCH_DTYPES[storage(s, self.setting.case.storage)],
                device=self.setting.device,
            )
            for s in self.setting.program.outputs
        ]

    def _output_bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in self._empty())

    def _failed(self, stage: str, error: Exception, checked: _Checked | None) -> Reply:
        """A failure as a reply; whether the device still works decides about this process."""
        broken = False
        if self.setting.device == "cuda":
            try:
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            except Exception:  # a device-side error is sticky: every later call raises it again
                broken = True
        return Reply(stage, said(error), error=checked.error if checked else None, broken=broken)


def poison(dtype: torch.dtype, fill: float) -> float | bool:
    """``fill``, or what stands for it where ``dtype`` does not hold it; different for each."""
    if dtype == torch.bool:
        return math.isnan(fill)
    return fill if dtype.is_floating_point or not math.isnan(fill) else OTHER_POISON + 1


def said(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {first_line(error)}"


def device_timing() -> Timing:
    """Timing by the device's clock."""
    from superopt.tune.device_timing import DeviceTiming

    return DeviceTiming()
