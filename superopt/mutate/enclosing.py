"""What a change is seen from further out: the expressions around it, before and after."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from superopt.mutate.outcome import Subject
from superopt.mutate.reasons import around
from superopt.mutate.reasons import span
from superopt.mutate.source import Site
from superopt.mutate.source import SourceMutant


def enclosing(subject: Subject, mutant: SourceMutant) -> Iterator[SourceMutant]:
    """The same change as one of each expression around it, the nearest first."""
    found = [
        node
        for node in ast.walk(subject.text.tree)
        if isinstance(node, ast.expr) and _inside(mutant.site, node)
    ]
    for node in sorted(found, key=_length):
        outer = around(mutant.site, node)
        after = ast.unparse(ast.parse(part(mutant.text, subject.text.text, outer), mode="eval"))
        yield replace(mutant, site=outer, before=ast.unparse(node), after=after)


def part(changed: str, text: str, outer: Site) -> str:
    """What stands in a changed text where ``outer`` is in the old one."""
    start = _offset(text, outer.first)
    behind = len(text.encode()) - _offset(text, outer.last)
    whole = changed.encode()
    return whole[start : len(whole) - behind].decode()


def _inside(site: Site, node: ast.expr) -> bool:
    first, last = span(node)
    return (first, last) != (site.first, site.last) and first <= site.first and site.last <= last


def _length(node: ast.expr) -> tuple[int, int]:
    (top, left), (bottom, right) = span(node)
    return bottom - top, right - left


def _offset(text: str, at: tuple[int, int]) -> int:
    lines = text.splitlines(keepends=True)[: at[0] - 1]
    return sum(len(line.encode()) for line in lines) + at[1]
