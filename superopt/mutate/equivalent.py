"""Why a mutant that no reading finds is no other program: shown by machine, or not at all.

What was changed is replaced by something of which nothing is known, and the text is read again:
if it still passes, what stands there does not matter. Or the two values are proved to be the same
for all sizes, wherever they are computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from superopt.mutate.assigned import assigned
from superopt.mutate.assigned import numbered
from superopt.mutate.assigned import numbers_of
from superopt.mutate.assigned import walked
from superopt.mutate.converted import converted
from superopt.mutate.enclosing import enclosing
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import Subject
from superopt.mutate.probe import never
from superopt.mutate.probe import never_true
from superopt.mutate.reasons import ANY
from superopt.mutate.reasons import ANYWHERE
from superopt.mutate.reasons import APART
from superopt.mutate.reasons import EITHER
from superopt.mutate.reasons import FURTHER
from superopt.mutate.reasons import LESS
from superopt.mutate.reasons import MEMORY
from superopt.mutate.reasons import NAN
from superopt.mutate.reasons import NOTHING
from superopt.mutate.reasons import NUMBER
from superopt.mutate.reasons import NUMBERS
from superopt.mutate.reasons import OTHERS
from superopt.mutate.reasons import SAME
from superopt.mutate.reasons import SOME
from superopt.mutate.reasons import VALUE
from superopt.mutate.reasons import VALUES
from superopt.mutate.reasons import WHEN
from superopt.mutate.reasons import Try
from superopt.mutate.reasons import span
from superopt.mutate.reasons import with_any
from superopt.mutate.source import STATEMENT
from superopt.mutate.source import Site
from superopt.mutate.source import SourceMutant
from superopt.mutate.source import replaced

CAST, OTHER = "cast", "other value"


def explained(subject: Subject, mutant: SourceMutant) -> str:
    """The reason for which the mutant computes the same; empty if none is found."""
    others = numbered(subject, mutant), walked(subject, mutant)
    for reason, texts in chain(_tries(subject, mutant), *others):
        judge = subject.judged if reason in MEMORY else subject.in_field
        if texts and all(judge(t).by == SURVIVED for t in texts):
            return reason
    if mutant.kind == STATEMENT:
        return ""
    for seen in (mutant, *enclosing(subject, mutant)):
        if mutant.site.compiled and never(subject, seen):
            return SAME
    for seen in (mutant, *enclosing(subject, mutant)):
        if isinstance(seen.site.node, ast.BinOp | ast.Call) and _further(subject, seen):
            return FURTHER
    return WHEN if _asks(subject, mutant) and subject.judged(mutant.text).by == SURVIVED else ""


def _further(subject: Subject, mutant: SourceMutant) -> bool:
    """Whether the number moves to a side, for all sizes, to which it may move further."""
    if not mutant.site.compiled:
        return False
    text, a, b = subject.text.text, mutant.before, mutant.after
    for sign, beyond in (("-", ">"), ("+", "<")):
        texts = [replaced(text, mutant.site, f"(({a}) {sign} ({n}))") for n in NUMBERS]
        if all(subject.in_field(t).by == SURVIVED for t in texts):
            return never_true(subject, mutant, f"({b}) {beyond} ({a})")
    return False


def _tries(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """Texts that must all pass, and what follows if they do."""
    site, text = mutant.site, subject.text.text
    node = site.node
    if not isinstance(node, ast.expr):
        yield from assigned(subject, mutant)
    elif mutant.kind == OTHER and isinstance(node, ast.Call):
        yield from _other(text, site, node)
    else:
        yield from numbers_of(subject, site)
        yield from _plain(subject, site, node)
        yield NOTHING, [replaced(text, site, f"({mutant.before} * {NAN})")]
        match node:
            case ast.Constant(value=float()) | ast.Call(func=ast.Name(id="float")):
                yield SOME, [with_any(replaced(text, site, ANY))]
                yield VALUE, [replaced(text, site, f"({value})") for value in VALUES]
            case ast.Call(func=ast.Attribute(attr="maximum" | "minimum")):
                yield from _extremum(text, mutant, node)
            case ast.Call(func=ast.Attribute(attr="where"), args=[condition, yes, no]):
                yield from _choice(text, mutant, condition, yes, no)
        yield from _undefined(subject, mutant)
        if mutant.kind == CAST:  # which is the identity for these readings
            yield from converted(subject, mutant)
        else:
            for seen in (mutant, *filter(_chooses, enclosing(subject, mutant))):
                before, after = seen.before, seen.after
                both = f"tl.where(({before}) == ({after}), {before}, {NAN})"
                yield APART, [replaced(text, seen.site, both)]
        for seen in filter(_chooses, enclosing(subject, mutant)):
            yield from _decided(text, seen)
        for seen in filter(_is_condition, (mutant, *enclosing(subject, mutant))):
            yield EITHER, [replaced(text, seen.site, word) for word in ("True", "False")]
            if not site.compiled:
                only = f"({seen.after}) and (({seen.before}) or 1 // 0 > 0)"
                yield LESS, [replaced(text, seen.site, word) for word in ("False", only)]


def _plain(subject: Subject, site: Site, node: ast.expr) -> Iterator[Try]:
    """Numbers in the place of a number or name, truth values in that of anything else."""
    text = subject.text.text
    match node:
        case ast.Name() | ast.Constant(value=int()) if not _is_bool(node):
            yield NUMBER, [replaced(text, site, f"({n})") for n in NUMBERS]
        case _ if not _is_indexed(subject, site):
            yield EITHER, [replaced(text, site, word) for word in ("True", "False")]


def _other(text: str, site: Site, node: ast.Call) -> Iterator[Try]:
    """Other values in the lanes that a load leaves out."""
    given = [k for k in node.keywords if k.arg != "other"]
    calls = []
    for value in (NAN, *VALUES):
        keyword = ast.keyword("other", ast.parse(value, mode="eval").body)
        call = ast.Call(node.func, node.args, [*given, keyword])
        calls.append(replaced(text, site, ast.unparse(call)))
    yield NOTHING, calls[:1]
    yield VALUE, calls[1:]


def _extremum(text: str, mutant: SourceMutant, node: ast.Call) -> Iterator[Try]:
    """Numbers further off in the place of the operand that was dropped."""
    two = node.args
    if mutant.after not in map(ast.unparse, two):
        return
    sign = ast.Add() if ast.unparse(node.func).endswith("minimum") else ast.Sub()
    less = 1 if mutant.after == ast.unparse(two[0]) else 0
    further = []
    for n in NUMBERS:
        moved = list(two)
        moved[less] = ast.BinOp(two[less], sign, ast.parse(n, mode="eval").body)
        call = ast.Call(node.func, moved, node.keywords)
        further.append(replaced(text, mutant.site, ast.unparse(call)))
    yield FURTHER, further


def _choice(
    text: str, mutant: SourceMutant, condition: ast.expr, yes: ast.expr, no: ast.expr
) -> Iterator[Try]:
    """Something else in the arm that was dropped, or in both; numbers, if it is no float."""
    a, b = ast.unparse(yes), ast.unparse(no)

    def lost(form: str) -> str:
        kept = {a: (a, form.format(b)), b: (form.format(a), b)}
        first, second = kept.get(mutant.after, (form.format(a), form.format(b)))
        where = f"tl.where({ast.unparse(condition)}, {first}, {second})"
        return with_any(replaced(text, mutant.site, where))

    yield APART, [lost(f"({{}}) * {NAN}")]
    yield ANYWHERE, [lost(ANY)]
    yield OTHERS, [lost(n) for n in (*NUMBERS, "-2")]


def _decided(text: str, seen: SourceMutant) -> Iterator[Try]:
    """Something else where two conditions choose differently from the same arms."""
    match seen.site.node, ast.parse(seen.after, mode="eval").body:
        case ast.Call(args=[before, *arms]), ast.Call(args=[after, *others]):
            if not arms or list(map(ast.dump, arms)) != list(map(ast.dump, others)):
                return
            a, b = ast.unparse(before), ast.unparse(after)
            apart = f"(({a}) & ~({b})) | (~({a}) & ({b}))"
            forms = [f"tl.where({apart}, {n}, {seen.before})" for n in (ANY, *NUMBERS, "-2")]
            texts = [with_any(replaced(text, seen.site, form)) for form in forms]
            yield ANYWHERE, texts[:1]
            yield OTHERS, texts[1:]


def _chooses(seen: SourceMutant) -> bool:
    """Whether it is a choice or a load."""
    match seen.site.node:
        case ast.Call(func=ast.Attribute(attr="where" | "load")):
            return True
        case _:
            return False


def _is_condition(seen: SourceMutant) -> bool:
    """Whether it can only be true or false."""
    return isinstance(seen.site.node, ast.Compare | ast.BoolOp)


def _undefined(subject: Subject, mutant: SourceMutant) -> Iterator[Try]:
    """NaN where two conditions differ, if that is what the choice between them gives."""
    for node in ast.walk(subject.text.tree):
        match node:
            case ast.IfExp(test=test, orelse=other) if test is mutant.site.node:
                if ast.unparse(other) == "math.nan":
                    both = f"({mutant.before}) and ({mutant.after})"
                    yield APART, [replaced(subject.text.text, mutant.site, both)]


def _is_indexed(subject: Subject, site: Site) -> bool:
    """Whether a site is a tile that gets dimensions."""
    return any(
        isinstance(n, ast.Subscript) and span(n.value) == (site.first, site.last)
        for n in ast.walk(subject.text.tree)
    )


def _asks(subject: Subject, mutant: SourceMutant) -> bool:
    """Whether a site is in the condition under which a kernel is launched."""
    line = subject.text.text.splitlines()[mutant.site.statement - 1].strip()
    return mutant.site.function.startswith("_run_g") and line.startswith("if ")


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)
