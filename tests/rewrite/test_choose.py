from __future__ import annotations

from superopt.rewrite.choose import candidates
from superopt.rewrite.choose import cheapest
from superopt.rewrite.choose import shape
from superopt.rewrite.forms import forms
from superopt.rewrite.rank import Sizes
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import saturate
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import canonical
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from tests import samples


def test_the_cheapest_choice_covers_every_class() -> None:
    found = saturate(samples.lora(), Budget())
    assert set(cheapest(found.graph, Sizes({}))) == set(found.graph.classes)


def test_the_number_of_choices_is_bounded() -> None:
    program = canonical(samples.lora())[0]
    found = saturate(program, Budget())
    assert len(candidates(found, program, Sizes({}), 0)) <= 2
    few = len(candidates(found, program, Sizes({}), 5))
    assert few <= len(candidates(found, program, Sizes({}), 500))


def test_shapes_tell_delayed_from_immediate_division() -> None:
    assert shape(samples.attention()) != shape(samples.attention_delayed())


def test_shapes_tell_apart_on_which_side_vectors_stand() -> None:
    g, h = Input("g", ("k",)), Input("h", ("k",))
    left, right = samples.exp(samples.X), samples.exp(samples.W)

    def program(term: Node) -> Program:
        store = Store("out", ("m", "n"), None, samples.total("k", term))
        return Program("p", (samples.X, samples.W, g, h), (store,))

    mul = samples.mul
    apart = program(mul(mul(left, g), mul(right, h)))
    together = program(mul(mul(left, mul(g, h)), right))
    assert shape(apart) != shape(together)
    assert shape(apart) == shape(program(mul(mul(h, left), mul(right, g))))
    made = [f.program for f in forms(canonical(apart)[0], 8)]
    assert {shape(canonical(p)[0]) for p in (apart, together)} <= {shape(p) for p in made}
