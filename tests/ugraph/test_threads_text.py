"""Thread graphs print and parse back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import ParseError
from superopt.threads.build import build
from superopt.ugraph.threads_text import parse_threads
from superopt.ugraph.threads_text import show_threads
from tests.threads.cases import ALL
from tests.threads.cases import block
from tests.threads.cases import config


def graph(name, **keywords):
    return build(block(name), config(block(name)), "bf16", **keywords)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("early", [True, False])
def test_text_is_parsed_back_to_the_identical_graph(name, early):
    made = graph(name, early=early, consumers=3)
    assert parse_threads(show_threads(made)) == made


def test_what_a_model_expects_and_the_ring_are_kept():
    made = graph("plain")
    schedule = replace(made.bodies[0].schedule, interval=1200, registers=190, phase=600)
    made = replace(made, bodies=(replace(made.bodies[0], schedule=schedule),), ring=True)
    assert parse_threads(show_threads(replace(made, joined=True))) == replace(made, joined=True)
    assert parse_threads(show_threads(made)) == made
    made = replace(made, persistent=True, config=replace(made.config, persistent=1))
    assert parse_threads(show_threads(made)) == made
    chosen = replace(made.config, pingpong=True)
    made = replace(made, ring=False, pingpong=True, config=chosen)
    assert parse_threads(show_threads(made)) == made


def test_instructions_are_lines_that_name_each_other():
    text = show_threads(graph("matmul"))
    assert "rows m consumers 2 registers 240 24" in text
    assert "pipe x_y capacity 2 along k of x[m k], y[k n]" in text
    assert (
        "product sum0 at 0 0 awaited 1 1 carry sum0 onto sum0 1 = add[k](mul(x[m k], y[k n]))"
        in text
    )
    assert "compute max_2 at 0 3 = max[n](%product_1)" in show_threads(graph("plain"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("threads\n", "", "expected 'threads'"),
        ("consumers 2", "consumers x", "expected an integer"),
        ("%max_2)", "%max_3)", "%max_3 is not bound"),
        ("at 0 3", "on 0 3", "expected 'at'"),
        ("store out", "stores out", "does not belong here"),
    ],
)
def test_a_wrong_text_is_refused_with_its_line(old, new, why):
    text = show_threads(graph("plain")).replace(old, new)
    with pytest.raises(ParseError, match=r"line \d+: .*" + why):
        parse_threads(text)


def test_an_empty_text_is_refused():
    with pytest.raises(ParseError, match="empty"):
        parse_threads("")
