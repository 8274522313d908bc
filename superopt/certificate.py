"""The certificate beside a kernel file: what ``superopt verify`` re-checks from files alone.

It holds the algebra and every graph as text, the dispatch rows, the seed, the verdicts and the
SHA-256 of the whole kernel file. A file ``<name>.cert.sha256`` holds the hash of the certificate
itself, so that any changed byte of either is found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superopt.emit.module import body_digest
from superopt.emit.plan import Row
from superopt.errors import SuperoptError
from superopt.errors import UserError
from superopt.run import CaseRun
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from superopt.verify.checks import FloatReport

SCHEMA = 1


@dataclass(frozen=True)
class Certificate:
    """A certificate that was read: the claims about a kernel file."""

    function: str
    program: Program
    graphs: tuple[KernelGraph, ...]
    rows: tuple[Row, ...]
    seed: int
    kernel_sha256: str
    body_digest: str
    record: dict[str, Any]


def certificate_path(kernel: Path) -> Path:
    """Where the certificate of ``kernel`` lies."""
    return kernel.with_suffix(".cert.json")


def seal_path(kernel: Path) -> Path:
    """Where the certificate's own hash lies."""
    return kernel.with_suffix(".cert.sha256")


def write_certificate(
    kernel: Path,
    program: Program,
    graphs: Sequence[KernelGraph],
    rows: Sequence[Row],
    results: Sequence[CaseRun],
    seed: int,
    report: FloatReport,
) -> None:
    """Write the certificate of ``kernel`` and its seal."""
    text = kernel.read_text()
    record = {
        "schema": SCHEMA,
        "tool": "superopt certificate",
        "function": program.name,
        "kernel": kernel.name,
        "kernel_sha256": sha256(kernel.read_bytes()),
        "body_digest": body_digest(text),
        "seed": seed,
        "program": show(program),
        "graphs": [show(g) for g in graphs],
        "rows": [asdict(row) for row in rows],
        "verdicts": {
            r.case.name: [[c, type(v).__name__, asdict(v)] for c, v in r.winner.evidence]
            for r in results
            if r.winner
        },
        "floats": [str(f) for f in report.figures],
        "not_executed": ["bf16 on this GPU", *report.skipped],
    }
    data = (json.dumps(record, indent=1) + "\n").encode()
    certificate_path(kernel).write_bytes(data)
    seal_path(kernel).write_text(sha256(data) + "\n")


def read_certificate(kernel: Path) -> Certificate:
    """The certificate of ``kernel``.

    Raises:
        UserError: the kernel, the certificate or its seal is missing or unreadable.
    """
    path = certificate_path(kernel)
    for needed in (kernel, path, seal_path(kernel)):
        if not needed.is_file():
            raise UserError(
                f"{needed}: no such file; a kernel is verified with the files beside it"
            )
    try:
        record = json.loads(path.read_text())
        program = parse(record["program"])
        graphs = tuple(parse(g) for g in record["graphs"])
        rows = tuple(_row(r) for r in record["rows"])
        assert isinstance(program, Program)
        assert all(isinstance(g, KernelGraph) for g in graphs)
        return Certificate(
            record["function"],
            program,
            graphs,  # type: ignore[arg-type]  # asserted above
            rows,
            record["seed"],
            record["kernel_sha256"],
            record["body_digest"],
            record,
        )
    except (ValueError, KeyError, TypeError, AssertionError, SuperoptError) as error:
        raise UserError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def _row(record: dict[str, Any]) -> Row:
    configs = tuple(
        Config(tuple((a, n) for a, n in c["tiles"]), c["parts"], c["warps"], c["stages"])
        for c in record["configs"]
    )
    sizes = tuple((a, n) for a, n in record["sizes"])
    return Row(
        record["name"],
        record["graph"],
        configs,
        sizes,
        record["dtype"],
        record["tf32"],
        record["target"],
    )


def sha256(data: bytes) -> str:
    """The hash as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()
