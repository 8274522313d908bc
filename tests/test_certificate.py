from __future__ import annotations

import gzip
import json
import shutil
from random import Random

import pytest

from superopt.certificate import certificate_path
from superopt.certificate import changed
from superopt.certificate import questions_path
from superopt.certificate import read_certificate
from superopt.certificate import read_questions
from superopt.certificate import seal
from superopt.certificate import seal_path
from superopt.errors import UserError
from superopt.loading import load
from superopt.ugraph.names import canonical
from tests.conftest import SOFTMAX


def itself(kernel):
    return kernel


FILES = (itself, certificate_path, questions_path, seal_path)


@pytest.fixture
def kernel(searched, tmp_path):
    """A copy of a searched kernel with the files beside it."""
    return copied(searched.kernel, tmp_path)


def copied(kernel, folder):
    for path in FILES:
        shutil.copy(path(kernel), folder)
    return folder / kernel.name


def test_the_claims_are_those_of_the_search(kernel, searched):
    assert changed(kernel) == []
    found = read_certificate(kernel)
    (spec,) = load(f"{SOFTMAX}:softmax")
    assert canonical(found.program)[0] == canonical(spec.program)[0]
    assert len(found.graphs) == 1
    assert len(found.repairs) == 1
    assert [r.carry.name for r in found.repairs[0]] == ["sum0"]
    assert {r.target for r in found.rows} == {"sm_80", "sm_90", "sm_100"}
    assert found.not_executed[0] == "bf16 on this GPU"
    (steps,) = found.derivations
    assert any(step.startswith("exponentials in base two: ") for step in steps)
    record = json.loads(certificate_path(kernel).read_text())
    assert record["log2_limit"] == -60.0
    assert record["versions"]["z3-solver"]
    assert ["law exponential_in_base_two", "Proved"] in [law[:2] for law in record["laws"]]
    claims = [claim for claim, _, _ in record["verdicts"]["vocabulary"]]
    assert "text equals spec" in claims
    assert "softmax_g0_k0: loads of x in bounds" in claims


def test_every_proof_of_a_solver_is_stored_as_a_question(kernel):
    questions = read_questions(kernel)
    record = json.loads(certificate_path(kernel).read_text())
    assert len(questions) == record["proofs"] > 20
    assert {q.answer for q in questions} == {"unsat"}
    claims = {q.claim for q in questions}
    assert "softmax_g0_k0: loads of x in bounds" in claims
    assert any(c.startswith("graph 0, repair 0") for c in claims)
    assert any(c.startswith("law ") for c in claims)


def flips(kernel, number=20):
    """(file, place, bit), drawn over all bytes of the four files, each file at least twice."""
    rng = Random(5)
    files = [path(kernel) for path in FILES]
    sizes = [f.stat().st_size for f in files]
    chosen = [*files, *files, *rng.choices(files, sizes, k=number - 2 * len(files))]
    return [(f, rng.randrange(f.stat().st_size), 1 << rng.randrange(8)) for f in chosen]


def test_any_flipped_bit_is_found_and_the_file_is_named(kernel, cli):
    for file, place, bit in flips(kernel):
        before = file.read_bytes()
        data = bytearray(before)
        data[place] ^= bit
        file.write_bytes(bytes(data))
        said = cli("verify", kernel)
        assert said.code == 1
        line = before[:place].count(b"\n") + 1
        where = f"{file.name}, line {line}," if file == kernel else file.name
        assert said.out == f"FAILED: {where} is not as it was verified; nothing was run\n"
        file.write_bytes(before)
    assert changed(kernel) == []


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("added", [b"\n", b" "])
def test_an_added_byte_is_found(kernel, path, added):
    file = path(kernel)
    file.write_bytes(file.read_bytes() + added)
    (found,) = changed(kernel)
    assert found.startswith(file.name)


def test_files_that_are_renamed_together_are_the_same(kernel):
    for path in FILES:
        path(kernel).rename(path(kernel.with_name("other.py")))
    assert changed(kernel.with_name("other.py")) == []


@pytest.mark.parametrize("path", FILES)
def test_a_missing_file_is_bad_input(kernel, cli, path):
    path(kernel).unlink()
    said = cli("verify", kernel)
    assert said.code == 2
    assert f"{path(kernel).name}: no such" in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.update(schema=99), "schema 99, this superopt reads 2"),
        (lambda r: r.pop("rows"), "damaged: KeyError: 'rows'"),
        (lambda r: r["rows"][0].update(name=[]), r"damaged: ValueError: a row of case \[\]"),
        (lambda r: r.update(program="nonsense"), "damaged: ParseError: line 1"),
        (lambda r: r["graphs"].append(r["program"]), "damaged: ParseError"),
        (lambda r: r.update(graphs=[], repairs=[], derivations=[]), "it has no graph"),
        (lambda r: r.update(repairs=[]), "repairs and derivations are not those of"),
        (lambda r: r["derivations"].append([]), "repairs and derivations are not those of"),
        (lambda r: r.update(seed=-1), "seed -1"),
        (lambda r: r.update(seed="0"), "seed '0'"),
        (lambda r: r["rows"][0].update(graph=7), "that graph 7 does not have"),
        (lambda r: r["rows"][0].update(configs=[]), "that graph 0 does not have"),
        (lambda r: r["rows"][0]["configs"][0].update(tiles={}), "graph 0 without a tile of"),
    ],
)
def test_a_certificate_that_cannot_be_read_is_bad_input(kernel, change, words):
    sealed_with(kernel, change)
    with pytest.raises(UserError, match=words):
        read_certificate(kernel)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "damaged: not a file"),
        (b"no", "damaged: no gzip file"),
        (gzip.compress(b"x", mtime=0), "not a file"),
    ],
)
def test_questions_that_cannot_be_read_are_bad_input(kernel, data, words):
    questions_path(kernel).write_bytes(data)
    with pytest.raises(UserError, match=words):
        read_questions(kernel)


def sealed_with(kernel, change):
    """Changes the certificate and seals it again, as somebody who knows how would."""
    path = certificate_path(kernel)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    seal(kernel)


def test_what_is_no_kernel_is_bad_input(tmp_path, cli):
    assert cli("verify", tmp_path / "nowhere.py").code == 2
    assert cli("verify", tmp_path).code == 2
    (tmp_path / "plain.py").write_text("x = 1\n")
    said = cli("verify", tmp_path / "plain.py")
    assert said.code == 2
    assert "plain.cert.json: no such file" in said.err
