from __future__ import annotations

from superopt.repair.record import referred
from superopt.repair.record import states
from superopt.repair.record import to_old
from superopt.repair.record import words
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import topo
from tests.repair.cases import BY_NAME
from tests.repair.cases import X
from tests.repair.cases import repaired
from tests.samples import add
from tests.samples import div
from tests.samples import exp
from tests.samples import mul
from tests.samples import sub

S, T = State("s", ("m",)), State("t", ("m",))


def test_old_states_of_some_or_all():
    both = add(S, T)
    assert to_old(both) is add(State("s", ("m",), True), State("t", ("m",), True))
    assert to_old(both, frozenset({"t"})) is add(S, State("t", ("m",), True))
    assert states(to_old(both, frozenset({"t"}))) == {"s": S}


def test_words_are_short():
    assert words(exp(sub(X, S))) == "exp((x - s))"
    assert words(sub(Index("m"), Size("n"))) == "(index(m) - size(n))"
    assert len(words(mul(exp(sub(X, S)), exp(sub(X, T))), 12)) == 12


def test_a_reference_is_taken_where_the_producer_is_read():
    count = State("c", ())
    term = div(mul(sub(X, div(S, Size("n"))), X), Size("n"))
    changed = referred(term, "n", ((Size("n"), count),))
    assert changed is div(mul(sub(X, div(S, count)), X), Size("n"))


def test_the_record_of_a_softmax():
    _, (found,) = repaired(BY_NAME["logsumexp"])
    assert (found.rank, found.fold, found.action, found.deferred) == (1, Fn.ADD, Fn.MUL, False)
    assert [p.name for p in found.producers] == ["max0"]
    assert found.term is found.carry.term
    assert found.separated.axes == ("m", "n")


def test_segments_are_combined_at_the_common_maximum():
    _, (found,) = repaired(BY_NAME["logsumexp"])
    (producer,), (component,) = found.producers, found.components
    ends = [
        {producer.old: State(f"m{i}", ("m",)), component.old: State(f"l{i}", ("m",))}
        for i in range(2)
    ]
    common = Map(Fn.MAX, (State("m0", ("m",)), State("m1", ("m",))))
    (joined,) = found.combine(ends[0], ends[1], {producer.state: common})
    assert isinstance(joined, Map)
    assert joined.fn is Fn.ADD
    read = {n.carry for n in topo([joined]) if isinstance(n, State)}
    assert read == {"m0", "m1", "l0", "l1"}
