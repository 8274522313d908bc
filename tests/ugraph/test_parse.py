from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.errors import ParseError
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.parse import parse
from superopt.ugraph.parse import parse_as
from superopt.ugraph.text import show
from tests.samples import attention
from tests.samples import online_attention
from tests.samples import two_pass_softmax

SOFTMAX = show(two_pass_softmax())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the text is empty"),
        ("\nhello", "line 2: unknown section 'hello'"),
        ("node add(x[m])", "line 1: add takes 2 arguments, got 1"),
        ("node add(x[m], $y", "line 1: expected '\\)', found 'the end of the line'"),
        ("node x[m] y", "line 1: nothing may follow here, found 'y'"),
        ("node frob(x[m])", "line 1: unknown function 'frob'"),
        ("node TAU", "line 1: unknown constant 'TAU'"),
        ("node %3", "line 1: %3 is not bound"),
        ("node x[m]:fp64", "line 1: 'x' has unsupported dtype 'fp64'"),
        ("node add[k](x[m])", "line 1: no axis 'k' to fold over"),
        ("node y[m](x[m])", "line 1: 'y' over 1 axes is no fold"),
        ("program p\nparam size(n)", "line 2: a parameter is a tensor or a scalar"),
        ("program p\noutput y[m] x[m]", "line 2: expected '=', found 'x'"),
        ("kernel\n  place m Everywhere", "line 2: unknown place 'Everywhere'"),
        ("kernel\n  place m Grid\n  walk", "line 3: expected a name"),
        ("kernel\n walk n", "line 2: 'walk' does not belong here"),
        ("kernel\n  walk n to m", "line 2: unknown constant 'm'"),
        ("kernel\n  walk n\n    carry c over m by avg of x[m]", "line 3: unknown function 'avg'"),
        ("kernel\n  walk n\n    carry c over m", "line 3: expected a name"),
        ("kernel\n  store y[m] = x[m]\n  walk n", "line 3: 'walk' does not belong here"),
        ("config m=big | parts=1", "line 1: expected an integer, found 'big'"),
        ("config m=4", "line 1: expected a name"),
        (SOFTMAX + "\nmore", "line 17: 'more' does not belong here"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)


def test_the_kind_of_graph_can_be_asked_for():
    assert parse_as(KernelGraph, SOFTMAX) == two_pass_softmax()
    with pytest.raises(ParseError, match="expected a KernelGraph, found a Program"):
        parse_as(KernelGraph, show(attention()))
    assert parse_as(Program, show(attention())) == attention()


TEXT = show(online_attention(causal=True))


@given(
    st.integers(0, len(TEXT) - 1), st.sampled_from(["", "[", ")", "%", " ", "9", "x", "\n", "="])
)
def test_damaged_text_is_refused_or_means_something(at, insert):
    """Nothing but ``ParseError`` leaves the parser, whatever the text is."""
    damaged = TEXT[:at] + insert + TEXT[at + 1 :]
    try:
        parsed = parse(damaged)
    except ParseError:
        return
    assert parse(show(parsed)) == parsed
