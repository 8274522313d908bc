from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from superopt.again import prove_again
from superopt.again import read_again
from superopt.certificate import certificate_path
from superopt.certificate import questions_path
from superopt.certificate import read_questions
from superopt.certificate import seal
from superopt.verify.questions import packed
from superopt.verify.run.checks import Figure
from superopt.verify.run.checks import FloatReport
from superopt.versions import verifier
from tests.test_certificate import copied
from tests.test_certificate import sealed_with


@pytest.fixture
def kernel(searched, tmp_path):
    return copied(searched.kernel, tmp_path)


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


def test_a_wrong_text_with_matching_hashes_is_found_by_reading_and_execution(kernel, cli):
    text = kernel.read_text()
    right = 'tl.where(n_in, x_real, float("-inf"))'
    assert right in text
    kernel.write_text(text.replace(right, 'tl.where(n_in, x_real, float("inf"))'))
    seal(kernel)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, text equals spec: REFUTED" in said.out
    assert "FAILED: executed:" in said.out
    assert said.out.splitlines()[-1] == "FAILED"


@pytest.fixture
def executed(monkeypatch):
    """Executions that find nothing, so that a test sees what the proofs say."""
    figure = Figure("", "fp32", 0, (), "out", 0, 0, 1, 1, True)
    monkeypatch.setattr(
        "superopt.commands.verify.execute_again", lambda kernel, claims: FloatReport((figure,))
    )


@pytest.fixture
def proved_once(monkeypatch):
    """The proofs and readings of a file and algebra that stay the same, made once."""
    monkeypatch.setattr("superopt.commands.verify.prove_again", cache_of(prove_again))
    monkeypatch.setattr("superopt.commands.verify.read_again", cache_of(read_again))


def cache_of(function):
    found = []

    def once(*arguments):
        found.append(function(*arguments)) if not found else None
        return found[0]

    return once


@pytest.mark.usefixtures("executed")
def test_a_wrong_graph_with_matching_hashes_is_found_by_the_proofs(kernel, cli):
    def wrong(record):
        (graph,) = record["graphs"]
        assert "by max of" in graph
        record["graphs"] = [graph.replace("by max of", "by min of")]

    assert cli("verify", kernel).code == 0
    sealed_with(kernel, wrong)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, graph equals spec:" in said.out


@pytest.mark.usefixtures("executed")
def test_a_wrong_repair_with_matching_hashes_is_found_by_its_obligations(kernel, cli):
    def wrong(record):
        record["repairs"][0][0]["parts"][0][1] = "node 2\n"

    sealed_with(kernel, wrong)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, repair 0, " in said.out


@pytest.mark.usefixtures("executed")
def test_a_repair_that_was_left_out_is_missed(kernel, cli):
    sealed_with(kernel, lambda r: r.update(repairs=[[]]))
    said = cli("verify", kernel)
    assert said.code == 1
    assert "FAILED: graph 0, moves of sum0: unknown: no repair explains them" in said.out


def first_case(record):
    return next(iter(record["verdicts"]))


def without_claims(record, name):
    for case, found in record["verdicts"].items():
        record["verdicts"][case] = [one for one in found if one[0] != name]


LEFT_OUT = {
    "a row": (lambda r: r["rows"].pop(), "the file's row Plan("),
    "all rows": (lambda r: r.update(rows=[]), "the file's row Plan("),
    "a claim about the text": (
        lambda r: without_claims(r, "text equals spec"),
        "the claim 'text equals spec' of case ",
    ),
    "an obligation of a repair": (
        lambda r: without_claims(r, "repair 0, combination"),
        "the claim 'repair 0, combination' of case ",
    ),
    "a claim about memory": (
        lambda r: without_claims(r, "softmax_g0_k0: loads of x in bounds"),
        "the claim 'softmax_g0_k0: loads of x in bounds' of case ",
    ),
    "the verdicts of a case": (
        lambda r: r["verdicts"].pop(first_case(r)),
        "the claim 'graph equals spec' of case ",
    ),
    "a law": (lambda r: r["laws"].pop(), "the claim 'law "),
    "Configs to execute": (lambda r: r.update(tuned=[]), "an execution with the Configs of case "),
    "a case": (lambda r: r.update(cases=[]), "the sizes of case "),
    "executions": (lambda r: r.update(executed=[]), "executions"),
}


