"""What of a program its hostile inputs must aim at, read off its nodes.

*Stabilised* axes are those along which order, ties and outliers matter; *scores* are the values
that exponentials and extrema see; *conditions* are the masks.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import kind_of_dtype
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.verify.field.ties import asks_for_order


def nodes(program: Program) -> list[Node]:
    """All nodes of a program, arguments first."""
    return topo([s.value for s in program.outputs])


def float_inputs(program: Program) -> list[Input]:
    """The tensors that hold floats, in signature order."""
    tensors = [p for p in program.params if isinstance(p, Input)]
    return [p for p in tensors if kind_of_dtype(p.dtype) is Kind.REAL]


def stabilised_axes(program: Program) -> list[str]:
    """Axes under a max or min; if there are none, those on which a sum reads another fold over
    the same axis (a variance)."""
    folds = [n for n in nodes(program) if isinstance(n, Reduce)]
    extreme = [f.axis for f in folds if f.fn in (Fn.MAX, Fn.MIN)]
    nested = [
        f.axis
        for f in folds
        if any(isinstance(n, Reduce) and n.axis == f.axis for n in topo([f.arg]))
    ]
    return list(dict.fromkeys(extreme or nested))


def folded_axes(program: Program) -> list[str]:
    """The axes that some fold or scan runs over."""
    folds = [n for n in nodes(program) if isinstance(n, Reduce | Scan | Recur)]
    return list(dict.fromkeys(n.axis for n in folds))


def scores(program: Program) -> list[Node]:
    """Arguments of exponentials and of folds by max or min."""
    found: dict[Node, None] = {}
    for node in nodes(program):
        match node:
            case Reduce(fn=Fn.MAX | Fn.MIN, arg=arg) | Map(fn=Fn.EXP | Fn.EXP2, args=(arg,)):
                found[arg] = None
            case _:
                continue
    return list(found)


def below(roots: Iterable[Node]) -> set[str]:
    """The names of the tensors that ``roots`` read."""
    return {n.name for n in topo(roots) if isinstance(n, Input)}


def has_row_mask(program: Program) -> bool:
    """Whether a mask depends on two axes, as a causal one does."""
    return any(len(c.axes) > 1 for c in conditions(program))


def conditions(program: Program) -> list[Node]:
    """The conditions of selections that read positions or tensors of integers or truth values,
    but no floats, and the parts they are made of."""
    found: dict[Node, None] = {}
    for node in nodes(program):
        if isinstance(node, Map) and node.fn is Fn.WHERE:
            for part in topo(node.args[:1]):
                leaves = [n for n in topo([part]) if isinstance(n, Index | Input)]
                floats = any(isinstance(n, Input) and n.kind is Kind.REAL for n in leaves)
                if part.kind is Kind.BOOL and leaves and not floats:
                    found[part] = None
    return list(found)


def value_of(
    node: Node, program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int]
) -> Array:
    """The float64 value of a node of ``program``; dimensions are ``node.axes``."""
    probe = replace(program, outputs=(Store("probe", node.axes, None, node),))
    domain = FloatDomain(np.float64)
    held = {name: domain.array(value) for name, value in arrays.items()}
    return evaluate_program(probe, domain, held, sizes)["probe"]


def is_undefined(program: Program, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether some value of the program is NaN, as a mean over no positions is."""
    divisions = [n for n in nodes(program) if isinstance(n, Map) and n.fn is Fn.DIV]
    return any(np.isnan(value_of(n, program, arrays, sizes)).any() for n in divisions)


def largest_value(program: Program, sizes: Mapping[str, int]) -> int:
    """Elements of the largest value that an evaluation builds (no cubes of products)."""
    every = nodes(program)
    cubes = {n.arg for n in every if isinstance(n, Reduce) and n.fn is Fn.ADD}
    cubes = {n for n in cubes if isinstance(n, Map) and n.fn is Fn.MUL}
    return max((prod(sizes[a] for a in n.axes) for n in every if n not in cubes), default=1)


def distances(program: Program) -> dict[str, int]:
    """The axes that masks compare with whole numbers (a window), and the largest such number.

    At sizes up to it the mask hides nothing, and a loop that skips what it hides skips nothing.
    """
    found: dict[str, int] = {}
    for condition in conditions(program):
        below_it = topo([condition])
        numbers = [
            abs(int(n.value))
            for n in below_it
            if isinstance(n, Const) and n.kind is Kind.INT and n.value > 1
        ]
        for node in below_it:
            if isinstance(node, Index) and numbers:
                found[node.axis] = max(found.get(node.axis, 0), *numbers)
    return found


def compared(program: Program) -> dict[str, str]:
    """Integer tensors that are compared with positions (lengths, labels, starts of documents),
    and the axis of the positions."""
    found: dict[str, str] = {}
    for node in nodes(program):
        if isinstance(node, Map) and node.fn in (Fn.LT, Fn.LE, Fn.EQ):
            below_it = topo([node])
            axes = [n.axis for n in below_it if isinstance(n, Index)]
            for tensor in below_it if axes else ():
                if isinstance(tensor, Input) and tensor.kind is Kind.INT:
                    found.setdefault(tensor.name, axes[0])
    return found


def compared_as_they_are(program: Program) -> set[str]:
    """The float tensors that are compared with one another, which may be equal whatever the
    dtype; none if anything is compared that rounding may change."""
    found: set[str] = set()
    for node in nodes(program):
        if asks_for_order(node):
            assert isinstance(node, Map)
            if not all(isinstance(n, Input) for n in node.args):
                return set()
            found |= below(node.args)
    return found
