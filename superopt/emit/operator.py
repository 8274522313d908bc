"""Registration of a printed file as an operator of torch, with what tracing needs to know."""

from __future__ import annotations

from superopt.emit.host import TORCH_DTYPES
from superopt.emit.host import HostNames
from superopt.emit.host import first_tensor
from superopt.emit.host import parameters
from superopt.emit.names import ascii_name
from superopt.emit.writer import Writer
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input


def print_operator(program: Program, names: HostNames, default: str) -> str:
    """Registration as ``torch.ops.superopt.NAME``, with what tracing needs to know of it.

    Schemas are in ASCII; other letters of a name become their numbers.
    """
    kinds = {"fp32": "float", "int32": "int"}
    arguments = []
    for param in program.params:
        if isinstance(param, Input):
            arguments.append(f"Tensor {ascii_name(names.tensors[param.name])}")
        else:
            arguments.append(f"{kinds[param.dtype]} {ascii_name(names.scalars[param.name])}")
    count = len(program.outputs)
    result = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    public = ", ".join(parameters(program, names))
    anchor = first_tensor(program, names)
    out = Writer()
    out.line()
    out.line()
    with out.block(f"def _operator({public}):"):
        out.line(f"return {program.name}({public})")
    out.line()
    out.line()
    with out.block(f"def _fake({public}):"):
        found = []
        for store in program.outputs:
            shape = tuple_text(_shape_of(a, program, names) for a in store.order)
            dtype = store.dtype or (None if _has_case(program) else default)
            text = TORCH_DTYPES[dtype] if dtype else f"{anchor}.dtype"
            found.append(f"{anchor}.new_empty({shape}, dtype={text})")
        out.line(f"return {', '.join(found)}")
    out.line()
    out.line()
    out.line(
        f'OPERATOR = "{ascii_name(program.name)}"  # torch.ops.superopt.{ascii_name(program.name)}'
    )
    out.line(f'SCHEMA = "({", ".join(arguments)}) -> {result}"')
    out.line("_register(OPERATOR, SCHEMA, _operator, _fake)")
    return out.text()


def _has_case(program: Program) -> bool:
    return any(isinstance(p, Input) and p.dtype is None for p in program.params)


def _shape_of(axis: str, program: Program, names: HostNames) -> str:
    for param in program.params:
        if isinstance(param, Input) and axis in param.order:
            return f"{names.tensors[param.name]}.shape[{param.order.index(axis)}]"
    if axis in dict(program.fixed):
        return str(dict(program.fixed)[axis])
    raise NotEmittable(f"no tensor of the signature has axis {axis!r}")
