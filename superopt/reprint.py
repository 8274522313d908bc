"""A verified kernel file printed once more, in another dialect, and checked as it then stands.

All that is needed stands in its certificate: the algebra, the graphs, the rows. Nothing is searched
or chosen anew. The new file gets a certificate of its own, whose claims are about its own text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from superopt.again import Proofs
from superopt.again import execute_again
from superopt.again import prove_again
from superopt.again import read_again
from superopt.certificate import Certificate
from superopt.certificate import write_certificate
from superopt.emit.ahead import launch_specs
from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.errors import UserError
from superopt.header import title_of
from superopt.header import tuning
from superopt.header import wrapped
from superopt.header import written
from superopt.source import LaunchSpec
from superopt.tune.printed import has_roles
from superopt.verify.readings import NO_SOLVER
from superopt.verify.readings import FileReading
from superopt.verify.readings import together
from superopt.verify.run.checks import FloatReport
from superopt.verify.run.compile_ahead import Compiler
from superopt.verify.run.trial import NotCompiled
from superopt.verify.verdict import spoken

NO_FLAGTREE = "FlagTree's compiler and its hints: upstream Triton ran the text without them"
ROLES_READ = "functions with roles: read, not compiled, for upstream Triton has no such words"


@dataclass(frozen=True)
class Reprinted:
    """``file``: None if a check failed. ``failed``: which one, and what it said. ``told``: what
    was checked, line by line."""

    file: Path | None
    failed: str = ""
    told: tuple[str, ...] = ()


def in_dialect(claims: Certificate, dialect: Dialect, roles: bool) -> Certificate:
    """``claims`` for the file in ``dialect``; ``roles``: with the rows that ask for some.

    Raises:
        UserError: no row is left for a case.
    """
    rows = claims.rows if roles else tuple(r for r in claims.rows if not _has_roles(r))
    for name in dict.fromkeys(r.name for r in claims.rows):
        if all(r.name != name for r in rows):
            raise UserError(f"case {name!r} has no row without roles")
    tuned = claims.tuned if roles else tuple(t for t in claims.tuned if not has_roles(t[1]))
    return replace(claims, rows=rows, tuned=tuned, dialect=dialect)


def reprint(
    kernel: Path, claims: Certificate, out: Path, jobs: int, tell: Callable[[str], None]
) -> Reprinted:
    """Write ``out``: the graphs of ``kernel`` in the dialect of ``claims``, with its certificate.

    Raises:
        UserError: the dialect has no words for a graph, and the message names the term; or
            ``out`` cannot be written.
    """
    try:
        text = emit(claims.program, claims.graphs, claims.rows, Header(), dialect=claims.dialect)
    except NotEmittable as error:
        without = "; --level lite prints the plain functions" if any_roles(claims) else ""
        raise UserError(f"{claims.dialect.value}: {error}{without}") from error
    try:
        folder = tempfile.TemporaryDirectory(prefix=".", dir=out.parent)
    except OSError as error:
        raise _unwritable(out, error) from error
    with folder:  # a name of its own: any file of another name may be somebody's
        draft = Path(folder.name) / out.name
        draft.write_text(text)
        with Compiler(jobs) as compiler:
            return _checked(kernel, claims, out, draft, compiler, tell)


def any_roles(claims: Certificate) -> bool:
    """Whether some row asks for roles."""
    return any(map(_has_roles, claims.rows))


def _checked(
    kernel: Path,
    claims: Certificate,
    out: Path,
    draft: Path,
    compiler: Compiler,
    tell: Callable[[str], None],
) -> Reprinted:
    tell("proving the graphs")
    compiler.start()
    proofs = prove_again(claims)
    tell("reading the text")
    read = read_again(draft, claims, compiler.readings)
    wanting = [*proofs.wanting, *read.wanting()]
    if wanting:
        (_, (claim, verdict)), *_ = wanting
        return Reprinted(None, f"{claim}: {spoken(verdict)}")
    tell("compiling")
    compiled, failed = _compiled(draft, claims, compiler)
    if failed:
        return Reprinted(None, failed)
    tell("executing")
    floats = execute_again(draft, claims)
    if not floats.ok:
        what = str(floats.failures[0]) if floats.failures else "nothing could be executed"
        return Reprinted(None, f"executed: {what}")
    missing = _not_executed(claims, read, floats)
    block, told = _verdict(claims, proofs, read, floats, compiled, missing)
    old = written(kernel.read_text())
    # Times in the old header are those of the old text.
    header = replace(old, verdict=block, tuning=tuning(claims.rows))
    text = emit(claims.program, claims.graphs, claims.rows, header, dialect=claims.dialect)
    made = replace(
        claims,
        verdicts={r.name: (*proofs.graphs[r.graph], *read.claims[r.graph]) for r in claims.rows},
        laws=proofs.laws,
        executed=tuple(map(str, floats.figures)),
        not_executed=missing,
    )
    try:
        out.write_text(text)
        write_certificate(out, made, (*proofs.questions, *read.questions))
    except OSError as error:
        raise _unwritable(out, error) from error
    return Reprinted(out, told=told)


def _unwritable(out: Path, error: OSError) -> UserError:
    return UserError(f"{error.filename or out}: cannot be written: {error.strerror}")


def _compiled(draft: Path, claims: Certificate, compiler: Compiler) -> tuple[int, str]:
    """How many launches upstream's compiler takes, and the first that it refuses."""
    asked: dict[tuple[LaunchSpec, str], None] = {}
    for row in claims.rows:
        if claims.dialect is Dialect.FLAGTREE and _has_roles(row):
            continue
        graph, sizes = claims.graphs[row.graph], dict(row.sizes)
        specs = launch_specs(graph, row.configs, sizes, row.dtype, row.tf32, row.graph)
        asked |= {(spec, row.target): None for spec in specs if row.target}
    found = compiler.compile_all([(draft, spec, target) for spec, target in asked])
    refused = [f for f in found if isinstance(f, NotCompiled)]
    if refused:
        return 0, f"compile: {refused[0].function} for {refused[0].target}: {refused[0].why}"
    return len(found), ""


