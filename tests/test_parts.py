"""Parts of long runs: together they are all, once."""

from __future__ import annotations

import pytest

from tests.parts import Part


@pytest.mark.parametrize("count", [1, 2, 3, 8, 20])
def test_parts_are_all_once(count):
    parts = [Part.parse(f"{k}/{count}").chosen(range(17)) for k in range(1, count + 1)]
    assert sorted(n for part in parts for n in part) == list(range(17))


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/x"])
def test_no_other_parts(text):
    with pytest.raises(ValueError, match=r"no part|invalid literal"):
        Part.parse(text)
