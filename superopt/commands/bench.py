"""``superopt bench``: a printed kernel against its peers, timed on this machine's GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any

from superopt.case import Case
from superopt.case import case_record
from superopt.certificate import certificate_path
from superopt.certificate import read_certificate
from superopt.commands.bench_table import show_case
from superopt.commands.console import table_console
from superopt.device import target as device_of
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED
from superopt.errors import UserError
from superopt.loading import load
from superopt.report.directory import kernel_of
from superopt.tune.bench import MODES
from superopt.tune.bench_apart import Processes
from superopt.tune.bench_apart import in_process
from superopt.tune.bench_job import OURS
from superopt.tune.bench_job import BenchJob
from superopt.tune.machine import NO_GPU
from superopt.tune.peers import chosen
from superopt.tune.peers import load_peers
from superopt.ugraph.text import show
from superopt.verify.run.stand_in import lacking

SCHEMA = 1
BOTH = "both"
_CLOCKS = {"clocks.sm": "sm_mhz", "temperature.gpu": "celsius", "power.draw": "watts"}


@dataclass(frozen=True)
class Subject:
    """What is timed: the function, its cases, and where its algebra comes from (a spec, or the
    text of the certificate)."""

    function: str
    cases: tuple[Case, ...]
    spec: str
    program: str
    has_reference: bool


def run_bench(
    kernel: Path,
    against: str,
    peers: Path | None,
    spec: str,
    cases: tuple[str, ...],
    mode: str,
    rounds: int,
    seconds: float,
    out: Path | None,
    processes: Processes | None = None,
) -> int:
    """Times every selected case; 0 if the kernel passed its check and has a time in each.

    ``processes``: where the cases are timed, if the caller has some.

    Raises:
        UserError: a file, a case, a peer or the mode is not there.
    """
    modes = MODES if mode == BOTH else (mode,)
    kernel = kernel_of(kernel)
    check_options(kernel, mode, out)
    subject = from_spec(spec) if spec else from_certificate(kernel)
    selected = selected_cases(subject, cases)
    declared = load_peers(peers, subject.function) if peers else {}
    wanted = [name.strip() for name in against.split(",") if name.strip()]
    names = chosen(wanted, declared, subject.has_reference)
    if (gpu := _gpu()) is None:
        print(f"{kernel}: not timed: {NO_GPU}", file=sys.stderr)
        return NONE_FOUND
    console = table_console()
    job = BenchJob(
        kernel=str(kernel.resolve()),
        function=subject.function,
        spec=subject.spec,
        program=subject.program,
        case={},
        against=names,
        peers=str(peers.resolve()) if peers else "",
        modes=modes,
        rounds=rounds,
        target=device_of("auto").name,
        skip={},
    )
    entries: list[dict[str, Any]] = []
    record = {
        "schema": SCHEMA,
        "tool": "superopt bench",
        "kernel": kernel.name,
        "function": subject.function,
        "machine": gpu,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "cases": entries,
    }
    for case in selected:
        entries.append(entry_of(job, case, seconds, processes))
        if out is not None:  # after every case, so that an interruption loses nothing finished
            out.write_text(json.dumps(record, indent=1) + "\n")
        show_case(console, subject.function, entries[-1])
    return VERIFIED if all(timed(entry, modes) for entry in entries) else NONE_FOUND


def check_options(kernel: Path, mode: str, out: Path | None) -> None:
    """Raises a ``UserError`` if the mode, the kernel or the place of the figures is not there."""
    if mode not in (*MODES, BOTH):
        raise UserError(f"--mode {mode!r}: {', '.join(MODES)} or {BOTH}")
    if not kernel.is_file():
        raise UserError(f"{kernel}: no such kernel file")
    if lacking(kernel.read_text(errors="replace")):
        raise UserError(
            f"{kernel}: needs FlagTree, which is not here; nothing else is timed for it"
        )
    if out is not None and not out.parent.is_dir():
        raise UserError(f"--out {out}: no directory {out.parent}")
    if out is not None and out.is_dir():
        raise UserError(f"--out {out}: is a directory; figures go into a file")


def entry_of(
    job: BenchJob, case: Case, seconds: float, processes: Processes | None
) -> dict[str, Any]:
    """The figures of one case, with the clocks of the device around them."""
    job = replace(job, case=case_record(case))
    before = clocks()
    answer = processes.answer(job, seconds) if processes else in_process(job, seconds)
    return {
        "case": case.name,
        "sizes": dict(case.sizes),
        "dtype": case.storage,
        **answer,
        "clocks": {"before": before, "after": clocks()},
    }


def from_spec(spec: str) -> Subject:
    """The one spec that ``spec`` names.

    Raises:
        UserError: it names none, or a file with several.
    """
    found = load(spec)
    if len(found) > 1:
        names = ", ".join(s.name for s in found)
        raise UserError(f"--spec {spec}: it holds {names}; name one, as in {spec}:{found[0].name}")
    (one,) = found
    file, _, function = spec.rpartition(":")
    path = file if file and function == one.name else spec
    target = f"{Path(path).resolve()}:{one.name}"
    return Subject(one.name, one.cases, target, "", one.reference is not None)


def from_certificate(kernel: Path) -> Subject:
    """What the certificate beside ``kernel`` says: the algebra, and its cases.

    Raises:
        UserError: there is no readable certificate.
    """
    if not certificate_path(kernel).exists():
        raise UserError(f"{kernel}: no certificate beside it; give --spec FILE:FUNCTION")
    claims = read_certificate(kernel)
    if not claims.cases:
        raise UserError(f"{kernel}: its certificate names no cases; give --spec FILE:FUNCTION")
    return Subject(claims.program.name, claims.cases, "", show(claims.program), False)


def selected_cases(subject: Subject, names: Sequence[str]) -> tuple[Case, ...]:
    """The cases called ``names`` (all if there are none).

    Raises:
        UserError: there is no such case.
    """
    have = [c.name for c in subject.cases]
    for name in names:
        if name not in have:
            raise UserError(
                f"--case {name}: {subject.function} has no such case; it has {', '.join(have)}"
            )
    return tuple(c for c in subject.cases if not names or c.name in names)


def timed(entry: Mapping[str, Any], modes: Sequence[str]) -> bool:
    """Whether the kernel passed its check in a case and has a time in every mode."""
    ours = [r for r in entry["rows"] if r["name"] == OURS and "us" in r]
    return {r["mode"] for r in ours} == set(modes)


def _gpu() -> dict[str, str] | None:
    """What a time depends on beside the kernel; None without a GPU."""
    import torch

    if not torch.cuda.is_available():
        return None
    from dataclasses import asdict

    from superopt.tune.machine import here

    return asdict(here())


def clocks() -> dict[str, float]:
    """Clock of the multiprocessors, temperature and power now; empty where nobody says."""
    try:
        said = subprocess.run(
            ["nvidia-smi", f"--query-gpu={','.join(_CLOCKS)}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=10.0,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):  # a container without the tool
        return {}
    words = [w.strip() for w in said.splitlines()[0].split(",")] if said.strip() else []
    found: dict[str, float] = {}
    for name, word in zip(_CLOCKS.values(), words, strict=False):
        if word.replace(".", "", 1).isdigit():  # "[N/A]" where a card does not tell
            found[name] = float(word)
    return found
