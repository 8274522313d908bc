"""What follows from a schedule."""

from __future__ import annotations

from superopt.threads.build import build
from superopt.threads.flight import Pass
from superopt.threads.flight import age
from superopt.threads.flight import chained
from superopt.threads.flight import events
from superopt.threads.flight import kept
from superopt.threads.flight import last_taken
from superopt.threads.flight import outstanding
from superopt.threads.flight import passes
from superopt.threads.flight import reading
from superopt.ugraph.threads import Use
from tests.threads.cases import block
from tests.threads.cases import config


def body(name, early=True):
    return build(block(name), config(block(name)), "bf16", early=early).bodies[0]


def test_passes_fill_and_drain_the_pipeline():
    assert [(p.kind, p.stages) for p in passes(3)] == [
        *(("first", (0,)), ("first", (0, 1))),
        ("loop", (0, 1, 2)),
        *(("last", (1, 2)), ("last", (2,))),
    ]
    assert [p.kind for p in passes(1)] == ["loop"]


def test_a_pass_knows_the_iterations_of_its_stages():
    assert Pass("first", 1, (0, 1)).iteration(1, "", "n") == "0"
    assert Pass("loop", 0, (0, 1)).iteration(1, "j", "n") == "j - 1"
    assert Pass("last", 0, (1,)).iteration(1, "", "n") == "n - 1"


def test_waits_let_as_many_products_fly_as_were_issued_after():
    found = outstanding(body("plain"))
    assert found["loop", 0, 2] == 1  # scores: the values of the iteration before fly on
    assert found["loop", 0, 12] == 0
    assert found["first", 0, 2] == 0  # nothing else has been issued
    assert found["last", 0, 12] == 0
    chain = outstanding(body("matmul"))
    assert (chain["loop", 0, 1], chain["last", 0, 1]) == (1, 0)


def test_two_chains_leave_what_was_issued_after_each():
    found = outstanding(body("gated"))
    assert (found["loop", 0, 2], found["loop", 0, 3]) == (3, 2)
    assert (found["last", 0, 2], found["last", 0, 3]) == (1, 0)


def test_an_old_value_is_kept_while_somebody_reads_it():
    plain = body("plain")
    assert {name: n for name, n in kept(plain).items() if n} == {"max0": 1}
    names = plain.by_name
    assert age(plain, names["mul_8"], Use("max0", 1)) == 1
    assert age(plain, names["max0"], Use("max0", 1)) == 0
    assert age(plain, names["sum0_kept"], Use("sum0", 1)) == 0  # the wait comes before


def test_only_a_product_onto_itself_is_a_chain():
    assert chained(body("matmul"), body("matmul").by_name["sum0"])
    assert not chained(body("matmul", early=False), body("matmul").by_name["sum0"])
    assert not chained(body("plain"), body("plain").by_name["sum0"])


def test_a_tile_is_read_from_the_first_product_until_the_last_wait():
    graph = build(block("plain"), config(block("plain")), "bf16")
    found = reading(graph.bodies[0], [p for p in graph.pipes if p.walk])
    assert [(e.name, e.wait, e.place.stage) for e in found["v"]] == [
        ("sum0", False, 1),
        ("sum0", True, 1),
    ]
    biased = build(block("biased"), config(block("biased")), "bf16")
    first, last = reading(biased.bodies[0], [p for p in biased.pipes if p.walk])["bias"]
    assert first == last


def test_a_walk_is_through_when_its_last_product_is_issued_and_its_last_tile_has_come():
    def through(name, **keywords):
        graph = build(block(name), config(block(name)), "bf16", **keywords)
        (one,) = graph.bodies
        kind, number, place = last_taken(one, [p for p in graph.pipes if p.walk])
        return kind, number, events(one)[place].name

    assert through("matmul") == ("loop", 0, "sum0")  # and awaited behind it
    assert through("plain") == ("last", 0, "sum0")  # of the values, one step late
    assert through("plain", early=False) == ("loop", 0, "sum0")
