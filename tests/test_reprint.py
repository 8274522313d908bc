"""A searched kernel printed once more, from its certificate."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from superopt.certificate import certificate_path
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.certificate import read_questions
from superopt.certificate import write_certificate
from superopt.commands.doctor_kernel import PLAIN
from superopt.commands.doctor_kernel import ROLES
from superopt.commands.doctor_kernel import SIZES
from superopt.commands.doctor_kernel import parsed
from superopt.emit.dialect import Dialect
from superopt.emit.module import body_digest
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import UserError
from superopt.reprint import NO_FLAGTREE
from superopt.reprint import ROLES_READ
from superopt.reprint import in_dialect
from superopt.reprint import reprint
from superopt.ugraph.levels import Config
from tests.emit.struct.test_launch import WIDE
from tests.emit.struct.test_launch import online
from tests.emit.struct.test_launch import row
from tests.samples import attention


def silent(_):
    return None


@pytest.fixture(scope="module")
def printed(searched, tmp_path_factory):
    """The searched kernel in FlagTree's words. Its proofs, readings, compiler and executions are
    made again, so it takes some seconds."""
    folder = tmp_path_factory.mktemp("printed")
    claims = in_dialect(read_certificate(searched.kernel), Dialect.FLAGTREE, roles=True)
    ours = reprint(searched.kernel, claims, folder / "ours.py", 1, silent)
    assert ours.file is not None, ours.failed
    return ours


def test_the_certificate_is_about_the_new_text(printed, searched):
    assert changed(printed.file) == []
    claims, old = read_certificate(printed.file), read_certificate(searched.kernel)
    assert (claims.dialect, old.dialect) == (Dialect.FLAGTREE, Dialect.TRITON)
    assert (claims.program, claims.graphs, claims.rows) == (old.program, old.graphs, old.rows)
    assert NO_FLAGTREE in claims.not_executed
    assert ROLES_READ not in claims.not_executed
    assert claims.executed
    assert read_questions(printed.file)
    assert body_digest(printed.file.read_text()) != body_digest(searched.kernel.read_text())


def test_it_is_verified_like_any_other(printed, cli):
    said = cli("verify", printed.file, "--quick")
    assert said.code == 0, said.out
    assert "dialect: flagtree\n" in said.out
    assert "graph 0, text equals spec: sampled at" in said.out


def test_the_header_keeps_the_spec_and_says_what_was_checked_anew(printed, searched):
    ours, theirs = printed.file.read_text(), searched.kernel.read_text()
    spec = ours.split("# Spec:")[1].split("# Verdict:")[0]
    assert spec == theirs.split("# Spec:")[1].split("# Verdict:")[0]
    titles = [re.findall(r"graph \d+ \(\w+\), for .*:", text) for text in (ours, theirs)]
    assert titles[0] == titles[1]
    assert len(titles[0]) >= 2  # over derivation and verdict
    assert ours.split("# Tuning:")[1].split("# sha256")[0] in theirs
    assert "launches compiled by upstream Triton, without FlagTree's hints" in ours
    assert any("within the tolerance" in line for line in printed.told)


def test_nothing_is_lost_on_the_way_there_and_back(printed, searched):
    claims = in_dialect(read_certificate(printed.file), Dialect.TRITON, roles=True)
    again = emit(claims.program, claims.graphs, claims.rows, Header(), dialect=claims.dialect)
    assert body_digest(again) == body_digest(searched.kernel.read_text())


def with_roles(searched, **more):
    graph = replace(online(False), outputs=online(False).outputs)
    rows = (row(replace(WIDE, **more)), row(Config(WIDE.tiles), target="sm_80"))
    rows = tuple(replace(r, name="case") for r in rows)
    return replace(
        read_certificate(searched.kernel),
        program=attention(),
        graphs=(graph,),
        repairs=((),),
        derivations=((),),
        rows=rows,
        tuned=tuple((0, r.configs) for r in rows),
    )


def test_what_has_no_word_is_refused_by_name(searched, tmp_path):
    claims = in_dialect(with_roles(searched, ring=True), Dialect.FLAGTREE, roles=True)
    with pytest.raises(UserError, match=r"take turns have no word.*; --level lite prints"):
        reprint(searched.kernel, claims, tmp_path / "ours.py", 1, silent)
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_that_cannot_be_written_is_no_fault_of_ours(searched, tmp_path, monkeypatch):
    """What is executed is left aside: the checks are those of every other file here."""
    executed = SimpleNamespace(ok=True, figures=(), skipped=())
    monkeypatch.setattr("superopt.reprint.execute_again", lambda *_: executed)
    monkeypatch.setattr("superopt.reprint._compiled", lambda *_: (1, ""))
    claims = in_dialect(read_certificate(searched.kernel), Dialect.FLAGTREE, roles=True)
    out = tmp_path / "ours.py"
    certificate_path(out).mkdir()
    with pytest.raises(UserError, match=r"ours\.cert\.json: cannot be written: Is a directory"):
        reprint(searched.kernel, claims, out, 1, silent)


def test_roles_are_read_and_said_not_to_be_compiled(searched, tmp_path):
    """From proofs to executions, so it takes some seconds, too."""
    program, graph = parsed()
    rows = (
        Row("case", 0, (ROLES,), SIZES, target="sm_90"),
        Row("case", 0, (PLAIN,), SIZES, target="sm_90"),
    )
    claims = replace(
        read_certificate(searched.kernel),
        program=program,
        graphs=(graph,),
        repairs=((),),
        derivations=((),),
        rows=rows,
        tuned=(),
    )
    claims = in_dialect(claims, Dialect.FLAGTREE, roles=True)
    done = reprint(searched.kernel, claims, tmp_path / "ours.py", 1, silent)
    assert done.file is not None, done.failed
    assert "1 launch compiled by upstream Triton" in "\n".join(done.told)
    assert "_pipe_0 = tle.pipe(" in done.file.read_text()
    assert "roles compute the spec in every order, with 1 consumers" in done.file.read_text()
    assert ROLES_READ in read_certificate(done.file).not_executed


def test_without_roles_the_plain_rows_are_left(searched):
    claims = with_roles(searched)
    found = in_dialect(claims, Dialect.FLAGTREE, roles=False)
    assert [r.target for r in found.rows] == ["sm_80"]
    assert [configs for _, configs in found.tuned] == [found.rows[0].configs]
    alone = replace(claims, rows=claims.rows[:1])
    with pytest.raises(UserError, match="case 'case' has no row without roles"):
        in_dialect(alone, Dialect.FLAGTREE, roles=False)


def test_a_text_that_is_wrong_is_not_written(searched, tmp_path):
    """The repair of its walk is not in the certificate, so its moves are unexplained. A file of
    somebody's with a hidden name is left alone."""
    claims = replace(read_certificate(searched.kernel), repairs=((),))
    (tmp_path / ".ours.py").write_text("mine")
    done = reprint(searched.kernel, claims, tmp_path / "ours.py", 1, silent)
    assert done.file is None
    assert "no repair explains them" in done.failed
    assert [p.name for p in tmp_path.iterdir()] == [".ours.py"]
    assert (tmp_path / ".ours.py").read_text() == "mine"


def test_an_older_certificate_is_one_of_the_first_dialect(searched, tmp_path):
    copy = tmp_path / searched.kernel.name
    copy.write_text(searched.kernel.read_text())
    write_certificate(copy, read_certificate(searched.kernel))
    path = certificate_path(copy)
    record = json.loads(path.read_text())
    assert record.pop("dialect") == "triton"
    path.write_text(json.dumps(record))
    assert read_certificate(copy).dialect is Dialect.TRITON
