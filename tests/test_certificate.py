from __future__ import annotations

import json
import shutil

import pytest

from superopt.certificate import certificate_path
from superopt.certificate import changed
from superopt.certificate import read_certificate
from superopt.certificate import seal_path
from superopt.certificate import sha256
from superopt.errors import UserError
from superopt.loading import load
from superopt.ugraph.names import canonical
from tests.conftest import SOFTMAX


@pytest.fixture
def kernel(searched, tmp_path):
    """A copy of a searched kernel with the files beside it."""
    for path in (searched.kernel, certificate_path(searched.kernel), seal_path(searched.kernel)):
        shutil.copy(path, tmp_path)
    return tmp_path / searched.kernel.name


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
    assert found.kernel_sha256 == sha256(kernel.read_bytes())


@pytest.mark.parametrize("path", [lambda k: k, certificate_path, seal_path])
@pytest.mark.parametrize("place", [0, 0.3, 0.7, -1])
def test_any_changed_byte_is_found(kernel, cli, path, place):
    file = path(kernel)
    data = bytearray(file.read_bytes())
    at = place if isinstance(place, int) else int(place * len(data))
    data[at] ^= 1
    file.write_bytes(bytes(data))
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED" in said.out
    assert "nothing was run" in said.out


@pytest.mark.parametrize("path", [lambda k: k, certificate_path, seal_path])
@pytest.mark.parametrize("added", [b"\n", b" "])
def test_an_added_byte_is_found(kernel, path, added):
    file = path(kernel)
    file.write_bytes(file.read_bytes() + added)
    assert changed(kernel)


@pytest.mark.parametrize("path", [lambda k: k, certificate_path, seal_path])
def test_a_missing_file_is_bad_input(kernel, cli, path):
    path(kernel).unlink()
    said = cli("verify", kernel)
    assert said.code == 2
    assert f"{path(kernel).name}: no such file" in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.update(schema=99), "schema 99, this superopt reads 1"),
        (lambda r: r.pop("rows"), "damaged: KeyError: 'rows'"),
        (lambda r: r.update(program="nonsense"), "damaged: ParseError: line 1"),
        (lambda r: r["graphs"].append(r["program"]), "damaged: ParseError"),
    ],
)
def test_a_certificate_that_cannot_be_read_is_bad_input(kernel, change, words):
    seal(kernel, change)
    with pytest.raises(UserError, match=words):
        changed(kernel)


def seal(kernel, change):
    """Changes the certificate and seals it again, as somebody who knows how would."""
    path = certificate_path(kernel)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    seal_path(kernel).write_text(sha256(path.read_bytes()) + "\n")


def test_what_is_no_kernel_is_bad_input(tmp_path, cli):
    assert cli("verify", tmp_path / "nowhere.py").code == 2
    assert cli("verify", tmp_path).code == 2
    (tmp_path / "plain.py").write_text("x = 1\n")
    said = cli("verify", tmp_path / "plain.py")
    assert said.code == 2
    assert "plain.cert.json: no such file" in said.err
