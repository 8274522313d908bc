from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.dependent import neighbours
from superopt.emit.module import emit
from superopt.emit.module import print_graph
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from tests import samples as s
from tests.emit.cases import CASES

WAIT, LEAD = "tl.extra.cuda.gdc_wait()", "tl.extra.cuda.gdc_launch_dependents()"
PARTS = Config((("m", 16), ("d", 16), ("n", 16), ("e", 16)), parts=3)
COMBINING = Config((("m", 16), ("n.part", 16), ("e", 16)), parts=3)
SIZES = {"b": 1, "h": 1, "m": 16, "n": 64, "d": 16, "e": 16}


@pytest.mark.parametrize("name", CASES)
def test_every_later_launch_waits_before_all_else(name: str) -> None:
    case = CASES[name]()
    for graph in case.graphs:
        printed = print_graph(graph)
        for number, kernel in enumerate(printed):
            for one in filter(None, (kernel, kernel.twin)):
                (function,) = ast.parse(one.text).body
                assert isinstance(function, ast.FunctionDef)
                body = [ast.unparse(line) for line in function.body]
                expected = [f"if DEPENDENT:\n    {WAIT}"] * (number > 0)
                expected += [f"if LEADS:\n    {LEAD}"] * (number + 1 < len(printed))
                assert body[: len(expected)] == expected
                assert not any("gdc" in line for line in body[len(expected) :])
                arguments = [a.arg for a in function.args.args]
                assert ("DEPENDENT" in arguments) == (number > 0)
                assert ("LEADS" in arguments) == (number + 1 < len(printed))


def test_a_launch_in_the_middle_waits_before_it_leads() -> None:
    assert neighbours(1, 3).constants == ("DEPENDENT", "LEADS")
    assert neighbours(0, 1).constants == ()
    assert neighbours(2, 3).constants == ("DEPENDENT",)


def test_three_launches() -> None:
    once = s.rms_linear_one_walk(split=True).kernels[0]
    graph = KernelGraph("chain", (), (), (once, replace(once, walks=once.walks)))
    assert [k.neighbours.constants for k in print_graph(graph)] == [
        ("LEADS",),
        ("DEPENDENT", "LEADS"),
        ("DEPENDENT", "LEADS"),
        ("DEPENDENT",),
    ]


def text(configs: tuple[Config, ...]) -> str:
    row = Row("a", 0, configs, tuple(SIZES.items()))
    return emit(s.attention(), [s.online_attention(split=len(configs) > 1)], [row], Header())


def test_one_launch_has_nothing_of_it() -> None:
    alone = text((replace(PARTS, parts=1),))
    assert alone.count("dependent") == 1  # the field of Launch
    for word in ("DEPENDENT", "LEADS", "gdc", "launch_pdl"):
        assert word not in alone


def test_the_plan_says_what_is_dependent() -> None:
    asking = text((PARTS, replace(COMBINING, dependent=True)))
    assert "stages=2, dependent=True),\n" in asking
    assert "dependent=True" not in text((PARTS, COMBINING))
    with pytest.raises(NotEmittable, match="the first launch of a graph depends on none"):
        text((replace(PARTS, dependent=True), COMBINING))


def test_what_is_compiled_follows_the_configs() -> None:
    graph = s.online_attention(split=True)
    for asked in (False, True):
        configs = (PARTS, replace(COMBINING, dependent=asked))
        first, second = launch_specs(graph, configs, SIZES, "bf16")
        assert dict(first.constexprs)["LEADS"] is asked
        assert dict(second.constexprs)["DEPENDENT"] is asked
        assert (first.dependent, second.dependent) == (False, asked)