def _not_executed(claims: Certificate, read: FileReading, floats: FloatReport) -> tuple[str, ...]:
    missing = ["bf16 on this GPU", *floats.skipped]
    missing += read.open if read.solver else [NO_SOLVER]
    if claims.dialect is Dialect.FLAGTREE:
        missing += [NO_FLAGTREE, *([ROLES_READ] if any_roles(claims) else [])]
    return tuple(missing)


def _verdict(
    claims: Certificate,
    proofs: Proofs,
    read: FileReading,
    floats: FloatReport,
    compiled: int,
    missing: tuple[str, ...],
) -> tuple[str, tuple[str, ...]]:
    """The block of the header, and the lines for people."""
    lines = []
    for number, found in enumerate(proofs.graphs):
        cases = dict.fromkeys(r.name for r in claims.rows if r.graph == number)
        lines.append(title_of(number, claims.graphs[number], list(cases)))
        every = together((*found, *read.claims[number]))
        lines += [f"  {claim}: {spoken(verdict)}" for claim, verdict in every]
    dtypes = " and ".join(dict.fromkeys(f.dtype for f in floats.figures))
    run = f"{len(floats.figures)} executions in {dtypes} on the CPU: within the tolerance"
    ahead = f"{compiled} launch{'' if compiled == 1 else 'es'} compiled"
    if claims.dialect is Dialect.FLAGTREE:
        ahead += " by upstream Triton, without FlagTree's hints"
    ends = [run, ahead, *(f"not executed: {m}" for m in missing)]
    return wrapped([*lines, *ends]), tuple(ends)


def _has_roles(row: Row) -> bool:
    return has_roles(row.configs)
