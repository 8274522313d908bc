from __future__ import annotations

import re

from tests.emit.cases import CASES


def test_distances_are_converted_by_rows_and_by_lanes() -> None:
    text = CASES["distances"]().text()
    walks = re.findall(r"\n    for n_first .*?\n    tl\.store", text, flags=re.DOTALL)
    assert len(walks) == 2
    for walk in walks:
        converted = re.findall(r"(.*)\.to\(tl\.float32\)", walk)
        assert any("n_first - m_at)" in line for line in converted)
        assert all("[" not in line for line in converted), converted  # of no tile of two dimensions
        assert "n_ahead[:, None] + n_lane_real[None, :]" in walk


def test_the_lanes_are_converted_before_the_walk() -> None:
    text = CASES["distances"]().text()
    before = text[: text.index("for n_first")]
    assert "n_lane_real = n_lane.to(tl.float32)" in before
