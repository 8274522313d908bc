"""Kernels of one case in the device's process: each is checked, and only then timed."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Protocol

import torch

from superopt.tune.bench import FIGURE_US
from superopt.tune.bench import Call
from superopt.tune.bench import reason
from superopt.tune.case_data import CaseData
from superopt.tune.request import Effort
from superopt.tune.request import Entry
from superopt.tune.request import Pace
from superopt.tune.request import Reply
from superopt.tune.request import Setting
from superopt.tune.series import Series
from superopt.tune.series import paced
from superopt.verify.run.run_kernel import launch_of
from superopt.verify.run.run_kernel import load

# Of the reference's largest value: the check must not outlast the timing.
SAMPLED_ELEMENTS = 1 << 22
PACE = "(pace)"  # among names of kernels in turns


class Times(Protocol):
    """How kernels that passed their checks are timed."""

    def sets(self, set_bytes: int) -> int:
        """How many sets of inputs a timing rotates through."""

    def interleaved(self, calls: Mapping[str, Sequence[Call]], effort: Effort) -> dict[str, Series]:
        """The figures of kernels in turns; of each, one call for each set of inputs."""


@dataclass(frozen=True)
class Bound:
    """A call of ``entry`` on one set of inputs."""

    entry: Entry
    call: Call

    def __call__(self) -> object:
        """Makes the call."""
        return self.call()


class OnDevice:
    """The data of ``setting``, and the kernels that are run on them."""

    def __init__(self, setting: Setting, timing: Times) -> None:
        self.setting, self.timing = setting, timing
        self.data = CaseData(
            setting.program,
            setting.case,
            setting.device,
            setting.seed,
            timing.sets,
            SAMPLED_ELEMENTS,
        )

    def measure(self, entry: Entry, effort: Effort, pace: Pace | None = None) -> Reply:
        """Checks one kernel and times it, alone or in turns with ``pace``."""
        stage, seen = "run", None
        try:
            calls = self._calls(entry)
            checked = self.data.checked(calls[0])
            if checked.problem:
                return Reply("floats", checked.problem, error=checked.error)
            if why := without_roles(entry):
                return Reply("run", why, error=checked.error)
            stage, seen = "time", checked.error
            (found,) = self._timed({entry.name: calls}, effort, pace).values()
            return replace(found, error=seen)
        except Exception as error:
            return self._failed(stage, error, seen)

    def compare(
        self, entries: Sequence[Entry], rounds: int, pace: Pace | None = None
    ) -> dict[str, Reply]:
        """Checks all of ``entries`` again and times those that are right, interleaved."""
        replies: dict[str, Reply] = {}
        calls: dict[str, Sequence[Call]] = {}
        for entry in entries:
            try:
                bound = self._calls(entry)
                checked = self.data.checked(bound[0])
            except Exception as error:
                replies[entry.name] = self._failed("run", error, None)
                continue
            stage = "floats" if checked.problem else ""
            replies[entry.name] = Reply(stage, checked.problem, error=checked.error)
            if not checked.problem:
                calls[entry.name] = bound
        effort = Effort(rounds, FIGURE_US)
        for name, found in self._timed(calls, effort, pace).items() if calls else ():
            replies[name] = replace(found, error=replies[name].error)
        return replies

    def _timed(
        self, calls: Mapping[str, Sequence[Call]], effort: Effort, pace: Pace | None
    ) -> dict[str, Reply]:
        """The figures of right kernels, or why there are none, by name. A pace that fails says
        nothing of what ran beside it, whose figures are then those of the clock."""
        beside = {} if pace is None else {PACE: self._calls(pace.entry)}
        series = self.timing.interleaved({**beside, **calls}, effort)
        replies: dict[str, Reply] = {}
        for name in calls:
            if why := series[name].failed:
                replies[name] = Reply("time", why)
            elif pace is None or series[PACE].failed:
                replies[name] = Reply(figures=series[name].figures)
            else:
                replies[name] = Reply(figures=paced(series[name], series[PACE], pace.us))
        return replies

    def _calls(self, entry: Entry) -> list[Call]:
        """Calls of a printed kernel, one for each set of inputs."""
        data, case = self.data, self.setting.case
        module = load(entry.file)
        launches = tuple(launch_of(module, c) for c in entry.launches)
        plan = module.Plan("timed", entry.graph, launches, data.sizes, case.storage, case.tf32)
        function = getattr(module, data.program.name)
        return [Bound(entry, call) for call in data.calls(function, plan)]

    def _failed(self, stage: str, error: Exception, seen: tuple[float, float] | None) -> Reply:
        """A failure as a reply; whether the device still works decides about this process."""
        broken = False
        if self.setting.device == "cuda":
            try:
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            except Exception:  # a device-side error is sticky: every later call raises it again
                broken = True
        return Reply(stage, reason(error), error=seen, broken=broken)


def without_roles(entry: Entry) -> str:
    """Why a launch of ``entry``, which has run, took no roles although it asked for them."""
    taken = getattr(load(entry.file), "TAKEN", {})
    for number, config in enumerate(entry.launches):
        for function, why in taken.items() if config.consumers else ():
            if why and function.endswith(f"_g{entry.graph}_k{number}"):
                return f"{function} took no roles: {why}"
    return ""


def device_timing() -> Times:
    """Timing by the device's clock."""
    from superopt.tune.device_timing import DeviceTiming

    return DeviceTiming()
