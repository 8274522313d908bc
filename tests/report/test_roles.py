"""What the report says of the warps of a winner's launches."""

from __future__ import annotations

from dataclasses import replace

from superopt.case import Case
from superopt.case import bind
from superopt.report.picture import drawn
from superopt.report.roles import roles_of
from superopt.report.roles import thread_boxes
from superopt.report.roles import told
from superopt.run import Candidate
from superopt.run import Stage
from superopt.ugraph.levels import Config
from superopt.ugraph.masks import cleared
from tests import samples

SIZES = {"b": 1, "h": 1, "m": 256, "n": 256, "d": 64, "e": 64}
TILES = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
CASE = bind(Case("small", **SIZES), tuple(SIZES), {}, "bf16")
ROLES = Config(TILES, stages=3, consumers=2, ring=True, joined=True)


def winner(config: Config) -> Candidate:
    graph = samples.online_attention(causal=True)
    graph = replace(graph, kernels=tuple(map(cleared, graph.kernels)))
    return Candidate("a", graph, (config,), 1.0, 1.0, Stage.VERIFIED)


def test_a_launch_with_roles_shows_its_pipes_and_its_steps_in_order():
    first, *lines = told(winner(ROLES), CASE, "h200")
    assert first.startswith("launch 0: 1 producer and 2 consumers of 64 m, in turns, masked tiles")
    assert "24 and 240 registers a thread" in first
    assert "conversions of layouts" in first
    assert lines[1] == "  pipe k: k[b h n d], 3 slots along n"
    steps = lines[3:]
    assert steps[0] == "  product product_1 = sum_d(q * k)"
    assert steps[1].startswith("  product o[-1] = sum_n(operand_")
    assert "  await product_1, 1 more in flight" in steps
    assert len(steps) == len(set(steps)) > 10


def test_that_consumers_take_tiles_in_turn_is_said():
    alone = replace(ROLES, ring=False, persistent=2, pingpong=True)
    first, *_ = told(winner(alone), CASE, "h200")
    assert "2 consumers of 64 m, which take whole tiles in turn, masked tiles" in first
    assert "each program for several tiles" in first


def test_a_launch_without_roles_says_why():
    plain = replace(ROLES, consumers=0)
    assert list(told(winner(plain), CASE, "a100")) == [
        "launch 0: no roles: sm_80 has no asynchronous products"
    ]
    full = bind(Case("full", **SIZES), tuple(SIZES), {}, "fp32")
    (said,) = told(winner(plain), full, "h200")
    assert said.endswith("multiplies fp32")
    (said,) = told(winner(plain), CASE, "h200")
    assert "a plain function was better" in said


def test_the_picture_has_a_box_for_each_role():
    (roles,) = roles_of(winner(ROLES), CASE)
    (box,) = thread_boxes(roles)
    assert [inner.head[0].text.partition(":")[0] for inner in box.inner] == [
        "producer",
        "2 consumers",
    ]
    svg = drawn((box,), "roles & more")
    assert 'aria-label="roles &amp; more"' in svg
    assert svg.count("<rect") == 3
    assert "copy k: k[b h n d], 3 slots along n" in svg
