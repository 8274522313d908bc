"""The public function of a printed file: it checks its arguments and chooses a plan."""

from __future__ import annotations

from superopt.emit.host import TORCH_DTYPES
from superopt.emit.host import HostNames
from superopt.emit.host import first_tensor
from superopt.emit.host import parameters
from superopt.emit.writer import Writer
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar


def print_launcher(program: Program, names: HostNames, graphs: int, default: str) -> str:
    """The public function ``program.name``; ``default``: dtype if no tensor has the case's."""
    out = Writer()
    anchor = first_tensor(program, names)
    public = parameters(program, names)
    out.line()
    out.line()
    with out.block(f"def {program.name}({', '.join(public)}, *, out=None, plan=None):"):
        _docstring(program, names, out)
        fixed = (f'"{axis}": ({size}, "{program.name}")' for axis, size in program.fixed)
        out.line(f"sizes = {{{', '.join(fixed)}}}")
        _checks(program, names, anchor, default, out)
        for axis, size in names.sizes.items():
            out.line(f'{size} = sizes["{axis}"][0]')
        outputs = list(names.outputs.values())
        if len(outputs) > 1:
            out.line(f"given = _several(out, {len(outputs)})")
        held = ", ".join(f'"{n}": {n}' for n in names.tensors.values())
        out.line(f"others = {{{held}}}")
        for index, store in enumerate(program.outputs):
            given = "out" if len(outputs) == 1 else f"given[{index}]"
            label = "out" if len(outputs) == 1 else f"out[{index}] ({store.name})"
            dtype = "case" if store.dtype is None else TORCH_DTYPES[store.dtype]
            out.line(
                f'{outputs[index]} = _output("{label}", {given}, {_shape(store, names)}, {dtype}, '
                f"{anchor}.device, others)"
            )
            if index + 1 < len(outputs):
                out.line(f'others["{label}"] = {outputs[index]}')
        with out.block("if plan is None:"):
            known = tuple_text(names.sizes.values())
            out.line(f"plan = _choose({known}, case, _target({anchor}.device))")
        out.line(f"plan = _planned(plan, {graphs})")
        arguments = ["plan", "case", *names.tensors.values(), *outputs, *names.scalars.values()]
        arguments += names.sizes.values()
        with out.block(f"with torch.cuda.device_of({anchor}):"):
            for index in range(graphs):
                if graphs == 1:
                    out.line(f"_run_g0({', '.join(arguments)})")
                    continue
                with out.block(f"{'el' if index else ''}if plan.graph == {index}:"):
                    out.line(f"_run_g{index}({', '.join(arguments)})")
        out.line(f"return {', '.join(outputs)}")
    return out.text()


def _docstring(program: Program, names: HostNames, out: Writer) -> None:
    out.line(f'"""Computes {program.name}; shapes by axis:')
    out.line()
    for param in program.params:
        if isinstance(param, Input):
            dtype = param.dtype or "fp16, bf16 or fp32, the same for all such tensors"
            out.line(f"    {names.tensors[param.name]} [{' '.join(param.order)}]: {dtype}")
        else:
            out.line(f"    {names.scalars[param.name]}: a Python number")
    for store in program.outputs:
        dtype = store.dtype or "the same dtype"
        out.line(f"    returns {store.name} [{' '.join(store.order)}]: {dtype}")
    out.line()
    out.line(
        "Strides are free, but the innermost axis must have stride 1. `out` receives the result"
    )
    out.line(
        "(a tuple for several). `plan` overrides the dispatch. Nothing waits for the device. The"
    )
    out.line("workspace comes from torch's allocator: stream-ordered, and fixed in a CUDA graph.")
    out.line("Raises ValueError if an argument does not fit.")
    out.line('"""')


def _checks(program: Program, names: HostNames, anchor: str, default: str, out: Writer) -> None:
    tensors = [p for p in program.params if isinstance(p, Input)]
    # The anchor comes first: its dtype and device are what the others are compared with.
    ordered = sorted(tensors, key=lambda p: names.tensors[p.name] != anchor)
    for param in ordered:
        name = names.tensors[param.name]
        axes = tuple_text(f'"{a}"' for a in param.order)
        if param.dtype is not None:
            dtypes = f"({TORCH_DTYPES[param.dtype]},)"
        else:
            dtypes = "FLOATS" if name == anchor else "(case,)"
        device = "" if name == anchor else f", {anchor}.device"
        out.line(f'_check("{name}", {name}, {axes}, {dtypes}, sizes{device})')
        if name == anchor:
            case = f"{anchor}.dtype" if param.dtype is None else TORCH_DTYPES[default]
            out.line(f"case = {case}")
    for scalar in (p for p in program.params if isinstance(p, Scalar)):
        name = names.scalars[scalar.name]
        kind = "float" if scalar.dtype == "fp32" else "int"
        out.line(f'{name} = _scalar("{name}", {name}, {kind})')


def _shape(store: Store, names: HostNames) -> str:
    if lost := [a for a in store.order if a not in names.sizes]:
        raise NotEmittable(
            f"no tensor of the signature has axis {lost[0]!r} of output {store.name!r}"
        )
    return tuple_text(names.sizes[a] for a in store.order)
