"""The field reading accepts what is printed and refutes what is wrong, by name and place."""

from __future__ import annotations

import re
from functools import cache

import pytest

from superopt.tune.printed import text_of
from superopt.ugraph.described import inner_axes
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.verify.field.ties import FACT
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken
from tests import samples
from tests.catalogue import Pattern
from tests.catalogue import kernels
from tests.emit.cases import CASES
from tests.emit.printed import Printed
from tests.emit.printed import whole
from tests.verify.source.faults import FIELD
from tests.verify.source.faults import ORDER
from tests.verify.source.faults import SHORT
from tests.verify.source.faults import seeded


@cache
def printed(name, descriptors=False):
    case = CASES[name]()
    return case, case.text(descriptors)


def read(name, graph=0, change=lambda text: text, **how):
    case, text = printed(name)
    return read_field(read_text(change(text)), case.program, case.graphs[graph], graph, **how)


# One of each kind of kernel; further graphs stand in the tests of faults.
GRAPHS = [("attention", 0), ("attention", 1), ("packed", 1), ("columns", 0), ("softmax", 0)]
GRAPHS += [("softmax", 2), ("rms", 0), ("rms", 2), ("nested", 0), ("nested_split", 0)]
GRAPHS += [("window", 0), ("layer_norm", 0), ("decode", 0), ("two_kernels", 0), ("functions", 0)]
GRAPHS += [("kinds", 0), ("names", 0), ("scans", 1), ("decay", 0)]


@pytest.mark.parametrize(("name", "graph"), GRAPHS, ids=lambda x: str(x))
def test_printed_text_is_accepted(name, graph):
    verdict = read(name, graph)
    assert accepted(verdict), spoken(verdict)


def test_lists_are_read_with_so_few_ranks_that_a_candidate_is_left_out():
    verdict = read("listing", 2)
    assert isinstance(verdict, Sampled), spoken(verdict)
    assert "lists also read with 2 ranks for 5 of t" in verdict.facts
    short = read("listing", SHORT.graph, lambda text: seeded(text, SHORT))
    assert isinstance(short, Unknown)  # with other ranks, which prove nothing for these
    assert short.why.startswith("lists also read with 2 ranks for 5 of t: values[")


def test_a_walk_that_takes_roots_of_its_states_is_decided():
    pattern = Pattern("cosine similarity", "statistics.py:cosine_similarity", "n", (1,))
    program, graph = pattern.loaded.program, dict(kernels(pattern))["rolling"]
    text = text_of(program, graph, pattern.loaded.case("fp32"))
    verdict = read_field(text, program, graph)
    assert isinstance(verdict, Sampled), spoken(verdict)


def test_exponentials_of_any_whole_number_are_of_too_high_a_degree():
    """Its candidates are whole numbers, ties among them; at the ends of their range 2^31 powers."""
    verdict = read("ties", 2)
    assert isinstance(verdict, Unknown)
    assert "too few random points decide" in verdict.why


@pytest.mark.parametrize("name", ["attention", "rms"])
def test_functions_with_descriptors_are_read_too(name):
    case, text = printed(name, descriptors=True)
    assert inner_axes(case.graphs[0])
    verdict = read_field(text, case.program, case.graphs[0], descriptors=True)
    assert accepted(verdict), spoken(verdict)


def test_descriptors_that_are_never_made_are_not_claimed():
    verdict = read("attention", descriptors=True)
    assert isinstance(verdict, Unknown)
    assert "descriptors" in verdict.why


@pytest.mark.parametrize("fault", FIELD, ids=lambda f: f.name)
def test_seeded_fault_is_refuted_by_the_field_reading(fault):
    verdict = read(fault.case, fault.graph, lambda text: seeded(text, fault), minimise=False)
    assert isinstance(verdict, Refuted), spoken(verdict)
    assert fault.says in verdict.what


@pytest.mark.parametrize("fault", ORDER, ids=lambda f: f.name)
def test_what_holds_for_reals_is_left_to_the_order_reading(fault):
    verdict = read(fault.case, fault.graph, lambda text: seeded(text, fault))
    assert isinstance(verdict, Sampled), spoken(verdict)


def test_a_partial_state_in_fp16_is_not_claimed():
    half = lambda text: text.replace(  # noqa: E731
        "part0_l = torch.empty((n_parts, b_size, h_size, m_size), dtype=torch.float32",
        "part0_l = torch.empty((n_parts, b_size, h_size, m_size), dtype=torch.float16",
    )
    assert half(printed("attention")[1]) != printed("attention")[1]
    verdict = read("attention", 1, half)
    assert isinstance(verdict, Sampled)
    assert "casts to storage dtypes are the identity" in verdict.facts


def test_a_refutation_names_kernel_program_and_least_sizes():
    change = lambda text: text.replace("(n_at < n_size)", "(n_at <= n_size)")  # noqa: E731
    verdict = read("attention", 0, change)
    assert isinstance(verdict, Refuted)
    at = dict(verdict.at)
    assert at["kernel"] == "attention_g0_k0"
    assert at["program"] == "0"
    assert {at[f"size {a}"] for a in "bhmnde"} == {"1"}
    assert re.search(
        r"reads k(_ptr)? at offset \d+, outside of the tensor \(line \d+\)", verdict.what
    )


