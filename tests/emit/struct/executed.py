"""Executes printed thread graphs on numpy arrays, beside the meaning of their block graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superopt.emit.kernel import StructKernel
from superopt.emit.module import _helpers
from superopt.emit.number import python_number
from superopt.emit.runtime import ARITHMETIC
from superopt.emit.scalar import VALUES
from superopt.ugraph.evaluate import evaluate_launch
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.walk import topo
from tests.emit.struct.simulated import Described
from tests.emit.struct.simulated import Machine
from tests.emit.struct.simulated import Pointer
from tests.emit.struct.simulated import run

AT_ONCE = 2  # programs that take all tiles
Sizes = dict[str, int]
Arrays = dict[str, np.ndarray]  # type: ignore[type-arg]


def inputs(block: BlockGraph, sizes: Sizes, seed: int = 0) -> Arrays:
    draw = np.random.default_rng(seed)
    found = {n.name: n for n in topo(block.roots()) if isinstance(n, Input)}

    def drawn(node: Input) -> Any:
        shape = [sizes[a] for a in node.order]
        if node.kind is Kind.INT:  # positions, some of them before and behind all
            return draw.integers(-2, max(shape) + 2, shape, dtype=np.int32)
        return draw.standard_normal(shape).astype(np.float32) / 2

    return {name: drawn(node) for name, node in sorted(found.items())}


def arguments(graph: ThreadGraph, printed: StructKernel, arrays: Arrays, sizes: Sizes) -> Any:
    kernel, tiles = printed.kernel, graph.config.tile
    found: dict[str, Any] = {}
    for tensor in kernel.tensors:
        array = arrays[tensor.name]
        box = [tiles.get(a, 1) for a in tensor.order]
        found[tensor.pointer] = Described(array, box) if tensor.described else Pointer(array)
        for axis, stride in tensor.strides:
            found[stride] = math.prod(array.shape[tensor.order.index(axis) + 1 :])
    found |= {parameter: sizes[axis] for axis, parameter in kernel.sizes}
    known: dict[str, Any] = {}
    exec("import math\n" + "".join(ARITHMETIC.values()), known)
    known |= {c.value: type("", (), {"value": float(text)}) for c, text in VALUES.items()}
    for scalar in kernel.scalars:
        text = python_number(scalar.value, {a: str(n) for a, n in sizes.items()}, {})
        found[scalar.parameter] = eval(text, known)
    for tile in kernel.tiles:
        whole = tiles[tile.axis] * (printed.consumers if tile.axis == printed.rows else 1)
        found |= {tile.tile: tiles[tile.axis], tile.even: sizes[tile.axis] % whole == 0}
    return found | dict(printed.slots) | ({"GROUP": 2} if kernel.grouped else {})


def programs(graph: ThreadGraph, sizes: Sizes) -> int:
    tiles, count = graph.config.tile, 1
    for turn in graph.block.order:
        tile = tiles.get(turn.axis, 1) * (graph.consumers if turn.axis == graph.split else 1)
        place = graph.block.place[turn.axis]
        count *= -(-sizes[turn.axis] // tile) if place == Grid() else sizes[turn.axis]
    return count


def execute(
    graph: ThreadGraph,
    printed: StructKernel,
    arrays: Arrays,
    sizes: Sizes,
    seed: int = 0,
    machine: type[Machine] = Machine,
) -> Arrays:
    """What the text stores; NaN where it stores nothing."""
    stores = {
        s.name: np.full([sizes[a] for a in s.order], np.nan, np.float32) for s in graph.block.stores
    }
    constants = "".join(f"{c.value} = {text}\n" for c, text in VALUES.items())
    text = f"{constants}{_helpers([printed.kernel])}\n\n{printed.kernel.text}"
    given = arguments(graph, printed, arrays | stores, sizes)
    count = programs(graph, sizes)
    count = min(count, AT_ONCE) if graph.persistent else count
    run(text, printed.kernel.name, count, given, seed, machine)
    return stores


def wanted(graph: ThreadGraph, arrays: Arrays, sizes: Sizes) -> Arrays:
    """What the block graph means."""
    domain = FloatDomain()
    exact = {n: a.astype(np.float64) if a.dtype.kind == "f" else a for n, a in arrays.items()}
    return evaluate_launch(graph.block, domain, exact, sizes, graph.config)


def error(found: Arrays, meant: Arrays) -> float:
    """The largest relative error of a stored tensor."""
    return max(
        float(np.linalg.norm(found[n] - meant[n]) / max(np.linalg.norm(meant[n]), 1e-30))
        for n in found
    )
