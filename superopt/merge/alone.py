"""What a part has to be for its results to be joined: where the spec alone would not say it.

The judgement is of a kernel that computes each part at its place in the whole, and keeps guards.
Whoever runs the spec on a part by itself gets something else where positions are read, and no
value where the spec has none of a part that is hidden entirely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from superopt.merge.judge import empty_parts
from superopt.merge.judge import undefined
from superopt.merge.tidy import along
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform


def conditions(program: Program, axis: str) -> tuple[str, ...]:
    """What is asked of parts of ``axis``, in sentences."""
    found = [] if empty_parts(program, axis) else ["Every part has at least one position."]
    if Index(axis) in topo(s.value for s in program.outputs):
        found.append(f"Positions on {axis} are those in the whole: in no part do they begin anew.")
    if any(undefined(p, {}) for p in _chosen(program, axis)):
        found.append("No part is hidden entirely: such a part has no value of its own.")
    return tuple(found)


def _chosen(program: Program, axis: str) -> Iterator[Program]:
    """The program with either arm of every choice that is made position by position."""
    roots = [s.value for s in program.outputs]
    for arm in (1, 2):

        def change(node: Node, arm: int = arm) -> Node:
            match node:
                case Map(fn=Fn.WHERE, args=(condition, *_)) if axis in condition.axes:
                    return along(node.args[arm], node.axes)
            return node

        new = transform(roots, change)
        values = (new[s.value] for s in program.outputs)
        yield replace(
            program,
            outputs=tuple(
                replace(s, value=v) for s, v in zip(program.outputs, values, strict=True)
            ),
        )
