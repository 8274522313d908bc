"""Checks of printed files that number their programs, or the positions of a tile, otherwise."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch

from tests.emit.cases import Printed
from tests.emit.harness import compare
from tests.emit.harness import inputs
from tests.emit.harness import plans


def groups(module: ModuleType, case: Printed) -> None:
    """Programs numbered in groups, also ones that do not divide the number of tiles."""
    function = getattr(module, case.program.name)
    for m, n in ((33, 65), (80, 16), (5, 40)):
        arguments = inputs(case, {"m": m, "k": 5, "n": n}, "fp32")
        wanted = module.reference(*arguments, dtype=torch.float64)
        for group in (2, 3, 8):
            (plan,) = plans(module, case)[:1]
            plan = plan._replace(launches=tuple(x._replace(group=group) for x in plan.launches))
            out = torch.full_like(wanted, 77, dtype=torch.float32)
            compare(function(*arguments, plan=plan, out=out), wanted, 3e-6, f"{m} {n} in {group}")


def joint(module: ModuleType, case: Printed) -> None:
    """Joint positions must fit into 32 bits."""
    sizes = {"b": 1, "g": 1, "r": 2**16, "m": 2**15, "n": 1, "d": 1, "e": 1}
    arguments = []
    for param in case.program.params:
        one = torch.zeros([1] * (len(param.order) - 1) + [sizes[param.order[-1]]])
        arguments.append(one.expand([sizes[a] for a in param.order]))
    out = tuple(torch.empty(1).expand([sizes[a] for a in o.order]) for o in case.program.outputs)
    module_output, module._output = module._output, lambda name, tensor, *_: tensor
    try:
        with pytest.raises(ValueError, match="axes m r have 2147483648 positions together"):
            module.grouped(*arguments, out=out, plan=plans(module, case)[0])
    finally:
        module._output = module_output


def views_of_heads(module: ModuleType, case: Printed) -> None:
    """Heads lie next to each other for each query, as projections leave them."""
    q, k, v, *rest = inputs(case, case.sizes[0], "fp16")
    turned = q.permute(0, 3, 1, 2, 4).contiguous().permute(0, 2, 3, 1, 4)
    wanted = module.reference(q, k, v, *rest, dtype=torch.float64)
    for plan in plans(module, case):
        compare(module.grouped(turned, k, v, *rest, plan=plan), wanted, 1.5e-3, "views")