OUTSIDE = [
    ("tl.exp2(", "tl.atan(", "tl.atan"),
    ("tl.dot(q, k,", "tl.dot_scaled(q, k,", "tl.dot_scaled"),
    ("tl.sum(exp_8_in, axis=1)", "tl.max(exp_8_in, axis=1)", "drops NaN"),
    ("propagate_nan=tl.PropagateNan.ALL", "propagate_nan=None", "tl.reduce by _max"),
    ("exp_8_in.to(v.dtype)", "exp_8_in.to(tl.int32)", "conversion from fp32 to int32"),
    ("triton.cdiv(", "triton.floordiv(", "triton.floordiv"),
    ("torch.empty(", "torch.zeros_like(", "torch.zeros_like"),
]


@pytest.mark.parametrize(("old", "new", "said"), OUTSIDE, ids=[o[2] for o in OUTSIDE])
def test_what_has_no_meaning_is_unknown_by_name_and_line(old, new, said):
    assert old in printed("attention")[1]
    verdict = read("attention", 1, lambda text: text.replace(old, new))
    assert isinstance(verdict, Unknown)
    assert said in verdict.why
    assert re.search(r"\(line \d+\)", verdict.why)


def test_a_misprinted_constant_is_refuted():
    verdict = read(
        "attention", 0, lambda text: text.replace("1.4426950408889634", "1.442695040888964")
    )
    assert isinstance(verdict, Refuted)
    assert "LOG2E" in verdict.what


def test_a_helper_that_was_edited_is_read_as_it_stands():
    """The printed tanh stands for tanh; another quotient is only itself."""
    assert isinstance(read("two_kernels"), Sampled)
    verdict = read("two_kernels", 0, lambda text: text.replace("0.00349558851", "0.003495589"))
    assert not accepted(verdict)


def test_a_large_distance_is_read_small_in_text_and_spec():
    """At the sizes that are read a window of 20 hides nothing, however it is printed."""
    verdict = read("packed_window")
    assert isinstance(verdict, Sampled)
    assert "distances in masks also read as 3 for 19, 4 for 20" in verdict.facts
    for right, wrong in (("add_2 - 20", "add_2 - 21"), ("sub_1 - 19", "sub_1 - 18")):
        assert right in printed("packed_window")[1]
        found = read("packed_window", 0, lambda text, r=right, w=wrong: text.replace(r, w))
        assert isinstance(found, Unknown)  # at other numbers, which prove nothing for these
        assert "distances in masks also read as" in found.why


def test_a_device_without_dependent_launches_is_never_asked_for_one():
    assert isinstance(read("decode"), Sampled)
    capable = "torch.cuda.get_device_capability(device) >= (9, 0)"
    for wrong in ("True", capable.replace("9", "8"), capable.replace(">=", "<")):
        verdict = read("decode", 0, lambda text, w=wrong: text.replace(capable, w), minimise=False)
        assert isinstance(verdict, Refuted)
        assert "on a device that has no dependent launches" in verdict.what


def test_roundings_of_what_a_window_shows_are_read_with_small_distances():
    """The digits of a grid are none of these, though they may be the same numbers."""
    order, position = ("m", "n"), Map(Fn.SUB, (Index("n"), Index("m")))
    seen = Map(Fn.LT, (position, samples.num(14)))
    shown = Map(Fn.ROUND_E5M2, (samples.where(seen, Input("x", order), samples.num(0)),))
    program = Program("shown", (Input("x", order),), (Store("out", order, None, shown),))
    case = Printed(program, (whole(program),), ({"m": 3, "n": 5},))
    verdict = read_field(read_text(case.text()), program, case.graphs[0])
    assert isinstance(verdict, Sampled), spoken(verdict)
    assert any("distances in masks also read as" in fact for fact in verdict.facts)


def test_data_that_are_compared_are_also_read_as_equal():
    """Equal numbers tell ``<`` from ``<=``, which random ones do not."""
    order = ("m", "n")
    near = Map(Fn.LT, (samples.sub(Input("x", order), Input("y", order)), Input("limit", ("m",))))
    counted = samples.total("n", samples.where(near, samples.num(1), samples.num(0)))
    params = (Input("x", order), Input("y", order), Input("limit", ("m",)))
    program = Program("near", params, (Store("out", ("m",), None, counted),))
    case = Printed(program, (whole(program),), ({"m": 3, "n": 5},))
    verdict = read_field(read_text(case.text()), program, case.graphs[0])
    assert isinstance(verdict, Sampled), spoken(verdict)
    assert FACT in verdict.facts
    for other in ("<=", ">", "=="):
        wrong = case.text().replace(" < limit.to", f" {other} limit.to")
        found = read_field(read_text(wrong), program, case.graphs[0], minimise=False)
        assert isinstance(found, Refuted), spoken(found)


def test_whole_numbers_from_memory_are_read_at_the_ends_of_their_range():
    """Sums with them are widened first; without that they wrap."""
    verdict = read("integers")
    assert isinstance(verdict, Sampled)
    assert "whole numbers from memory also at the ends of their range" in verdict.facts
    narrow = lambda text: text.replace("tl.sum(x.to(tl.int64), axis=1)", "tl.sum(x, axis=1)")  # noqa: E731
    assert narrow(printed("integers")[1]) != printed("integers")[1]
    assert isinstance(read("integers", 0, narrow), Refuted)


def test_the_verdict_depends_on_the_seed_alone():
    assert read("softmax", 1, seed=3) == read("softmax", 1, seed=3)
