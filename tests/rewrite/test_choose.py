from __future__ import annotations

from superopt.rewrite.choose import candidates
from superopt.rewrite.choose import cheapest
from superopt.rewrite.choose import shape
from superopt.rewrite.rank import Sizes
from superopt.rewrite.saturate import Budget
from superopt.rewrite.saturate import saturate
from superopt.ugraph.names import canonical
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
