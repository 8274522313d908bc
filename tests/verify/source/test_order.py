"""The order reading refutes what holds for reals only, and accepts what is printed."""

from __future__ import annotations

import numpy as np
import pytest

from superopt.ugraph.scalar import Fn
from superopt.verify.source import order
from superopt.verify.source.cells import OrderDomain
from superopt.verify.source.load import read_text
from superopt.verify.source.order import FAMILIES
from superopt.verify.source.order import Seen
from superopt.verify.source.order import _noise
from superopt.verify.source.order import _off
from superopt.verify.source.order import read_order
from superopt.verify.source.trials import text_trials
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from tests import samples
from tests.emit.cases import CASES
from tests.verify.source.faults import ORDER
from tests.verify.source.faults import SHORT
from tests.verify.source.faults import seeded


def read(name, graph=0, change=lambda text: text):
    case = CASES[name]()
    return read_order(read_text(change(case.text())), case.program, case.graphs[graph], graph)


@pytest.mark.parametrize("graph", [0, 1])
@pytest.mark.parametrize("name", ["attention", "causal", "softmax"])
def test_printed_text_is_equal_to_its_spec_in_float64(name, graph):
    seen = read(name, graph)
    assert isinstance(seen, Seen), seen
    assert seen.points == 3 * len(FAMILIES)
    assert seen.exponents == seen.points


@pytest.mark.parametrize("fault", ORDER, ids=lambda f: f.name)
def test_seeded_fault_is_refuted_by_the_order_reading(fault):
    verdict = read(fault.case, fault.graph, lambda text: seeded(text, fault))
    assert isinstance(verdict, Refuted), verdict
    assert verdict.at


@pytest.mark.parametrize(("name", "graph"), [("listing", 5), ("ties", 2)])
def test_lists_are_ranked_as_in_the_spec_with_more_candidates_than_ranks(name, graph):
    seen = read(name, graph)
    assert isinstance(seen, Seen), seen
    assert seen.points == 3 * len(FAMILIES)


def test_a_list_that_is_cut_short_is_refuted():
    verdict = read(SHORT.case, SHORT.graph, lambda text: seeded(text, SHORT))
    assert isinstance(verdict, Refuted)
    assert SHORT.says in verdict.what


def test_an_exponential_of_a_positive_number_is_refuted_though_the_result_is_right():
    """Without a stabiliser small scores still give the right result in float64."""
    (naive,) = [f for f in ORDER if f.name == "no stabiliser"]
    verdict = read("attention", 0, lambda text: seeded(text, naive))
    assert isinstance(verdict, Refuted)
    assert ("inputs", "ordinary") in verdict.at
    assert "exponential of a positive number" in verdict.what


@pytest.mark.parametrize("graph", [0, 1])
def test_what_a_difference_of_large_sums_has_lost_is_no_positive_exponent(graph):
    """Totals of 1e12, less their prefixes in another order of addition."""
    assert isinstance(read("decay", graph), Seen)


def test_the_text_runs_once_where_the_rule_for_exponentials_changes_nothing(monkeypatch):
    domains = []
    compared = order._compared
    monkeypatch.setattr(order, "_compared", lambda *a: domains.append(a[-1]) or compared(*a))
    seen = read("softmax")
    assert isinstance(seen, Seen)
    ruled = [d for d in domains if isinstance(d, OrderDomain)]
    assert len(ruled) == seen.points
    assert len(domains) - len(ruled) == sum(d.above > 0 for d in ruled)


@pytest.mark.parametrize(("exponent", "beside"), [(1e-4, -1e6), (1.0, -1e12), (1e6, 0.0)])
def test_an_exponent_that_no_rounding_explains_counts(exponent, beside):
    domain = OrderDomain(order.HIGHEST)
    found = domain.apply(Fn.EXP, (np.array([exponent, beside, -np.inf]),))
    assert np.isnan(found[0])
    assert domain.above == 1
    domain.apply(Fn.EXP, (np.array([1e-4, -1e12]),))
    assert domain.above == 1


def test_where_the_spec_has_no_exponentials_none_are_claimed():
    seen = read("layer_norm")
    assert isinstance(seen, Seen)
    assert seen.exponents == 0


def test_what_has_no_meaning_is_unknown():
    verdict = read("softmax", 0, lambda text: text.replace("tl.exp2(", "tl.atan("))
    assert isinstance(verdict, Unknown)
    assert "tl.atan" in verdict.why


def test_what_cancels_in_the_spec_is_rounding_and_no_difference():
    """Labels and weights of a cross entropy: equal scores leave 0 where float64 leaves 1e-14."""
    wanted, got = np.array([-5.2e-14, 3.0]), np.array([0.0, 3.0])
    alone = slice(0, 1)
    assert _off(wanted[alone], got[alone]).any()
    assert not _off(wanted[alone], got[alone], 5.2e-14).any()
    assert _off(wanted[alone], got[alone] + 1e-9, 5.2e-14).any()


def test_the_noise_of_a_spec_is_what_float64_loses():
    program = samples.row_softmax()
    (trial,) = [t for t in text_trials(program, samples.two_pass_softmax()) if t.label == "full"]
    shape = tuple(trial.size[a] for a in ("m", "n"))
    noise = _noise(program, {"x": np.full(shape, 1e6) * np.linspace(1, 1 + 1e-6, shape[1])}, trial)
    assert 0 < noise["out"] < 1e-9
