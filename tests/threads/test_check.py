"""Illegal schedules are found, each with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.threads.build import build
from superopt.threads.check import check
from superopt.ugraph.threads import Place
from tests.threads.cases import block
from tests.threads.cases import config


def graph(name):
    return build(block(name), config(block(name)), "bf16")


def changed(name, **parts):
    """The graph of a case with other places for some instructions, waits or loads."""
    old = graph(name)
    schedule = old.bodies[0].schedule
    new = {
        part: tuple((n, places.get(n, p)) for n, p in getattr(schedule, part))
        for part, places in parts.items()
    }
    return replace(old, bodies=(replace(old.bodies[0], schedule=replace(schedule, **new)),))


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"places": {"max_2": Place(0, 20)}}, "'max0' reads 'max_2' before it is there"),
        ({"places": {"exp2_6": Place(1, 7)}}, "'operand_7' reads 'exp2_6' before it is there"),
        ({"places": {"max_2": Place(0, 4)}}, "place 4 of a step is taken twice"),
        ({"places": {"max_2": Place(-1, 3)}}, "a step has a stage before the first"),
        ({"waits": {"product_1": Place(0, -1)}}, "'product_1' is awaited before it is issued"),
        ({"loads": {"k": Place(0, 1)}}, "place 1 of a load is taken twice"),
    ],
)
def test_a_wrong_place_has_a_reason(parts, why):
    assert why in check(changed("plain", **parts))


def test_products_that_others_read_do_not_fly_over_the_end_of_a_step():
    late = {"product_1": Place(1, 2)}
    moved = {
        n: Place(p.stage + 1, p.order)
        for n, p in graph("plain").bodies[0].schedule.places
        if n != "product_1"
    }
    found = check(changed("plain", waits={**late, "sum0": Place(2, 12)}, places=moved))
    assert found == ["'product_1' is in flight at the end of a step, and others read it"]


def test_what_is_missing_or_unknown_is_named():
    old = graph("plain")
    schedule = old.bodies[0].schedule
    less = replace(
        schedule, places=schedule.places[1:], waits=(*schedule.waits, ("x", Place(0, 30)))
    )
    found = check(replace(old, bodies=(replace(old.bodies[0], schedule=less),)))
    assert "the instruction of 'product_1' is placed 0 times" in found
    assert "the wait of 'x' is placed 1 times" in found


def test_a_ring_that_is_too_small_stops_both_roles():
    old = graph("matmul")
    small = replace(old, pipes=tuple(replace(p, capacity=1) for p in old.pipes))
    assert check(small) == [
        "with 2 iterations, a consumer waits for tile 1 of 'x_y', and the producer for a slot of "
        "'x_y'"
    ]


def test_an_order_of_copies_that_nobody_can_follow_stops_both_roles():
    old = graph("plain")
    schedule = old.bodies[0].schedule
    # Tiles of v two steps ahead of k: their slots are given back too late.
    loads = (("k", Place(2, 1)), ("v", Place(0, 0)))
    body = replace(old.bodies[0], schedule=replace(schedule, loads=loads))
    small = tuple(replace(p, capacity=1) for p in old.pipes)
    (why,) = check(replace(old, bodies=(body,), pipes=small))
    assert "a consumer waits for tile 0 of 'k', and the producer for a slot of 'v'" in why
