"""Whole numbers of a text that no size reaches at which it is read.

``tl.where(n_at < 100000, x, 0.0)`` is ``x`` at all sizes that a reading has time for. Numbers that
stand in the spec or in the graph are distances, which are also read small (``distances.py``); any
other one beyond the positions that are read decides something that no reading has seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction

from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Const
from superopt.ugraph.node import Node
from superopt.ugraph.walk import topo
from superopt.verify.source.load import LARGEST
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import distances_in
from superopt.verify.source.load import roles_of

POSITIONS = 8  # that every axis has in some trial, unless each of them costs a root or a choice
LEAST = 16  # positions of a tile for the matrix unit, as launchers say
NEXT = 1  # a limit that is exclusive is printed as one that is not


def unreached(
    text: KernelText, program: Program, graph: KernelGraph, index: int, function: str
) -> str | None:
    """The first number of graph ``index`` that neither spec nor graph has, with its line; or None.

    Functions with roles have a reading of their own.
    """
    known = {size for _, size in program.fixed} | {len(program.outputs)}
    for node in topo(_roots(program, graph)):
        if isinstance(node, Const) and isinstance(node.value, Fraction):
            over, under = abs(node.value.numerator), node.value.denominator
            known |= {over - NEXT, over, over + NEXT, under}
    for limit, nodes in (
        (POSITIONS, _in_kernels(text, index)),
        (LEAST, _in_launcher(text, index, function)),
    ):
        for numeral, number in nodes:
            if limit < number < LARGEST and number not in known:
                return f"line {numeral.lineno}: {number} is beyond the positions that are read"
    return None


def _roots(program: Program, graph: KernelGraph) -> list[Node]:
    roots = [s.value for s in program.outputs]
    for block in graph.kernels:
        roots += [s.value for s in block.all_stores]
        for walk in block.nest:
            roots += _of_walk(walk)
    return roots


def _of_walk(walk: Walk) -> Iterator[Node]:
    for carry in walk.carries:
        yield carry.term
        yield from (m.factor for m in carry.moves)
    yield from (b.offset for b in walk.limits)
    if walk.clear is not None:
        yield from walk.clear.conditions
        yield from (b.offset for b in (*walk.clear.start, *walk.clear.stop))


def _in_kernels(text: KernelText, index: int) -> Iterator[tuple[ast.Constant, int]]:
    """The numbers in the kernels of a graph and in what kernels call."""
    roles = roles_of(text.tree)
    for name in text.kernels:
        graph = re.fullmatch(r"\w+_g(\d+)_k\d+\w*", name)
        if name not in roles and (graph is None or int(graph[1]) == index):
            yield from distances_in(text, name)


def _in_launcher(text: KernelText, index: int, function: str) -> Iterator[tuple[ast.Constant, int]]:
    """Those in the functions that are called on the way to the launches."""
    for name in (function, f"_run_g{index}"):
        for node in ast.walk(text.functions[name]) if name in text.functions else ():
            if isinstance(node, ast.Constant) and type(node.value) is int:
                yield node, node.value
