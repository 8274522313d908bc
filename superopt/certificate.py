"""The certificate beside a kernel file: what ``superopt verify`` re-checks from files alone.

``<name>.cert.json`` holds the algebra and every graph as text, derivations, repairs, dispatch rows,
seeds and verdicts, float figures and versions; ``<name>.cert.smt2.gz`` every proof of a solver as
the question that it was asked. ``<name>.cert.sha256``, the seal, holds the SHA-256 of the kernel
file and of both, and of this list, so that any changed byte of the four is found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
from itertools import zip_longest
from pathlib import Path
from typing import Any
from typing import get_args

from superopt.case import Case
from superopt.case import case_from
from superopt.case import case_record
from superopt.emit.dialect import Dialect
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
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.parse import parse_as
from superopt.ugraph.split import launches
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import config_record
from superopt.ugraph.text import show
from superopt.verify.questions import UNSAT
from superopt.verify.questions import Question
from superopt.verify.questions import packed
from superopt.verify.questions import unpacked
from superopt.verify.readings import LOG2_LIMIT
from superopt.verify.verdict import Verdict
from superopt.versions import verifier
from superopt.versions import version_of

SCHEMA = 2
FIELDS = (
    "residues modulo chains of safe primes between 2**31 and 2**32; the seed, the trial and the "
    "draw decide primes and inputs (verify/field/primes.py, verify/source/trials.py)"
)
LINE_DIGITS = 6  # of the hash of a line, which only says where a file was changed
PACKAGES = ("superopt", "torch", "triton", "sympy", "z3-solver")

Launches = tuple[Config, ...]


@dataclass(frozen=True)
class Certificate:
    """The claims about a kernel file.

    ``program`` and ``graphs`` have the user's names. ``repairs``: those of each graph, in
    canonical names, in which repairs are derived and judged. ``rows``: the dispatch rows.
    ``tuned``: (graph, its Configs) that were executed beside the small ones. ``scalars``:
    values of run-time scalars. ``cases``: those of the rows, with all that is drawn for them.
    ``seed``: the search's; the executions draw by the next one.
    ``derivations``: of each graph, "law: before -> after". ``verdicts``: by case, ``laws``: those
    of the derivations. ``lines``: hashes of the kernel's lines. ``dialect``: the language that the
    file is printed in. ``verifier``: the code that made the claims (``versions.verifier``).
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
    lines: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    derivations: tuple[tuple[str, ...], ...] = ()
    laws: Sequence[tuple[str, Verdict]] = ()
    dialect: Dialect = Dialect.TRITON
    verifier: str = ""


def certificate_path(kernel: Path) -> Path:
    """Where the certificate of ``kernel`` lies."""
    return kernel.with_suffix(".cert.json")


def questions_path(kernel: Path) -> Path:
    """Where the proofs of ``kernel`` lie, as questions to solvers."""
    return kernel.with_suffix(".cert.smt2.gz")


def seal_path(kernel: Path) -> Path:
    """Where the hashes of the kernel and its certificate lie."""
    return kernel.with_suffix(".cert.sha256")


def write_certificate(
    kernel: Path, claims: Certificate, questions: Sequence[Question] = ()
) -> None:
    """Write the certificate of ``kernel`` and its seal; the hashes of ``claims`` are made here.

    Of ``questions`` those are kept that prove something: the ones without a counterexample.
    """
    proofs = [q for q in questions if q.answer == UNSAT]
    text = kernel.read_bytes()
    record = {
        "schema": SCHEMA,
        "tool": "superopt certificate",
        "function": claims.program.name,
        "dialect": claims.dialect.value,
        "kernel": kernel.name,
        "body_digest": body_digest(text.decode()),
        "lines": " ".join(_lines(text)),
        "versions": {name: version_of(name) for name in PACKAGES},
        "verifier": verifier(),
        "seed": claims.seed,
        "fields": FIELDS,
        "log2_limit": LOG2_LIMIT,
        "proofs": len(proofs),
        "scalars": dict(claims.scalars),
        "cases": [case_record(c) for c in claims.cases],
        "program": show(claims.program),
        "graphs": [show(g) for g in claims.graphs],
        "derivations": [list(steps) for steps in claims.derivations],
        "repairs": [[repair_record(r) for r in found] for found in claims.repairs],
        "rows": [_row_record(row) for row in claims.rows],
        "tuned": [[graph, [config_record(c) for c in found]] for graph, found in claims.tuned],
        "laws": _told(claims.laws),
        "verdicts": {case: _told(found) for case, found in claims.verdicts.items()},
        "executed": list(claims.executed),
        "not_executed": list(claims.not_executed),
    }
    data = (json.dumps(record, indent=1) + "\n").encode()
    certificate_path(kernel).write_bytes(data)
    questions_path(kernel).write_bytes(packed(proofs))
    seal(kernel)


def _sealed(kernel: Path) -> tuple[Path, ...]:
    return kernel, certificate_path(kernel), questions_path(kernel)


