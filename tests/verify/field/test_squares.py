"""Rows are drawn again until roots exist, and only the rows that need it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from superopt.verify.field.domain import FieldDomain
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.squares import roots_by_tensor
from superopt.verify.field.squares import with_roots
from superopt.verify.verdict import Sampled
from tests import samples as s
from tests.emit.printed import whole

X, Y = Input("x", ("m", "k")), Input("y", ("m", "k"))


def norm(x):
    return Map(Fn.SQRT, (s.add(s.total("k", s.mul(x, x)), Const(Fraction(1, 7))),))


def normed(*roots):
    value = s.total("m", s.total("k", s.div(X, roots[0])))
    for root in roots[1:]:
        value = s.add(value, root)
    return Program("normed", (X, Y), (Store("out", value.axes, None, value),))


def test_all_roots_exist_afterwards_and_good_rows_stay():
    domain, sizes = FieldDomain(1, 2, 16), {"m": 5, "k": 3}
    before = {x.name: domain.draw(x, (5, 3), 7) for x in (X, Y)}
    after = with_roots(
        normed(norm(X)), domain, before, sizes, lambda x, n: domain.draw(x, (5, 3), 7 + n)
    )
    for level in range(2):
        old, new = before["x"].levels[level].value, after["x"].levels[level].value
        p = domain.tower.p(level, 2)
        square = (new * new % p[..., None]).sum(-1) % p
        seventh = np.array([pow(7, -1, int(q)) for q in p.ravel()], np.uint64)[:, None]
        assert domain.tower.is_square(level, (square + seventh) % p).all()
        kept = (old == new).all(-1)
        assert 0.05 < kept.mean() < 0.6  # one row of four is good at both levels
    assert after["y"] is before["y"]


def test_what_two_tensors_share_is_left_to_chance():
    both = Map(Fn.SQRT, (s.total("k", s.mul(X, Y)),))
    assert roots_by_tensor(normed(both)) == {}


def test_a_tensor_under_roots_over_different_axes_is_left_to_chance():
    columns = Map(Fn.SQRT, (s.total("m", s.mul(X, X)),))
    assert list(roots_by_tensor(normed(norm(X)))) == [X]
    assert roots_by_tensor(normed(norm(X), s.total("k", columns))) == {}


def test_programs_with_many_roots_in_one_element_are_decided():
    program = normed(norm(X))
    verdict = verify_graph(program, whole(program), 0)
    assert isinstance(verdict, Sampled)
    assert verdict.points < 1000
