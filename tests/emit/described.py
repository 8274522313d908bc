"""Checks of functions with tensor descriptors, in Triton's interpreter.

Imported by ``interpreted``, which sets TRITON_INTERPRET before.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import torch

from superopt.ugraph.described import inner_axes
from superopt.verify.run.run_kernel import count_descriptors
from superopt.verify.run.sizes import aligned_sizes
from tests.emit.cases import Printed
from tests.emit.harness import LIMITS
from tests.emit.harness import compare
from tests.emit.harness import inputs
from tests.emit.harness import load
from tests.emit.harness import plans


def descriptors(module: ModuleType, case: Printed) -> None:
    """Both functions of a launch give the same bits; which one runs, the tensors decide."""
    path = Path(module.__file__ or "").with_name(f"described_{case.program.name}.py")
    module = load(case.text(descriptors=True), path)
    function = getattr(module, case.program.name)
    for dtype in ("fp32", "fp16"):
        for plan, graph in zip(plans(module, case), case.graphs, strict=True):
            copies = plan._replace(
                launches=tuple(one._replace(descriptors=True) for one in plan.launches)
            )
            sizes = aligned_sizes(graph, case.sizes[0])
            arguments = inputs(case, sizes, dtype)
            pointers = function(*arguments, plan=plan)
            made = count_descriptors(module)
            found = function(*arguments, plan=copies)
            assert bool(made) == bool(inner_axes(graph)), f"graph {plan.graph}: {len(made)} made"
            wanted = module.reference(*arguments, dtype=torch.float64)
            compare(found, pointers, 0.0, f"{sizes}, graph {plan.graph}")
            compare(found, wanted, LIMITS[dtype], f"{sizes}, graph {plan.graph}")
            for other in (_turned(arguments), _shifted(arguments)):
                compare(function(*other, plan=copies), wanted, LIMITS[dtype], "another layout")
            made = count_descriptors(module)
            function(*_shifted(arguments), plan=copies)
            assert not made, "descriptors of tensors that begin between multiples of 16 bytes"


def ragged(module: ModuleType, case: Printed) -> None:
    """At sizes that no descriptor can tell of, and without elements, pointers do the work."""
    path = Path(module.__file__ or "").with_name(f"ragged_{case.program.name}.py")
    module = load(case.text(descriptors=True), path)
    function = getattr(module, case.program.name)
    for plan in plans(module, case):
        copies = plan._replace(
            launches=tuple(one._replace(descriptors=True) for one in plan.launches)
        )
        for sizes in case.sizes:
            arguments = inputs(case, sizes, "fp16")
            wanted = function(*arguments, plan=plan)
            compare(function(*arguments, plan=copies), wanted, 0.0, f"{sizes}")


def _turned(arguments: list[torch.Tensor]) -> list[torch.Tensor]:
    """The same tensors with their axes but the last in reverse memory order."""
    found = []
    for tensor in arguments:
        outer = list(range(tensor.dim() - 1))[::-1]
        turned = tensor.permute(*outer, -1).contiguous() if outer else tensor
        found.append(turned.permute(*outer, -1) if outer else turned)
    return found


def _shifted(arguments: list[torch.Tensor]) -> list[torch.Tensor]:
    """The same tensors, each one element behind a multiple of 16 bytes."""
    found = []
    for tensor in arguments:
        wide = torch.empty(tensor.numel() + 1, dtype=tensor.dtype)[1:]
        found.append(wide.view(tensor.shape).copy_(tensor))
    return found
