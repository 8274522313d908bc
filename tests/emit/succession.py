"""Checks of printed files whose later launches depend on the ones before."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from tests.emit.cases import Printed
from tests.emit.harness import compare
from tests.emit.harness import inputs
from tests.emit.harness import plans


def _asking(plan: Any) -> Any:
    """``plan``, every launch but the first dependent."""
    first, *rest = plan.launches
    return plan._replace(launches=(first, *(x._replace(dependent=True) for x in rest)))


def dependent(module: ModuleType, case: Printed) -> None:
    """In the interpreter there is nothing to wait for, and nothing waits."""
    arguments = inputs(case, case.sizes[0], "fp32")
    wanted = module.reference(*arguments, dtype=torch.float64)
    for plan in plans(module, case):
        found = getattr(module, case.program.name)(*arguments, plan=_asking(plan))
        compare(found, wanted, 3e-6, f"graph {plan.graph}")


class _Recorder:
    """Stands for a printed function, and keeps the options of its launches."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        assert grid[0] > 0
        return lambda *_, **options: self.options.append(options)


def launched(module: ModuleType, case: Printed) -> None:
    """What is launched dependent is compiled so that it waits, and the launch before leads it.

    Not where the launch before has no programs: then another's work would be waited for.
    """
    (plan,) = (p for p in plans(module, case) if len(p.launches) == 2)
    names = [f"{case.program.name}_g{plan.graph}_k{k}" for k in (0, 1)]
    kept = {name: getattr(module, name) for name in (*names, "_dependent")}
    arguments = inputs(case, case.sizes[0], "fp32")

    def options(plan: Any, able: bool) -> tuple[Any, ...]:
        recorders = [_Recorder(), _Recorder()]
        vars(module).update(zip(names, recorders, strict=True))
        module._dependent = lambda launch, device: able and launch.dependent  # type: ignore[attr-defined]
        getattr(module, case.program.name)(*arguments, plan=plan)
        first, second = ([*r.options, {}][0] for r in recorders)
        assert "launch_pdl" not in first
        assert "DEPENDENT" not in first
        return first.get("LEADS"), second["DEPENDENT"], second["launch_pdl"]

    empty = plan.launches[0]._replace(parts=0)
    try:
        assert options(_asking(plan), True) == (True, True, True)
        assert options(_asking(plan), False) == (False, False, False)
        assert options(plan, True) == (False, False, False)
        none = plan._replace(launches=(empty, *plan.launches[1:]))
        assert options(_asking(none), True) == (None, False, False)
    finally:
        vars(module).update(kept)


def able(module: ModuleType, case: Printed) -> None:
    """A launch is dependent if it asks for that, on a device that can, outside the interpreter."""
    (plan,) = (p for p in plans(module, case) if len(p.launches) == 2)
    asking, plain = _asking(plan).launches[1], plan.launches[1]
    device, host = torch.device("cuda", 0), torch.device("cpu")
    kept = torch.cuda.get_device_capability, module.INTERPRETED
    try:
        for capability, known in (((8, 0), False), ((9, 0), True), ((10, 0), True)):
            torch.cuda.get_device_capability = lambda device, c=capability: c  # type: ignore[misc]
            module.INTERPRETED = True  # type: ignore[attr-defined]
            assert not module._dependent(asking, device)
            module.INTERPRETED = False  # type: ignore[attr-defined]
            assert module._dependent(asking, device) is known
            assert not module._dependent(plain, device)
            assert not module._dependent(asking, host)
    finally:
        torch.cuda.get_device_capability, module.INTERPRETED = kept  # type: ignore[misc, attr-defined]
