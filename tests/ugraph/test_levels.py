from __future__ import annotations

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests.samples import add
from tests.samples import mul
from tests.samples import online_attention
from tests.samples import total
from tests.samples import two_pass_softmax

X = Input("x", ("m", "n"))
P, Q = State("p", ("m",), old=True), State("q", ("m",), old=True)
F, G = Input("f", ("m",)), Input("g", ("m",))


def test_a_plain_carry_keeps_its_old_value():
    carry = Carry("p", ("m",), Fn.ADD, X)
    assert carry.update("n", {"p": carry}) is add(P, total("n", X))


def test_a_repaired_carry_is_moved_by_a_row_of_the_change_of_basis():
    q = Carry("q", ("m",), Fn.ADD, X)
    p = Carry("p", ("m",), Fn.ADD, X, (Move("p", F), Move("q", G)))
    kept = p.kept({"p": p, "q": q})
    assert kept is add(mul(P, F), mul(Q, G))


def test_a_store_is_read_as_the_input_of_the_same_memory():
    store = Store("y", ("n", "m"), "fp32", X)
    assert store.as_input() is Input("y", ("n", "m"), "fp32")


def test_roots_and_stores_of_a_block():
    block = two_pass_softmax().kernels[0]
    assert [s.name for s in block.all_stores] == ["out"]
    first, second = block.walks
    terms = [c.term for c in first.carries]
    assert block.roots() == [*terms, first.carries[1].moves[0].factor, second.stores[0].value]
    assert set(online_attention().kernels[0].place) == {"b", "h", "m", "d", "n", "e"}
