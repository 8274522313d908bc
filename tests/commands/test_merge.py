from __future__ import annotations

from superopt.loading import load


def test_a_joining_is_written_as_a_spec(cli, tmp_path):
    file = tmp_path / "joined.py"
    said = cli("merge", "specs/logsumexp.py:logsumexp", "--out", file, "--parts", "5")
    assert (said.code, said.out) == (0, "")
    assert "parts: sampled at" in said.err
    assert "parts with hidden positions: sampled at" in said.err
    (spec,) = load(str(file))
    assert spec.name == "merge_logsumexp"
    assert {c.sizes["p"] for c in spec.cases} == {5}


def test_a_pair_goes_to_the_output(cli):
    said = cli("merge", "specs/logsumexp.py", "--pair")
    assert said.code == 0
    assert "def merge_logsumexp_pair(" in said.out
    assert "a pair: sampled at" in said.err


def test_a_refusal_names_what_is_missing(cli):
    said = cli("merge", "specs/statistics.py:variance")
    assert (said.code, said.out) == (1, "")
    assert "refused over n: the outputs do not tell enough of a part; they do with" in said.err


def test_what_is_asked_must_be_one_spec_and_an_axis_of_it(cli):
    assert "holds several specs" in cli("merge", "specs/attention.py").err
    said = cli("merge", "specs/logsumexp.py", "--axis", "q")
    assert (said.code, "folds nothing over 'q'; it folds over: n" in said.err) == (2, True)
