"""A value stands in the body of a walk exactly if something below it varies over the walk."""

from __future__ import annotations

import pytest

from superopt.emit.expression import Expressions
from superopt.emit.program import Frame
from superopt.emit.value import Value
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Kind
from tests import samples
from tests.samples import mul

BLOCK = samples.two_pass_softmax().kernels[0]
FIRST, SECOND = BLOCK.walks
X, ROW, STATE = Input("x", ("m", "n")), Input("r", ("m",)), State("l", ("m",))


@pytest.fixture
def scopes():
    found = Expressions(Frame(BLOCK), ())
    found.frame.begin("n", "n_first")
    return found


@pytest.mark.parametrize(
    ("walk", "varying"),
    [(None, set()), (FIRST, {X, STATE, Index("n")}), (SECOND, {X, Index("n")})],
)
def test_what_varies(scopes, walk, varying):
    """A state varies in the walk that keeps it, and is a value outside of the next one."""
    if walk is not None:
        scopes.enter(walk)
    leaves = {X, ROW, STATE, Index("n"), Index("m"), Size("n")}
    assert {n for n in leaves if scopes.varies(n)} == varying
    assert scopes.varies(mul(ROW, X)) == (X in varying)


def test_a_variable_stands_in_its_scope(scopes):
    scopes.enter(FIRST)
    inside = scopes.assign(mul(X, X), Value("x * x", ("m", "n"), Kind.REAL))
    outside = scopes.assign(mul(ROW, ROW), Value("r * r", ("m",), Kind.REAL))
    assert inside.text != outside.text
    assert f"{inside.text} = x * x" in scopes.frame.here.text()
    assert f"{outside.text} = r * r" in scopes.frame.lines.text()


def test_a_loop_over_other_tiles_takes_the_same_names(scopes):
    scopes.enter(FIRST)
    first = scopes.local("x_tile")
    scopes.forget()
    again = scopes.local("x_tile")
    scopes.enter(SECOND)
    assert again == first
    assert scopes.local("x_tile") != first
