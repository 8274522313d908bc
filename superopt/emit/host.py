"""What the host side of a printed file calls tensors, scalars and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.emit.names import RESERVED
from superopt.emit.names import Namer
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar

TORCH_DTYPES = {
    "fp16": "torch.float16",
    "bf16": "torch.bfloat16",
    "fp32": "torch.float32",
    "int8": "torch.int8",
    "int16": "torch.int16",
    "int32": "torch.int32",
    "int64": "torch.int64",
    "bool": "torch.bool",
}


@dataclass(frozen=True)
class HostNames:
    """The variables of the launcher: tensors and scalars by name, sizes by axis."""

    tensors: dict[str, str]
    scalars: dict[str, str]
    sizes: dict[str, str]
    outputs: dict[str, str]

    def all(self) -> list[str]:
        """Every variable."""
        groups = (self.tensors, self.scalars, self.sizes, self.outputs)
        return [name for group in groups for name in group.values()]


def signature_axes(program: Program) -> tuple[str, ...]:
    """All axes in the order of their first appearance in the signature."""
    found = (a for p in program.params if isinstance(p, Input) for a in p.order)
    return tuple(dict.fromkeys([*found, *(a for a, _ in program.fixed)]))


def host_names(program: Program) -> HostNames:
    """Identifiers for the host functions; parameters keep the user's names where they can."""
    names = Namer(RESERVED | {program.name})
    tensors = {p.name: names.fresh(p.name) for p in program.params if isinstance(p, Input)}
    scalars = {p.name: names.fresh(p.name) for p in program.params if isinstance(p, Scalar)}
    outputs = {s.name: names.fresh(f"{s.name}_out") for s in program.outputs}
    if len(outputs) == 1:  # the keyword argument itself receives it
        outputs = dict.fromkeys(outputs, "out")
    sizes = {a: names.fresh(f"{a}_size") for a in signature_axes(program)}
    return HostNames(tensors, scalars, sizes, outputs)


def parameters(program: Program, names: HostNames) -> list[str]:
    """The public parameters in signature order."""
    both = {**names.tensors, **names.scalars}
    return [both[p.name] for p in program.params]


def first_tensor(program: Program, names: HostNames) -> str:
    """The parameter whose device (and, if it has none of its own, dtype) the others follow."""
    for wanted in (None, *TORCH_DTYPES):
        for param in program.params:
            if isinstance(param, Input) and param.dtype == wanted:
                return names.tensors[param.name]
    raise NotEmittable("the operator has no tensor parameter, so its device is unknown")
