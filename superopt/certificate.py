"""The certificate beside a kernel file: what ``superopt verify`` re-checks from files alone.

It holds the algebra and every graph as text, the repairs, the dispatch rows, the seed, the
verdicts and the SHA-256 of the whole kernel file. A file ``<name>.cert.sha256``, the seal, holds
the hash of the certificate itself, so that any changed byte of the three is found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from superopt.case import Case
from superopt.case import case_from
from superopt.case import case_record
from superopt.emit.module import body_digest
from superopt.emit.plan import Row
from superopt.errors import SuperoptError
from superopt.errors import UserError
from superopt.repair.record import Repair
from superopt.repair.stored import repair_from
from superopt.repair.stored import repair_record
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.parse import parse_as
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import config_record
from superopt.ugraph.text import show
from superopt.verify.verdict import Verdict

SCHEMA = 1

Launches = tuple[Config, ...]


@dataclass(frozen=True)
class Certificate:
    """The claims about a kernel file.

    ``program`` and ``graphs`` have the user's names. ``repairs``: those of each graph, in
    canonical names, in which repairs are derived and judged. ``rows``: the dispatch rows.
    ``tuned``: (graph, its Configs) that were executed beside the small ones. ``scalars``:
    values of run-time scalars. ``cases``: those of the rows, with all that is drawn for them.
    ``seed``: the search's; the executions draw by the next one.
    ``verdicts``: by case, for readers of the file; they are not read back.
    """

    program: Program
    graphs: tuple[KernelGraph, ...]
    repairs: tuple[tuple[Repair, ...], ...]
    rows: tuple[Row, ...]
    tuned: tuple[tuple[int, Launches], ...]
    scalars: Mapping[str, float]
    seed: int
    verdicts: Mapping[str, Sequence[tuple[str, Verdict]]] = field(default_factory=dict)
    executed: tuple[str, ...] = ()
    not_executed: tuple[str, ...] = ()
    kernel_sha256: str = ""
    cases: tuple[Case, ...] = ()


def certificate_path(kernel: Path) -> Path:
    """Where the certificate of ``kernel`` lies."""
    return kernel.with_suffix(".cert.json")


def seal_path(kernel: Path) -> Path:
    """Where the certificate's own hash lies."""
    return kernel.with_suffix(".cert.sha256")


def write_certificate(kernel: Path, claims: Certificate) -> None:
    """Write the certificate of ``kernel`` and its seal; the hashes of ``claims`` are made here."""
    record = {
        "schema": SCHEMA,
        "tool": "superopt certificate",
        "function": claims.program.name,
        "kernel": kernel.name,
        "kernel_sha256": sha256(kernel.read_bytes()),
        "body_digest": body_digest(kernel.read_text()),
        "seed": claims.seed,
        "scalars": dict(claims.scalars),
        "cases": [case_record(c) for c in claims.cases],
        "program": show(claims.program),
        "graphs": [show(g) for g in claims.graphs],
        "repairs": [[repair_record(r) for r in found] for found in claims.repairs],
        "rows": [_row_record(row) for row in claims.rows],
        "tuned": [[graph, [config_record(c) for c in found]] for graph, found in claims.tuned],
        "verdicts": {
            case: [[claim, type(v).__name__, asdict(v)] for claim, v in found]
            for case, found in claims.verdicts.items()
        },
        "executed": list(claims.executed),
        "not_executed": list(claims.not_executed),
    }
    data = (json.dumps(record, indent=1) + "\n").encode()
    certificate_path(kernel).write_bytes(data)
    seal_path(kernel).write_bytes(_seal(data))


def changed(kernel: Path) -> list[str]:
    """Which of the three files are not those that were written together; none if all are.

    Raises:
        UserError: the kernel, the certificate or its seal is missing or unreadable.
    """
    data = {p: _bytes(p) for p in (kernel, certificate_path(kernel), seal_path(kernel))}
    certificate = data[certificate_path(kernel)]
    if _seal(certificate) != data[seal_path(kernel)]:
        return [f"{certificate_path(kernel).name} or {seal_path(kernel).name}"]
    if read_certificate(kernel).kernel_sha256 != sha256(data[kernel]):
        return [kernel.name]
    return []


def read_certificate(kernel: Path) -> Certificate:
    """The certificate of ``kernel``.

    Raises:
        UserError: it is missing, damaged, or of another schema.
    """
    path = certificate_path(kernel)
    try:
        record = json.loads(_bytes(path))
        if record["schema"] != SCHEMA:
            raise UserError(f"{path}: schema {record['schema']}, this superopt reads {SCHEMA}")
        return Certificate(
            program=parse_as(Program, record["program"]),
            graphs=tuple(parse_as(KernelGraph, g) for g in record["graphs"]),
            repairs=tuple(tuple(repair_from(r) for r in found) for found in record["repairs"]),
            rows=tuple(_row(r) for r in record["rows"]),
            tuned=tuple((graph, _configs(configs)) for graph, configs in record["tuned"]),
            scalars=record["scalars"],
            seed=record["seed"],
            executed=tuple(record["executed"]),
            not_executed=tuple(record["not_executed"]),
            kernel_sha256=record["kernel_sha256"],
            cases=tuple(case_from(c) for c in record.get("cases", ())),
        )
    except UserError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, SuperoptError) as error:
        raise UserError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; a kernel is verified with the files that the search wrote "
            f"beside it"
        ) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def _configs(records: Sequence[dict[str, Any]]) -> Launches:
    return tuple(config_from(c) for c in records)


def _row_record(row: Row) -> dict[str, Any]:
    return asdict(row) | {"configs": [config_record(c) for c in row.configs]}


def _row(record: dict[str, Any]) -> Row:
    return Row(
        record["name"],
        record["graph"],
        _configs(record["configs"]),
        tuple((a, n) for a, n in record["sizes"]),
        record["dtype"],
        record["tf32"],
        record["target"],
    )


def _seal(certificate: bytes) -> bytes:
    return f"{sha256(certificate)}\n".encode()


def sha256(data: bytes) -> str:
    """The hash as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()
