from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt import Case
from superopt import Tensor
from superopt import spec
from superopt.merge.derive import splitting
from superopt.merge.find import merge
from superopt.merge.judge import judged_pair
from superopt.merge.pair import paired
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.scalar import Fn
from superopt.verify.verdict import accepted
from tests.merge import specs


def pair_of(spec):
    merging = next(splitting(spec.program, "n").mergings())
    return paired(merging.program, merging.along)


def test_the_first_part_comes_first():
    pair = pair_of(specs.extremes)
    assert [p.name for p in pair.params] == ["part0_a", "part1_a", "part0_b", "part1_b"]
    ends = [Input(f"part0_{end}", ("m",), "fp32") for end in "ab"]
    assert pair.outputs[0].value is Map(Fn.MAX, tuple(ends))


def test_the_length_of_a_part_is_a_number():
    assert [p for p in pair_of(specs.spread).params if isinstance(p, Scalar)] == [
        Scalar("n_count_a", "int32"),
        Scalar("n_count_b", "int32"),
    ]


def joined(pair, left, right, sizes):
    """Two parts, each its results in the order of the outputs and, at the end, a length."""
    names = [p.name for p in pair.params]
    arrays = dict(zip(names, [*left, *right], strict=True))
    found = evaluate_program(pair, FloatDomain(), arrays, sizes)
    lengths = [left[-1] + right[-1]] if len(left) > len(found) else []
    return [*found.values(), *lengths]


def bracketed(pair, parts, sizes):
    """All parts from the left, from the right, and as a tree."""
    left, right, tree = parts[0], parts[-1], list(parts)
    for one in parts[1:]:
        left = joined(pair, left, one, sizes)
    for one in parts[-2::-1]:
        right = joined(pair, one, right, sizes)
    while len(tree) > 1:
        pairs = zip(tree[::2], tree[1::2], strict=False)
        tree = [*(joined(pair, a, b, sizes) for a, b in pairs), *tree[len(tree) & ~1 :]]
    return {"left": left, "right": right, "tree": tree[0]}


def results(name, lengths, seed):
    """Finished results of parts of so many positions, and of the whole."""
    spec = getattr(specs, name)
    rng = np.random.default_rng(seed)
    sizes = {"m": 3, "e": 2, "n": sum(lengths)}
    whole = {p.name: rng.normal(0, 3, [sizes[a] for a in p.order]) for p in spec.program.params}
    ends = np.cumsum([0, *lengths])
    parts = []
    for first, stop in pairwise(ends):
        cut = {
            p.name: np.take(whole[p.name], range(first, stop), p.order.index("n"))
            for p in spec.program.params
        }
        here = {**sizes, "n": int(stop - first)}
        found = list(evaluate_program(spec.program, FloatDomain(), cut, here).values())
        counted = name == "spread"
        parts.append([*found, np.asarray(stop - first)] if counted else found)
    return spec, sizes, parts, evaluate_program(spec.program, FloatDomain(), whole, sizes)


@pytest.mark.parametrize("name", ["normalised", "spread", "decayed"])
@given(lengths=st.lists(st.integers(0, 4), min_size=2, max_size=6), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_parts_are_joined_two_by_two_in_any_order_of_joins(name, lengths, seed):
    """Left to right, right to left, and as a tree; parts without positions included."""
    if not sum(lengths):
        lengths = [*lengths, 1]
    with np.errstate(all="ignore"):
        spec, sizes, parts, want = results(name, lengths, seed)
        found = bracketed(pair_of(spec), parts, sizes)
    for how, got in found.items():
        for value, (output, whole) in zip(got, want.items(), strict=False):
            np.testing.assert_allclose(value, whole, 1e-9, 1e-9, err_msg=f"{how} {output}")


@spec(cases=[Case("fp32", p=64, n=64, n_part=2, dtype="fp32")])
def named(
    x: Annotated[Tensor, "p n_part n"],
    part_a: Annotated[Tensor, "p", "fp32"],
    p: Annotated[Tensor, "p n_part", "fp32"],
) -> Annotated[Tensor, "p n_part", "fp32"]:
    return x.sum("n") + part_a + p


def test_names_that_the_spec_has_are_not_given_to_parts():
    """Two parameters of one name were one, and right pairs were refuted."""
    merging, _ = merge(named.program, "n")
    pair = paired(merging.program, merging.along)
    names = [p.name for p in pair.params]
    assert len(set(names)) == len(names) == len(merging.program.params) + 1
    assert accepted(judged_pair(merging, pair)[1])
