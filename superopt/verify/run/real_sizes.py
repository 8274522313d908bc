"""Float checks at the sizes of a case, on the device: inputs, references and limits in torch.

A float64 reference of a whole case does not fit a GPU. Axes that nothing folds are therefore
sampled: the kernel runs at full size, outputs are compared at some positions. Where masks read
the positions of such an axis, the reference is given the sampled ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import torch

from superopt.integers import Integers
from superopt.integers import integers as drawn_integers
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import kind_of_dtype
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import substitute
from superopt.verify.run.hostile import largest_value
from superopt.verify.run.hostile import nodes
from superopt.verify.run.run_kernel import TORCH_DTYPES
from superopt.verify.run.tolerance import Expected
from superopt.verify.run.tolerance import limited
from superopt.verify.run.tolerance import storage
from superopt.verify.run.torch_domain import TorchDomain

ELEMENTS_MOST = 1 << 26  # of one value of the reference: 0.5 GiB in float64

Tensors = dict[str, torch.Tensor]


def drawn(
    program: Program,
    sizes: Mapping[str, int],
    dtype: str,
    device: str,
    seed: int,
    scalars: Mapping[str, float] | None = None,
    integers: Mapping[str, Integers] | None = None,
) -> Tensors:
    """Ordinary inputs, as ``inputs.ordinary``, made on the device in storage dtypes.

    ``scalars``, ``integers``: what the case says of run-time scalars and of integer tensors.
    """
    random = torch.Generator(device).manual_seed(seed)
    given, rules = scalars or {}, integers or {}
    found: Tensors = {}
    for p in program.params:
        kind = TORCH_DTYPES[p.dtype or dtype]
        shape = tuple(sizes[a] for a in p.order) if isinstance(p, Input) else ()
        if not isinstance(p, Input):
            default = 1.0 if kind_of_dtype(p.dtype) is Kind.REAL else 2 * max(sizes.values()) // 3
            found[p.name] = torch.tensor(given.get(p.name, default), dtype=kind)
        elif p.name in rules:
            array = drawn_integers(rules[p.name], shape, seed)
            found[p.name] = torch.from_numpy(array).to(device, kind)
        elif kind_of_dtype(p.dtype) is Kind.REAL:
            normal = torch.randn(shape, generator=random, device=device, dtype=torch.float32)
            found[p.name] = normal.to(kind)
        elif kind_of_dtype(p.dtype) is Kind.INT:
            ids = torch.randint(0, 4, shape, generator=random, device=device)
            found[p.name] = ids.sort(dim=-1).values.to(kind) if shape else ids.to(kind)
        else:
            found[p.name] = torch.rand(shape, generator=random, device=device) < 0.75
    return found


def free_axes(program: Program) -> list[str]:
    """Axes whose positions do not influence each other: each could be computed alone."""
    everything = nodes(program)
    folded = {node.axis for node in everything if isinstance(node, Reduce | Scan | Recur)}
    folded |= {a for node in everything if isinstance(node, Recur) for a in node.mixed}
    outputs = [set(s.order) for s in program.outputs]
    axes = dict.fromkeys(a for s in program.outputs for a in s.order)
    return [a for a in axes if a not in folded and all(a in o for o in outputs)]


def sampled(
    program: Program, sizes: Mapping[str, int], most: int = ELEMENTS_MOST
) -> dict[str, list[int]]:
    """Positions of free axes at which a reference with values of ``most`` elements fits."""
    chosen: dict[str, list[int]] = {}
    lengths = dict(sizes)
    for axis in free_axes(program):
        volume = largest_value(program, lengths)
        count = max(1, min(sizes[axis], sizes[axis] * most // max(volume, 1)))
        if count < sizes[axis]:
            spaced = np.linspace(0, sizes[axis] - 1, count + 2)[1:-1] if count < 2 else None
            points = np.linspace(0, sizes[axis] - 1, count) if spaced is None else spaced
            chosen[axis] = sorted({round(float(p)) for p in points})
            lengths[axis] = len(chosen[axis])
    return chosen


def select(
    value: torch.Tensor, order: tuple[str, ...], at: Mapping[str, list[int]]
) -> torch.Tensor:
    """``value`` at the sampled positions."""
    for dim, axis in enumerate(order):
        if axis in at:
            places = torch.tensor(at[axis], device=value.device)
            value = value.index_select(dim, places)
    return value


def expected_at(
    program: Program,
    tensors: Tensors,
    sizes: Mapping[str, int],
    dtype: str,
    device: str,
    at: Mapping[str, list[int]],
    tf32: bool = False,
) -> dict[str, Expected]:
    """What each output should be at the sampled positions, as ``tolerance.expected``."""
    lengths = {axis: len(at.get(axis, range(size))) for axis, size in sizes.items()}
    few = {
        p.name: select(tensors[p.name], p.order if isinstance(p, Input) else (), at)
        for p in program.params
    }
    places = {_positions(axis).name: torch.tensor(found) for axis, found in at.items()}
    some = at_positions(program, sizes, at)

    def outputs(domain: TorchDomain) -> dict[str, torch.Tensor]:
        held = {name: domain.array(value) for name, value in (few | places).items()}
        return evaluate_program(some, domain, held, lengths)

    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        want = {n: _float64(v) for n, v in outputs(TorchDomain(device)).items()}
        runs = []
        for domain in (
            TorchDomain(device, torch.float32, dtype),
            TorchDomain(device, torch.float64, dtype, 0),
        ):
            found = outputs(domain)
            runs.append({s.name: _float64(found[s.name]) for s in program.outputs})
            del found
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed
    return {
        s.name: limited(s.name, storage(s, dtype), want[s.name], [r[s.name] for r in runs])
        for s in program.outputs
    }


def at_positions(
    program: Program, sizes: Mapping[str, int], at: Mapping[str, list[int]]
) -> Program:
    """``program`` on tensors that hold the sampled positions only: what it knows of positions
    and sizes of a sampled axis stays what it is at full size."""
    by: dict[Node, Node] = {}
    for axis in at:
        by |= {Index(axis): _positions(axis), Size(axis): Const(Fraction(sizes[axis]))}
    outputs = tuple(replace(s, value=substitute(s.value, by)) for s in program.outputs)
    return replace(program, outputs=outputs)


def _positions(axis: str) -> Input:
    """The tensor of the sampled positions of ``axis``; no parameter has such a name."""
    return Input(f"positions of {axis}", (axis,), "int64")


def _float64(value: torch.Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return value.to(torch.float64).cpu().numpy()
