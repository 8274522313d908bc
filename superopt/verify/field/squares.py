"""Points at which square roots exist: rows are drawn again until what stands under a root is one.

A residue has a root if it is a square, which half of them are, at every level; a program that
takes a root for each of many positions would hardly ever be decided at a point drawn blindly. The
points that remain are those at which the roots exist, and no others are claimed anything about.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import promoted
from superopt.verify.field.array import zero_of
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.residues import Bools
from superopt.verify.field.residues import Residue

ATTEMPTS = 40
Redraw = Callable[[Input, int], FieldArray]  # a parameter, drawn for the n-th time


def with_roots(
    program: Program,
    domain: FieldDomain,
    arrays: Mapping[str, FieldArray],
    sizes: Mapping[str, int],
    redraw: Redraw,
) -> dict[str, FieldArray]:
    """``arrays`` with rows drawn again where a root of them alone does not exist."""
    found = dict(arrays)
    for tensor, arguments in roots_by_tensor(program).items():
        probe = Program(
            program.name,
            program.params,
            tuple(Store(f"root{i}", a.axes, None, a) for i, a in enumerate(arguments)),
        )
        for attempt in range(1, ATTEMPTS):
            values = evaluate_program(probe, domain, found, sizes)
            bad = [_without_root(domain, value) for value in values.values()]
            rows = np.logical_or.reduce(np.broadcast_arrays(*bad))
            if not rows.any():
                break
            mask = _along(rows, arguments[0].axes, tensor)
            found[tensor.name] = _mixed(mask, redraw(tensor, attempt), found[tensor.name])
    return found


def roots_by_tensor(program: Program) -> dict[Input, list[Node]]:
    """What stands under roots and varies with one tensor of floats, whose axes it has.

    A tensor under roots over different axes is left out: its rows are not independent.
    """
    found: dict[Input, list[Node]] = {}
    lost: set[Input] = set()
    for node in topo([s.value for s in program.outputs]):
        if not isinstance(node, Map) or node.fn not in (Fn.SQRT, Fn.RSQRT):
            continue
        (argument,) = node.args
        below = [n for n in topo([argument]) if isinstance(n, Input) and n.kind is Kind.REAL]
        others = found.get(below[0], [argument]) if below else []
        fits = len(below) == 1 and set(argument.axes) <= set(below[0].axes)
        if fits and others[0].axes == argument.axes:
            found.setdefault(below[0], []).append(argument)
        else:
            lost.update(below)
    return {tensor: nodes for tensor, nodes in found.items() if tensor not in lost}


def _without_root(domain: FieldDomain, value: FieldArray) -> Bools:
    value = promoted(domain.tower, value)
    bad: Bools = np.zeros(value.tag.shape, np.bool_)
    for level, r in enumerate(value.levels):
        if r is not None:
            bad = bad | (r.known & ~domain.tower.is_square(level, r.value))
    return bad & ~zero_of(value) & value.finite


def _along(rows: Bools, axes: tuple[str, ...], tensor: Input) -> Bools:
    """A mask over ``axes`` as one over the tensor's, in memory order, that broadcasts."""
    kept = [a for a in tensor.order if a in axes]
    turned = rows.transpose((0, *(1 + axes.index(a) for a in kept)))
    dims = iter(turned.shape[1:])
    shape = tuple(next(dims) if a in axes else 1 for a in tensor.order)
    return turned.reshape((turned.shape[0], *shape))


def _mixed(mask: Bools, new: FieldArray, old: FieldArray) -> FieldArray:
    levels: list[Residue | None] = []
    for x, y in zip(new.levels, old.levels, strict=True):
        assert x is not None
        assert y is not None
        levels.append(Residue(np.where(mask, x.value, y.value), y.known))
    return replace(old, levels=tuple(levels))
