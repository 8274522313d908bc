from __future__ import annotations

from superopt.loading import load


def test_a_substitute_is_written_with_its_error(cli, tmp_path):
    file = tmp_path / "substitute.py"
    said = cli(
        "approximate", "specs/scaled_linear.py:quantised_linear", "--tile", "64", "--out", file
    )
    assert (said.code, said.out) == (0, "")
    assert "out, outliers inputs: off by" in said.err
    assert load(str(file))[0].name == "quantised_linear_per_tile_scale"


def test_a_refusal_says_why(cli):
    said = cli("approximate", "specs/scaled_linear.py:amax_linear")
    assert (said.code, said.out) == (1, "")
    assert "has no round_to that reads a fold" in said.err


def test_a_tile_must_fill_some_case(cli):
    said = cli("approximate", "specs/scaled_linear.py:quantised_linear", "--tile", "1000")
    assert (said.code, "no case has a multiple of 1000 positions on k" in said.err) == (2, True)
