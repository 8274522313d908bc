"""``superopt verify``: a kernel file against its certificate, and the checks once more."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from superopt.certificate import Certificate
from superopt.certificate import certificate_path
from superopt.certificate import read_certificate
from superopt.certificate import seal_path
from superopt.certificate import sha256
from superopt.emit.module import body_digest
from superopt.verify.checks import check_floats
from superopt.verify.graphs import verify_graph
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken


def run_verify(kernel: Path) -> int:
    """0 if every claim about ``kernel`` holds, 1 if one fails."""
    certificate = read_certificate(kernel)
    console = Console(highlight=False, soft_wrap=True)
    unchanged = _unchanged(console, kernel, certificate)
    if not unchanged:
        console.print("FAILED: the files are not those that were verified; nothing was run")
        return 1
    holds = _graphs(console, certificate) and _floats(console, kernel, certificate)
    console.print("holds" if holds else "FAILED")
    return 0 if holds else 1


def _unchanged(console: Console, kernel: Path, certificate: Certificate) -> bool:
    """Whether no byte of the kernel file and of the certificate has changed."""
    seal = seal_path(kernel).read_text().strip()
    checks = {
        "certificate": sha256(certificate_path(kernel).read_bytes()) == seal,
        "kernel file": sha256(kernel.read_bytes()) == certificate.kernel_sha256,
        "text below the marker": body_digest(kernel.read_text()) == certificate.body_digest,
    }
    for what, same in checks.items():
        console.print(f"{what}: {'unchanged' if same else 'CHANGED'}")
    return all(checks.values())


def _graphs(console: Console, certificate: Certificate) -> bool:
    """Every graph against the algebra, and the limits of its loops."""
    holds = True
    for number, graph in enumerate(certificate.graphs):
        verdict = verify_graph(certificate.program, graph, certificate.seed)
        console.print(f"graph {number} equals the spec: {spoken(verdict)}", markup=False)
        holds = holds and accepted(verdict)
        for block in graph.kernels:
            for claim, limit in prove_limits(block):
                console.print(f"loop limits of {claim.axis}: {spoken(limit)}", markup=False)
                holds = holds and accepted(limit)
    return holds


def _floats(console: Console, kernel: Path, certificate: Certificate) -> bool:
    """The text, executed on the CPU."""
    report = check_floats(
        kernel,
        certificate.function,
        certificate.program,
        certificate.graphs,
        seed=certificate.seed + 1,
    )
    for figure in report.failures:
        console.print(f"executed: {figure}", markup=False)
    console.print(
        f"executed {len(report.figures)} times in fp32 and fp16 on the CPU: "
        f"{'within tolerance' if report.ok else 'NOT within tolerance'}"
    )
    console.print("bf16 on this GPU: not executed")
    return report.ok
