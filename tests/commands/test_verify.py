from __future__ import annotations

import shutil

import pytest

from superopt.certificate import certificate_path
from superopt.certificate import seal_path
from superopt.certificate import sha256
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from tests.test_certificate import seal


@pytest.fixture
def kernel(searched, tmp_path):
    for path in (searched.kernel, certificate_path(searched.kernel), seal_path(searched.kernel)):
        shutil.copy(path, tmp_path)
    return tmp_path / searched.kernel.name


def test_a_kernel_of_a_search_holds(searched, cli):
    said = cli("verify", searched.kernel)
    assert said.code == 0, said.out
    lines = said.out.splitlines()
    assert lines[0] == "files: unchanged since they were verified"
    assert any(line.startswith("graph 0, graph equals spec: sampled at ") for line in lines)
    assert any(line.startswith("graph 0, repair 0, endomorphism: proved by ") for line in lines)
    assert any("executions in fp32 and fp16 on the CPU: within the tolerance" in i for i in lines)
    assert "not executed: bf16 on this GPU" in lines
    assert lines[-1] == "holds"


def test_a_wrong_text_with_matching_hashes_is_found_by_execution(kernel, cli):
    text = kernel.read_text()
    right = 'tl.where(n_in, x_real, float("-inf"))'
    assert right in text
    kernel.write_text(text.replace(right, 'tl.where(n_in, x_real, float("inf"))'))
    seal(kernel, lambda r: r.update(kernel_sha256=sha256(kernel.read_bytes())))
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: executed:" in said.out
    assert said.out.splitlines()[-1] == "FAILED"


@pytest.fixture
def executed(monkeypatch):
    """Executions that find nothing, so that a test sees what the proofs say."""
    figure = Figure("", "fp32", 0, (), "out", 0, 0, 1, 1, True)
    monkeypatch.setattr(
        "superopt.commands.verify.execute_again", lambda kernel, claims: FloatReport((figure,))
    )


@pytest.mark.usefixtures("executed")
def test_a_wrong_graph_with_matching_hashes_is_found_by_the_proofs(kernel, cli):
    def wrong(record):
        (graph,) = record["graphs"]
        assert "by max of" in graph
        record["graphs"] = [graph.replace("by max of", "by min of")]

    assert cli("verify", kernel).code == 0
    seal(kernel, wrong)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, graph equals spec:" in said.out


@pytest.mark.usefixtures("executed")
def test_a_wrong_repair_with_matching_hashes_is_found_by_its_obligations(kernel, cli):
    def wrong(record):
        record["repairs"][0][0]["parts"][0][1] = "node 2\n"

    seal(kernel, wrong)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, repair 0, " in said.out


@pytest.mark.usefixtures("executed")
def test_a_repair_that_was_left_out_is_missed(kernel, cli):
    seal(kernel, lambda r: r.update(repairs=[[]]))
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0: no repair explains the moves of sum0" in said.out
