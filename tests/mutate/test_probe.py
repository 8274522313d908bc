"""The symbolic reading is asked whether two expressions ever differ."""

from __future__ import annotations

import ast

import pytest

from superopt.mutate.probe import never
from superopt.mutate.source import Site
from superopt.mutate.source import SourceMutant
from tests.mutate.subjects import subject


def probe(before, after, line="n_in = "):
    one = subject("softmax", 0)
    lines = one.text.text.splitlines()
    number = next(i for i, said in enumerate(lines, 1) if said.strip().startswith(line))
    site = Site((number, 0), (number, 0), "softmax_g0_k0", number, True, ast.Pass())
    return never(one, SourceMutant("name", site, before, after, ""))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("(n_at < n_size) | EVEN_N", "n_at < n_size", True),
        ("n_at < n_size", "n_at <= n_size", False),
        ("n_first + TILE_N", "TILE_N + n_first", True),
        ("n_first", "n_lane", False),
        ("m_tile", "pid", True),
        ("unknown_name", "pid", False),
    ],
)
def test_whether_two_expressions_are_the_same_for_all_sizes(before, after, same):
    assert probe(before, after) is same