def seal(kernel: Path) -> None:
    """Writes the hashes of the files as they are, in the form of ``sha256sum``, and of the list."""
    listed = "".join(f"{sha256(_bytes(p))}  {p.name}\n" for p in _sealed(kernel))
    seal_path(kernel).write_text(f"{listed}{sha256(listed.encode())}\n")


def changed(kernel: Path) -> list[str]:
    """Which of the four files are not those that were written together; none if all are.

    The first line of a kernel that differs is named, if the certificate is as it was.

    Raises:
        UserError: one of them is missing or unreadable.
    """
    data = {p: _bytes(p) for p in (*_sealed(kernel), seal_path(kernel))}
    listed = b"\n".join(data[seal_path(kernel)].split(b"\n")[:-2]) + b"\n"  # the last: of the list
    if data[seal_path(kernel)] != b"%s%s\n" % (listed, sha256(listed).encode()):
        return [seal_path(kernel).name]
    hashes = [line.split(b" ")[0].decode() for line in listed.splitlines()]
    pairs = zip_longest(_sealed(kernel), hashes)  # files that were renamed together are the same
    found = [p.name for p, known in pairs if p is not None and sha256(data[p]) != known]
    if found == [kernel.name]:
        now, then = _lines(data[kernel]), read_certificate(kernel).lines
        at = next((n for n, (a, b) in enumerate(zip_longest(now, then), 1) if a != b), 0)
        return [f"{kernel.name}, line {at},"]
    return found


def is_of(claims: Certificate, kernel: Path) -> bool:
    """Whether ``claims`` were made about the text of ``kernel``, line by line; files that were
    sealed together may be those of different kernels."""
    return claims.lines == tuple(_lines(_bytes(kernel)))


def _lines(text: bytes) -> list[str]:
    return [sha256(line)[:LINE_DIGITS] for line in text.splitlines(keepends=True)]


def _told(claims: Sequence[tuple[str, Verdict]]) -> list[list[Any]]:
    return [[claim, type(v).__name__, asdict(v)] for claim, v in claims]


def _heard(claims: Sequence[Sequence[Any]]) -> list[tuple[str, Verdict]]:
    kinds = {kind.__name__: kind for kind in get_args(Verdict)}
    return [
        (claim, kinds[name](**{k: _tupled(v) for k, v in values.items()}))
        for claim, name, values in claims
    ]


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def read_questions(kernel: Path) -> tuple[Question, ...]:
    """The questions that the proofs about ``kernel`` were.

    Raises:
        UserError: their file is missing or damaged.
    """
    path = questions_path(kernel)
    try:
        return unpacked(_bytes(path))
    except ValueError as error:
        raise UserError(f"{path}: damaged: {error}") from error


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
        found = Certificate(
            program=parse_as(Program, record["program"]),
            graphs=tuple(parse_as(KernelGraph, g) for g in record["graphs"]),
            repairs=tuple(tuple(repair_from(r) for r in found) for found in record["repairs"]),
            rows=tuple(_row(r) for r in record["rows"]),
            tuned=tuple((graph, _configs(configs)) for graph, configs in record["tuned"]),
            scalars=record["scalars"],
            seed=record["seed"],
            executed=tuple(record["executed"]),
            not_executed=tuple(record["not_executed"]),
            lines=tuple(record["lines"].split(" ")),
            cases=tuple(case_from(c) for c in record.get("cases", ())),
            derivations=tuple(tuple(steps) for steps in record["derivations"]),
            verdicts={case: _heard(found) for case, found in record["verdicts"].items()},
            laws=_heard(record["laws"]),
            dialect=Dialect(record.get("dialect", Dialect.TRITON.value)),
            verifier=record.get("verifier", ""),
        )
        _check_parts(found)
        return found
    except UserError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, SuperoptError) as error:
        raise UserError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def _check_parts(claims: Certificate) -> None:
    """That the parts are about one another. Raises ValueError."""
    graphs = len(claims.graphs)
    if not graphs:
        raise ValueError("it has no graph")
    for row in claims.rows:
        if not isinstance(row.name, str) or not isinstance(row.dtype, str):
            raise ValueError(f"a row of case {row.name!r} in {row.dtype!r}")
    if not graphs == len(claims.repairs) == len(claims.derivations):
        raise ValueError(f"repairs and derivations are not those of {graphs} graphs")
    if type(claims.seed) is not int or claims.seed < 0:
        raise ValueError(f"seed {claims.seed!r}")
    for graph, configs in (*((r.graph, r.configs) for r in claims.rows), *claims.tuned):
        if graph not in range(graphs) or len(configs) != len(launches(claims.graphs[graph])):
            raise ValueError(f"numbers of a launch that graph {graph} does not have")
        for block, config in zip(launches(claims.graphs[graph]), configs, strict=True):
            if left := [a for a in tile_dimensions(block.places) if a not in config.tile]:
                raise ValueError(f"a launch of graph {graph} without a tile of {left[0]}")


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


def sha256(data: bytes) -> str:
    """The hash as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()
