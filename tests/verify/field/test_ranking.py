"""Lists of the best in fields: which graphs are accepted, and which never."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Listed
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from superopt.verify.field.array import FINITE
from superopt.verify.field.array import exact_of
from superopt.verify.field.depths import cone_of
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.ranking import candidates
from superopt.verify.field.ranking import choices
from superopt.verify.field.termdomain import TermArray
from superopt.verify.field.termdomain import TermDomain
from superopt.verify.field.terms import Terms
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import accepted
from tests import samples as s
from tests.emit.list_cases import graph
from tests.emit.list_cases import lists

X = Input("x", ("m", "n"))
Z = Input("z", ("m", "n"))
AXES = ("m", "n", "t")


def stored(value: Node, half: int = 0) -> Program:
    """One half of the list of a value."""
    node = lists(value)[half]
    params = tuple(p for p in (X, Z) if p in topo([value]))
    return Program("p", params, (Store("out", node.axes, None, node),), (("t", 2),))


def share() -> Program:
    """The powers of the best among all."""
    values, _ = lists(X)
    peak = s.largest("n", X)
    part = s.div(s.exp(s.sub(values, peak)), s.total("n", s.exp(s.sub(X, peak))))
    return Program("p", (X,), (Store("out", ("m", "t"), None, part),), (("t", 2),))


@pytest.mark.parametrize("place", [Loop(), Whole(), Split()])
@pytest.mark.parametrize("half", [0, 1])
def test_a_walk_and_its_parts_give_the_list(place, half):
    program = stored(X, half)
    assert accepted(verify_graph(program, graph(program, place, AXES, True), 0))


def test_a_list_beside_a_repaired_sum_is_accepted():
    program = share()
    assert accepted(verify_graph(program, graph(program, Loop(), AXES, True), 0))


def test_the_best_of_products_are_accepted_in_walks_inside_walks():
    """The candidates of both sides are sums in another order, but the same polynomials."""
    a, b = Input("a", ("m", "k")), Input("b", ("k", "n"))
    values, places = lists(s.total("k", s.mul(a, b)))
    stores = (
        Store("values", ("m", "t"), "fp32", values),
        Store("places", ("m", "t"), "int32", places),
    )
    home = (("m", Grid()), ("k", Loop()), ("n", Loop()), ("t", Whole()))
    (passes,) = groupings(stores, ["n", "k"])
    block = fuse(stores, home, (Turn("m"),), passes)
    program = Program("p", (a, b), stores, (("t", 2),))
    found = KernelGraph("p", program.params, ("values", "places"), (block,), program.fixed)
    assert block.walks[0].inner
    assert accepted(verify_graph(program, found, 0))


def changed(program: Program, **fields: object) -> KernelGraph:
    """The rolling graph with other carries."""
    found = graph(program, Loop(), AXES, True)
    (block,) = found.kernels
    (walk,) = block.walks
    carries = tuple(replace(c, **fields) for c in walk.carries)
    return replace(found, kernels=(replace(block, walks=(replace(walk, carries=carries),)),))


@pytest.mark.parametrize("half", [0, 1])
def test_the_best_of_something_else_are_never_accepted(half):
    program = stored(X, half)
    for other in (s.mul(s.num(-1), X), s.mul(X, X), s.add(X, Index("n"))):
        verdict = verify_graph(program, changed(program, term=other), 0)
        assert not accepted(verdict), other
        assert isinstance(verdict, Refuted)  # by an example in floats


def test_two_tensors_are_not_ranked_alike():
    program = replace(stored(X, 1), params=(X, Z))
    other = replace(stored(Z, 1), params=(X, Z))
    assert not accepted(verify_graph(program, graph(other, Whole(), AXES, True), 0))


def test_values_are_not_exchanged():
    """The second best for the best: the ranks are turned around."""
    program = stored(X)
    values, _ = lists(X)

    best = s.total("t", s.where(s.eq(Index("t"), s.num(0)), values, s.num(0)))
    second = s.total("t", s.where(s.eq(Index("t"), s.num(1)), values, s.num(0)))
    spec = replace(program, outputs=(Store("out", ("m",), None, best),))
    wrong = replace(program, outputs=(Store("out", ("m",), None, second),))
    assert accepted(verify_graph(spec, graph(spec, Whole(), AXES, True), 0))
    assert not accepted(verify_graph(spec, graph(wrong, Whole(), AXES, True), 0))


def test_a_list_that_loses_a_tile_is_not_accepted():
    """A fault that only shows where the best lie in the tile that is lost."""
    program = stored(X)
    lost = s.where(Map(Fn.LT, (Index("n"), s.num(2))), X, Const(-INF))
    assert not accepted(verify_graph(program, changed(program, term=lost), 0))


def test_a_walk_that_lists_what_moves_is_no_valid_claim_about_it():
    """Positions of the best need the values of the best: a half without the other is refused."""
    from superopt.ugraph.check import check

    program = stored(X, 1)
    (block,) = graph(program, Loop(), AXES, True).kernels
    (walk,) = block.walks
    alone = replace(walk, carries=walk.carries[1:])
    assert any("other half" in line for line in check(replace(block, walks=(alone,))))
    listed = Listed("m", "n", "best0_at")
    odd = tuple(replace(c, listed=replace(listed, at=c.listed.at)) for c in walk.carries)
    assert check(replace(block, walks=(replace(walk, carries=odd),)))


def test_what_is_drawn():
    """Places are those of different candidates, the same ones for the same numbers."""
    domain = FieldDomain(0, levels=1, rounds=40)
    x = domain.draw(Input("x", ("n",), "fp32"), (4,), 3)
    places = domain.integers(0, 4)
    found = exact_of(domain.best(x, places, 3, 4, True))
    assert all(len(set(row)) == 3 for row in found.tolist())
    assert len({tuple(row) for row in found.tolist()}) > 10
    values = domain.best(x, places, 3, 4, False)
    again = domain.best(values, domain.best(x, places, 3, 4, True), 3, 4, True)
    assert np.array_equal(exact_of(again), found)


def test_infinities_are_ranked_as_they_are():
    domain = FieldDomain(0, levels=1, rounds=4)
    parts = [domain.full((1,), v) for v in (-INF, INF, Fraction(3), -INF)]
    places = exact_of(domain.best(domain.join(parts, 0), domain.integers(0, 4), 5, 4, True))
    assert places[0].tolist() == [1, 2, 0, 3, 4]


def test_terms_settle_what_the_order_does_not_decide():
    terms = Terms()
    domain = TermDomain(terms)
    x = domain.letters("x", (1,))
    low = domain.full((2,), -INF)
    found = domain.best(domain.join([low, x], 0), domain.integers(0, 3), 3, 3, True)
    assert [terms.number(t) for t in found.terms.tolist()] == [2, 0, 1]
    two = domain.letters("x", (2,))
    values = domain.best(two, domain.integers(0, 2), 1, 2, False)
    assert terms.all[int(values.terms[0])].op == "best"
    assert candidates(terms, cone_of(terms, values.terms.tolist())) == [set(two.terms.tolist())]
    assert FINITE == 0


def asked(terms: Terms, *roots: TermArray) -> float:
    """How many choices the orders of candidates below ``roots`` are."""
    cone = cone_of(terms, [int(t) for root in roots for t in root.terms.ravel()])
    return choices(Polynomials(terms, {}), candidates(terms, cone))


def test_lists_of_different_numbers_are_in_independent_orders():
    terms = Terms()
    domain = TermDomain(terms)
    x, y = domain.letters("x", (3,)), domain.letters("y", (4,))
    places = domain.integers(0, 7)

    def best(*parts: TermArray) -> TermArray:
        row = domain.join(parts, 0)
        return domain.best(row, domain.slice(places, 0, 0, len(row.terms)), 2, 7, False)

    assert asked(terms, best(x)) == pytest.approx(np.log2(6))
    assert asked(terms, best(x), best(y)) == pytest.approx(np.log2(6 * 24))
    joined = best(best(x), best(y))
    assert asked(terms, joined) == pytest.approx(np.log2(5040))
    assert asked(terms, best(x), best(domain.slice(x, 0, 0, 2), y)) == pytest.approx(np.log2(5040))
    # What a list depends on: its candidates are others for another order there.
    shifted = domain.apply(Fn.ADD, (best(x), domain.slice(y, 0, 0, 2)))
    assert asked(terms, best(shifted)) == pytest.approx(np.log2(120))


def test_equal_numbers_of_two_lists_have_one_place():
    terms = Terms()
    domain = TermDomain(terms)
    x, y = domain.letters("x", (2,)), domain.letters("y", (2,))
    sums = domain.apply(Fn.ADD, (x, y)), domain.apply(Fn.ADD, (domain.apply(Fn.ADD, (x, x)), y))
    less = domain.apply(Fn.SUB, (sums[1], x))  # the same sums, written in another way
    lists = [domain.best(s, domain.integers(0, 2), 1, 2, False) for s in (sums[0], less)]
    assert asked(terms, *lists) == pytest.approx(1)


def test_a_carry_of_a_list_reads_both_old_halves():
    listed = Listed("t", "n", "b")
    one = Carry("a", ("m", "t"), Fn.MAX, X, listed=listed)
    two = Carry("b", ("m", "t"), Fn.MAX, X, listed=replace(listed, other="a", at=True))
    update = two.update("n", {"a": one, "b": two})
    assert update.args == (one.old, two.old, X, Index("n"))
    assert two.state.whole
    assert not one.state.whole
