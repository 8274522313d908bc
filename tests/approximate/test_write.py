from __future__ import annotations

from superopt.approximate.measure import deviations
from superopt.approximate.per_tile import per_tile
from superopt.approximate.write import substitute_text
from superopt.loading import load


def test_the_file_says_what_it_is_not(tmp_path):
    (spec,) = load("specs/scaled_linear.py:quantised_linear")
    program = per_tile(spec.program, "k")
    found = deviations(spec.program, program, "k", 128, "bf16")
    text = substitute_text(spec, program, "k", 128, found)
    assert "A substitute for `quantised_linear`, which it does not compute" in text
    assert text.count("times what a kernel may;") == len(found)
    file = tmp_path / "substitute.py"
    file.write_text(text)
    (again,) = load(str(file))
    assert again.name == "quantised_linear_per_tile_scale"
    assert again.program == program
    assert [c.sizes["k_in"] for c in again.cases] == [128, 128, 128]


def test_cases_that_tiles_do_not_fill_are_left_out():
    (spec,) = load("specs/scaled_linear.py:quantised_linear")
    text = substitute_text(spec, per_tile(spec.program, "k"), "k", 4096, [])
    assert 'Case("prefill", m=4096, k_tile=1, k_in=4096, n=4096)' in text
    assert 'Case("fp32"' not in text
