"""Printed texts are read, and what is claimed of them is proved for all sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.ugraph.masks import cleared
from superopt.verify.source.symbolic.linear import NEGATED
from superopt.verify.source.symbolic.read import WIDTH
from superopt.verify.source.symbolic.read import _Plan
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.symbolic.solve import answer
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import spoken
from tests import samples
from tests.emit.cases import CASES

READ = {
    "causal": "attention",  # clear tiles, limits of walks, split with a combining kernel
    "packed": "grouped",  # axes that share tiles
    "columns": "columns",
    "softmax": "softmax",  # stores in a walk
    "rms": "rms_linear",  # programs in groups
    "window": "window",  # a run-time width, walked from the end
    "two_kernels": "chain",
    "kinds": "kinds",  # integers and truth values
    "nested": "probabilities",  # walks inside walks
}


@pytest.fixture(scope="module")
def readings():
    return {
        name: read_symbolic(CASES[name]().text(descriptors=name == "rms"), function)
        for name, function in READ.items()
    }


@pytest.mark.parametrize("name", READ)
def test_every_claim_is_proved(readings, name):
    wanting = [f"{c}: {spoken(v)}" for c, v in readings[name].claims if not isinstance(v, Proved)]
    assert wanting == []


@pytest.mark.parametrize("name", READ)
def test_claims_are_of_every_kind(readings, name):
    claims = [c.split(": ")[1] for c, _ in readings[name].claims]
    for words in (
        *("in bounds", "is stored twice", "every element of", "fit their width"),
        *("divisors are positive", "launches"),
    ):
        assert any(words in c for c in claims), words


@pytest.mark.parametrize("name", ["causal", "rms", "nested"])
def test_no_proof_rests_on_a_contradiction(readings, name):
    """Without the negated goal every question can be satisfied."""
    for query in readings[name].queries:
        facts, _, against = query.smt2.partition(NEGATED)
        if "(assert true)" not in against:  # else the goal itself is a contradiction
            assert answer(facts + "\n(check-sat)\n") == "sat", query.claim


@pytest.mark.parametrize("name", ["softmax", "rms"])
def test_a_second_reading_asks_the_same(readings, name):
    text = CASES[name]().text(descriptors=name == "rms")
    assert read_symbolic(text, READ[name]) == readings[name]


def test_a_workspace_is_read_after_it_is_stored(readings):
    names = [c for c, _ in readings["causal"].claims]
    assert "attention_g1_k1: part0_o is read after it is stored" in names


def test_no_file_of_ours_is_unknown():
    reading = read_symbolic("x = 1\n", "f")
    assert reading.claims == (("f: memory", Unknown("the file has no PLANS")),)


def test_of_a_file_with_roles_all_functions_are_read():
    graph = samples.online_attention()
    graph = replace(graph, kernels=tuple(map(cleared, graph.kernels)))
    tiles = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
    sizes = tuple({"b": 2, "h": 2, "m": 256, "n": 256, "d": 64, "e": 64}.items())
    configs = (Config(tiles, stages=2, consumers=2), Config(tiles, stages=2))
    rows = [Row("one", 0, (c,), sizes) for c in configs]
    text = emit(samples.attention(), [graph], rows, Header(""))
    claims = dict(read_symbolic(text, "attention", refute=False).claims)
    assert all(isinstance(v, Proved) for v in claims.values())
    names = {c.split(":")[0] for c in claims}
    assert names == {"attention_g0_k0", "attention_g0_k0_roles2", "attention, graph 0"}


def test_parts_of_many_tiles_do_not_overflow():
    """Together they are more than 2**31 for sizes that the launcher lets through."""
    tiles = '{"m": 16, "d": 16, "n": 16, "e": 16}, parts=3'
    text = CASES["attention"]().text()
    assert text.count(tiles) == 1
    text = text.replace(tiles, tiles.replace('"n": 16', '"n": 4096').replace("=3", "=32"))
    claim = f"attention_g1_k0: {WIDTH}"
    assert isinstance(dict(read_symbolic(text, "attention").claims)[claim], Proved)
    right = "n_end = n_begin + tl.minimum(n_length, n_size - n_begin)"
    assert text.count(right) == 1
    changed = text.replace(right, "n_end = tl.minimum(n_begin + n_length, n_size)")
    assert isinstance(dict(read_symbolic(changed, "attention").claims)[claim], Refuted)


@pytest.mark.parametrize(
    ("tiles", "read"), [({"d": 32, "e": 32}, 1), ({"n": 32}, 2)], ids=["unused", "used"]
)
def test_plans_are_read_once_if_the_numbers_that_launches_depend_on_are_the_same(
    monkeypatch, tiles, read
):
    """Axes that are kept whole have tiles in a plan, which the launcher does not ask for."""
    seen = []
    launch = _Plan._launch
    monkeypatch.setattr(_Plan, "_launch", lambda self, one: seen.append(one) or launch(self, one))
    sizes = {"b": 2, "h": 2, "m": 64, "n": 64, "d": 16, "e": 16}
    first = {"m": 16, "d": 16, "n": 16, "e": 16}
    rows = [
        Row(f"case{i}", 0, (Config(tuple(t.items())),), tuple((sizes | {"m": 64 + i}).items()))
        for i, t in enumerate((first, first | tiles))
    ]
    text = emit(samples.attention(), [samples.online_attention()], rows, Header(""))
    claims = read_symbolic(text, "attention", refute=False).claims
    assert all(isinstance(v, Proved) for _, v in claims)
    assert len(seen) == read
