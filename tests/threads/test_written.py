"""A schedule as a word of a Config, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.errors import NotEmittable
from superopt.threads.build import build
from superopt.threads.build import of_config
from superopt.threads.written import scheduled
from superopt.threads.written import written
from superopt.ugraph.levels import Config
from superopt.ugraph.parse import parse_as
from superopt.ugraph.text import show
from tests.threads.cases import ALL
from tests.threads.cases import block
from tests.threads.cases import config


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_a_word_says_the_schedule_again(name, early):
    graph = build(block(name), config(block(name)), "bf16", early=early)
    (body,) = graph.bodies
    word = written(body, graph.pipes)
    again = scheduled(word, body.axis, body.instrs, graph.pipes)
    assert written(replace(body, schedule=again), graph.pipes) == word
    for kind in ("place", "wait"):
        before, after = getattr(body.schedule, kind), getattr(again, kind)
        assert {n: p.stage for n, p in before.items()} == {n: p.stage for n, p in after.items()}
        assert sorted(before, key=lambda n: before[n].order) == sorted(
            after, key=lambda n: after[n].order
        )


@pytest.mark.parametrize("word", ["i9at0", "x0at0", "i0at0.w", "l7at0"])
def test_a_word_of_another_body_is_refused(word):
    graph = build(block("matmul"), config(block("matmul")), "bf16")
    (body,) = graph.bodies
    with pytest.raises(NotEmittable, match="nothing that the walk of 'k' has"):
        scheduled(word, body.axis, body.instrs, graph.pipes)


def test_a_config_asks_for_a_schedule_and_turns():
    plain = replace(config(block("plain")), consumers=2)
    turns = build(block("plain"), plain, "bf16", early=False)
    (body,) = turns.bodies
    word = written(body, turns.pipes)
    graph = of_config(block("plain"), replace(plain, ring=True, schedule=word), "bf16")
    assert graph.ring
    assert written(graph.bodies[0], graph.pipes) == word


def test_a_schedule_that_deadlocks_is_refused():
    plain = replace(config(block("plain")), consumers=2)
    graph = of_config(block("plain"), plain, "bf16")
    (body,) = graph.bodies
    word = written(body, graph.pipes).replace("l0at0", "l0at3")
    with pytest.raises(NotEmittable, match=r"waits for tile|nobody moves"):
        of_config(block("plain"), replace(plain, schedule=word), "bf16")


def test_configs_with_roles_print_and_parse():
    made = Config(
        (("m", 64),), 1, 4, 3, consumers=2, ring=True, joined=True, schedule="i0at0.l0at1"
    )
    assert parse_as(Config, show(made)) == made
    assert made.kind.startswith("ring_joined_s")
    assert replace(made, schedule="", joined=False).kind == "ring"
    assert Config(()).kind == ""
