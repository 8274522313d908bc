"""How a launcher decides whether a launch takes roles.

What roles are asked for must be in the file, with slots enough that no role waits for ever; the
device must have their instructions, operands must be 16 bits wide, and tensors must be what copies
can describe. Nothing else in a file sees to that.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.descriptors import same_form
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Value

WHY, INSTEAD = "_without_roles", "_instead"
# In another form, nothing is said of them.
FORMS = """
def _without_roles(launch, case, tiles, fewest, boxes):
    if not launch.consumers:
        return "the plan asks for none"
    if launch.stages < fewest.get((launch.consumers, launch.roles), math.inf):
        return f"{launch.consumers} {launch.roles} with {launch.stages} slots: not in this file"
    if tiles >= LARGEST // 2:
        return f"{tiles} tiles: roles count them in 32 bits"
    room = _room(boxes[0][0].device)
    if room == 0:
        return "the device is no sm_90"
    if case.itemsize != 2:
        return f"operands are {case}, not 16 bits wide"
    size = sum(math.prod(b) * t.element_size() * n for t, b, n in boxes)
    if size > room - 1024:
        return f"tiles take {size} bytes of {room - 1024} of shared memory"
    for tensor, box, _ in boxes:
        unit = 16 // tensor.element_size()
        steps = [(s, n) for s, n in zip(tensor.stride()[:-1], tensor.shape[:-1]) if n != 1]
        if 0 in tensor.shape:
            return "a tensor is empty"
        if tensor.data_ptr() % 16 or any(s % unit or not 0 < s < 2**36 * unit for s, _ in steps):
            return "a tensor's address or a stride is no multiple of 16 bytes"
        if max(box) > 256 or box[-1] < unit:
            return f"a tile of {tuple(box)} positions is no box of a copy"
    return ""


def _instead(plan, index):
    if not plan.launches[index].consumers:
        return plan.launches[index]
    alike = (p for p in PLANS if p[3:] == plan[3:] and p.graph == plan.graph)
    launches = (p.launches[index] for p in alike if not p.launches[index].consumers)
    return next(launches, plan.launches[index])


def _room(device):
    if device.type != "cuda" or torch.cuda.get_device_capability(device) != (9, 0):
        return 0
    return torch.cuda.get_device_properties(device).shared_memory_per_block_optin
"""
NAMES = (WHY, INSTEAD, "_room")


def unknown(text: KernelText) -> str:
    """The first of the functions that decide whether roles are taken that is not in the form that
    is known; empty if all are."""
    return next((n for n in NAMES if not same_form(text.functions.get(n), FORMS)), "")


def asks(test: ast.expr, names: Mapping[str, Value]) -> bool:
    """Whether what ``test`` guards is done only if ``_without_roles`` found nothing against it."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(
        isinstance(part, ast.UnaryOp)
        and isinstance(part.op, ast.Not)
        and isinstance(part.operand, ast.Name)
        and names.get(part.operand.id) == Named(WHY)
        for part in parts
    )
