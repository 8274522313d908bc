"""What a text says that no reading models: which thread has an element, in which registers.

There "any other value may stand in its place" says nothing of the device, so that a change of it
is no other program and no equal one: it is not judged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from superopt.mutate.outcome import Subject
from superopt.mutate.source import SourceMutant

WHY = "no reading models layouts and registers, of which this is one"


def unmodelled(subject: Subject, mutant: SourceMutant) -> str:
    """Why a change cannot be judged; empty if it can."""
    inside = any(
        node is mutant.site.node for said in _layouts(subject.text.tree) for node in ast.walk(said)
    )
    return WHY if inside else ""


def _layouts(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions of a file that make or name a layout, or say how many registers."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=called)) if called.endswith("Layout"):
                yield node
            case ast.Call(func=ast.Attribute(attr="convert_layout"), args=[_, layout]):
                yield layout
                yield from (k.value for k in node.keywords)
            case ast.Call(func=ast.Attribute(attr="warp_specialize"), args=[_, _, registers]):
                yield registers
            case ast.Call(keywords=keywords):
                yield from (k.value for k in keywords if k.arg and k.arg.endswith("layout"))
