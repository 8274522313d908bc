"""What may be assigned by a statement that was left out, repeated or exchanged, and by one that
says which program does what."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from superopt.mutate.outcome import Subject
from superopt.mutate.reasons import AGAIN
from superopt.mutate.reasons import EITHER
from superopt.mutate.reasons import LAUNCH
from superopt.mutate.reasons import NAN
from superopt.mutate.reasons import NOTHING
from superopt.mutate.reasons import NUMBERED
from superopt.mutate.reasons import TIMING
from superopt.mutate.reasons import UNREAD
from superopt.mutate.reasons import WALKED
from superopt.mutate.reasons import Try
from superopt.mutate.reasons import around
from superopt.mutate.reasons import span
from superopt.mutate.source import Site
from superopt.mutate.source import SourceMutant
from superopt.mutate.source import replaced
from superopt.ugraph.split import launches

OTHER = "8 * 8"  # of a whole number, too; an infinity minus itself is undefined
PLANNED = "plan.launches"
LEADING = "tl.extra.cuda.gdc_launch_dependents"


def assigned(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """Texts in which a mutated statement assigns something of which nothing is known."""
    text, site = subject.text.text, mutant.site
    if mutant.after == "after the next":
        yield from _exchanged(subject, mutant)
    match site.node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) as node:
            lines, own = ast.unparse(value), around(site, node)
            if mutant.after.endswith("; again"):
                same = f"{name} = tl.where(({lines}) == {name}, {name}, {name} - {name} + {OTHER})"
                yield AGAIN, [replaced(text, site, f"{ast.unparse(node)}; {same}")]
                return
            if mutant.after == "pass":
                yield UNREAD, [replaced(text, own, f"never_read = {lines}")]
            yield EITHER, [replaced(text, own, f"{name} = {word}") for word in ("True", "False")]
            yield NOTHING, [replaced(text, own, f"{name} = ({lines}) * {NAN}")]
            for part in ast.walk(value):
                if isinstance(part, ast.Constant):
                    yield from numbers_of(subject, around(site, part))
        case ast.stmt() as node if _calls(node) == {LEADING} and mutant.after == "pass":
            yield TIMING, [mutant.text]


def walked(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """The tile of a walk, and that of the mutant, each one further, the last one first."""
    node = mutant.site.node
    if not isinstance(node, ast.BinOp) or not mutant.site.compiled:
        return
    for loop in ast.walk(subject.text.tree):
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[first, stop])):
                inside = any(inner is node for inner in ast.walk(loop))
                if inside and ast.unparse(first) == "0" and name in _names(mutant.after):
                    turned = [
                        f"((({tile}) + 1) % ({ast.unparse(stop)}))"
                        for tile in (mutant.before, mutant.after)
                    ]
                    yield WALKED, [replaced(subject.text.text, mutant.site, t) for t in turned]


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


def _exchanged(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """Every launch of the plan, where a statement reads the one that is named after it."""
    text, site = subject.text.text, mutant.site
    for node in ast.walk(subject.text.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=base)):
                if span(node)[1] == site.last and ast.unparse(base) == PLANNED:
                    line, margin = site.first[0] - 1, " " * site.first[1]
                    lines = text.splitlines(keepends=True)
                    named = (
                        f"{margin}{name} = {PLANNED}[{n}]\n"
                        for n in range(len(launches(subject.graph)))
                    )
                    yield LAUNCH, ["".join([*lines[:line], n, *lines[line:]]) for n in named]


def _calls(node: ast.stmt) -> set[str]:
    """The names of the functions that are called in a statement."""
    return {ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}


def numbers_of(subject: Subject, site: Site) -> Iterator[Try]:
    """Every launch of the plan, where a site is the number of one."""
    text = subject.text.text
    line, column = text.splitlines()[site.first[0] - 1], site.first[1]
    before = line.encode()[:column].decode()
    if before.endswith(f"{PLANNED}[") and isinstance(site.node, ast.Constant):
        count = len(launches(subject.graph))
        yield LAUNCH, [replaced(text, site, str(n)) for n in range(count)]


def numbered(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """The program's tiles, and those of the mutant, each one further, the last one first."""
    text, line = subject.text.text, mutant.site.statement
    tiles = [
        target.id
        for node in ast.walk(subject.text.tree)
        if isinstance(node, ast.Assign) and node.lineno == line
        for target in ast.walk(node.targets[0])
        if isinstance(target, ast.Name) and target.id.endswith("_tile")
    ]
    if not tiles or not mutant.site.compiled:
        return
    found = []
    for changed in (text, mutant.text):
        lines = changed.splitlines(keepends=True)
        margin = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip()))
        last = line + (mutant.after == "after the next")
        for tile in tiles:
            turned = f"{margin}{tile} = ({tile} + 1) % {tile}s\n"
            found.append("".join([*lines[:last], turned, *lines[last:]]))
    yield NUMBERED, found