@pytest.mark.usefixtures("executed")
def test_what_is_left_out_of_a_resealed_certificate_is_missed(kernel, cli, proved_once):
    before = certificate_path(kernel).read_text()
    for name, (change, words) in LEFT_OUT.items():
        certificate_path(kernel).write_text(before)
        sealed_with(kernel, change)
        said = cli("verify", kernel)
        assert said.code == 1, name
        assert f"FAILED: the certificate lacks {words}" in said.out, (name, said.out)


@pytest.mark.usefixtures("executed")
def test_a_verdict_that_is_said_to_be_stronger_is_found(kernel, cli, proved_once):
    def stronger(record):
        for found in record["verdicts"].values():
            for one in found:
                if one[0] == "text equals spec":
                    one[1:] = ["Proved", {"by": "z3/reals", "facts": []}]

    sealed_with(kernel, stronger)
    said = cli("verify", kernel)
    assert said.code == 1
    assert "'text equals spec' of case vocabulary says Proved and should say Sampled" in said.out


def test_a_stored_proof_that_was_left_out_is_missed(kernel, cli, proved_once):
    first, *rest = read_questions(kernel)
    questions_path(kernel).write_bytes(packed(rest))
    seal(kernel)
    said = cli("verify", kernel, "--quick")
    assert said.code == 1
    assert f"FAILED: the certificate lacks 1 stored proof of {first.claim}" in said.out


def test_another_verifier_is_named(kernel, cli, proved_once):
    said = cli("verify", kernel, "--quick")
    assert f"verifier: the one that made the claims ({verifier()})" in said.out
    sealed_with(kernel, lambda r: r.update(verifier="superopt 0.0.1, sources 00ff, z3 4.0"))
    said = cli("verify", kernel, "--quick")
    assert said.code == 0, said.out  # nothing it needs is missing, and all of it was judged anew
    assert f"{verifier()}; the claims were made by superopt 0.0.1, sources 00ff" in said.out


def test_a_quick_check_executes_nothing_and_says_so(kernel, cli, monkeypatch):
    monkeypatch.setattr("superopt.commands.verify.execute_again", None)
    said = cli("verify", kernel, "--quick")
    assert said.code == 0, said.out
    assert "not executed: --quick" in said.out
    assert "executions" not in said.out


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_stored_proofs_are_proved_again_by_either_solver(kernel, cli, solver):
    number = len(read_questions(kernel))
    said = cli("verify", kernel, "--quick", "--solver", solver)
    assert said.code == 0, said.out
    lines = said.out.splitlines()
    open_ = [line for line in lines if line.startswith("stored proof of ")]
    proved = number - len(open_)
    assert f"stored proofs: {proved} of {number} proved again by {solver}" in lines
    assert proved == number if solver == "z3" else proved > 0.9 * number
    assert all(line.endswith(": cvc5 says unknown") for line in open_)


def test_a_stored_proof_that_is_none_with_matching_hashes_is_found(kernel, cli):
    first, *rest = read_questions(kernel)
    wrong = replace(first, smt2=first.smt2.replace("(check-sat)", "(reset-assertions)(check-sat)"))
    questions_path(kernel).write_bytes(packed([wrong, *rest]))
    seal(kernel)
    said = cli("verify", kernel, "--quick")
    assert said.code == 1
    assert f"FAILED: stored proof of {first.claim}: z3 says sat" in said.out


def test_a_solver_that_is_not_there_is_bad_input(kernel, cli, monkeypatch):
    said = cli("verify", kernel, "--solver", "yices")
    assert said.code == 2
    assert said.err == "error: --solver yices: there are z3, cvc5\n"
    monkeypatch.setitem(sys.modules, "cvc5", None)
    said = cli("verify", kernel, "--solver", "cvc5")
    assert said.code == 2
    assert said.err == "error: --solver cvc5: is not installed: pip install cvc5\n"
