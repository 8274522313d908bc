"""``superopt verify``: a kernel file against its certificate, and the checks once more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from superopt.assemble import execute_again
from superopt.certificate import Certificate
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.commands.console import line_console
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.examine import claims_in_words
from superopt.repair.record import Repair
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename
from superopt.verify.judge import judge
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def run_verify(kernel: Path) -> int:
    """0 if every claim about ``kernel`` holds, 1 if one fails.

    Raises:
        UserError: one of its files is missing or unreadable.
    """
    console = line_console()
    if different := changed(kernel):
        console.print(f"FAILED: {different[0]} is not as it was verified; nothing was run")
        return NONE_FOUND
    console.print("files: unchanged since they were verified")
    certificate = read_certificate(kernel)
    holds = _graphs(console, certificate)
    holds = _floats(console, kernel, certificate) and holds
    console.print("holds" if holds else "FAILED")
    return VERIFIED if holds else NONE_FOUND


def _graphs(console: Console, certificate: Certificate) -> bool:
    """Every graph: its equality with the algebra, its repairs, and the limits of its loops.

    All is judged in canonical names, as in the search, so that the answers are the same.
    """
    program, names = canonical(certificate.program)
    axes = {user: ours for ours, user in names.axes.items()}
    tensors = {user: ours for ours, user in names.tensors.items()}
    holds = True
    for number, graph in enumerate(certificate.graphs):
        repairs = certificate.repairs[number]
        found = judge(program, rename(graph, axes, tensors), repairs, certificate.seed)
        for claim, verdict in claims_in_words(found.verdicts, names):
            word = "" if accepted(verdict) else "FAILED: "
            console.print(f"{word}graph {number}, {claim}: {spoken(verdict)}")
        holds = holds and found.accepted
        if missing := _unexplained(graph, repairs):
            console.print(f"FAILED: graph {number}: no repair explains the moves of {missing[0]}")
            holds = False
    return holds


def _unexplained(graph: KernelGraph, repairs: Sequence[Repair]) -> list[str]:
    """The carries that are moved without being a component of a repair."""
    known = {c.name for r in repairs for c in r.components}
    walks = (w for k in graph.kernels for w in k.nest)
    return [c.name for w in walks for c in w.carries if c.moves and c.name not in known]


def _floats(console: Console, kernel: Path, certificate: Certificate) -> bool:
    """The text, executed on the CPU on the inputs of the search."""
    report = execute_again(kernel, certificate)
    for figure in report.failures:
        console.print(f"FAILED: executed: {figure}")
    word = "within the tolerance" if report.ok else "NOT within the tolerance"
    console.print(f"{len(report.figures)} executions in fp32 and fp16 on the CPU: {word}")
    for what in certificate.not_executed:
        console.print(f"not executed: {what}")
    return report.ok
