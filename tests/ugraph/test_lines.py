from __future__ import annotations

import pytest

from superopt.errors import ParseError
from superopt.ugraph.lines import lines


def test_lines_know_their_number_and_depth():
    found = list(lines("a b\n\n    c[m n]:int32 = -1/2, -inf, -3*n\n"))
    assert [(line.number, line.depth) for line in found] == [(1, 0), (3, 2)]
    assert found[1].tokens[:6] == ["c", "[", "m", "n", "]", ":"]
    assert found[1].tokens[-8:] == ["=", "-1/2", ",", "-inf", ",", "-3", "*", "n"]


def test_a_cursor_takes_what_is_expected_and_names_the_line_otherwise():
    (line,) = lines("\nwalk n.part 3")
    assert line.accept("walk")
    assert not line.accept("m")
    assert line.name() == "n.part"
    with pytest.raises(ParseError, match="line 2: nothing may follow here, found '3'"):
        line.end()
    with pytest.raises(ParseError, match="line 2: expected a name, found '3'"):
        line.name()
    assert line.integer() == 3
    with pytest.raises(ParseError, match="found 'the end of the line'"):
        line.expect("to")
