from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.loading import load
from superopt.report.repairs import fusions
from superopt.report.told import renamed
from superopt.report.told import step
from superopt.report.told import told
from superopt.report.told import user_names
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.names import canonical
from superopt.ugraph.names import rename

SPECS = Path(__file__).parents[2] / "specs"


def repaired(name):
    """(names, graph in the user's names, repairs in canonical ones) of the first fusion of a spec
    that has repairs."""
    (spec,) = load(f"{SPECS / name}")
    return repaired_program(spec.program)


def repaired_program(program):
    program, names = canonical(program)
    outputs = tuple(s.name for s in program.outputs)
    found = next(f for f in fusions(program) if f.repairs)
    graph = KernelGraph(program.name, program.params, outputs, (found.block,), program.fixed)
    return names, names.back(graph), found.repairs


@pytest.mark.parametrize(
    "name",
    ["attention.py:causal", "statistics.py:variance", "losses.py:cross_entropy", "logsumexp.py"],
)
def test_repairs_are_told_in_the_names_of_the_graph(name):
    """Every state that is told of is a carry of the graph, term and moves included."""
    names, graph, repairs = repaired(name)
    assert user_names(graph) == names
    carries = [c for block in graph.kernels for w in block.nest for c in w.carries]
    for repair in repairs:
        own = renamed(repair, names)
        assert set(own.components) <= set(carries)
        assert own.axis in {w.axis for w in graph.kernels[0].nest}


@pytest.mark.parametrize(
    "name", ["attention.py:causal", "statistics.py:variance", "weighting.py:random_features"]
)
def test_every_part_of_a_repair_is_told(name):
    names, _, repairs = repaired(name)
    for repair in repairs:
        parts = [part for part, _ in told(renamed(repair, names)).lines]
        for part in ("state", "absorb", "move"):
            assert parts.count(part) == repair.rank
        plain = sum(not p.moves for p in repair.producers)
        assert parts.count("combine") == repair.rank + plain
        assert parts.count("guard") == len(repair.guards)
        assert (parts.count("asked"), parts.count("finalise")) == (1, 1)


def test_a_repair_is_readable():
    names, _, (repair,) = repaired("logsumexp.py")
    found = told(renamed(repair, names))
    assert found.title == "sum0 reads max0 of the same walk of n: kept as 1 state"
    assert found.lines == (
        ("asked", "sum0 = sum_n(exp(x - max0'))"),
        ("reads", "max0' = max(max0, max_n(x))"),
        ("state", "sum0 for each m, at first 0"),
        ("absorb", "tile = sum_n(exp(x - max0'))"),
        ("move", "sum0' = sum0 * exp(max0 - max0') + tile"),
        (
            "combine",
            "sum0' = sum0_left * exp(max0_left - max0') + sum0_right * exp(max0_right - max0')",
        ),
        ("combine", "max0' = max(max0_left, max0_right)"),
        ("finalise", "nothing: the state is the value"),
        (
            "guard",
            "sum0, where max0 == -inf: the old state is kept "
            "(nothing was absorbed while max0 is -inf)",
        ),
    )


def test_the_user_may_have_canonical_names_the_other_way_round():
    (spec,) = load(f"{SPECS / 'logsumexp.py'}")
    program, _ = canonical(spec.program)
    turned = rename(program, {"a0": "a1", "a1": "a0"}, {"t0": "t1", "t1": "t0"})
    names, graph, (repair,) = repaired_program(turned)
    assert names.axes == {"a0": "a1", "a1": "a0"}
    assert user_names(graph) == names
    assert set(renamed(repair, names).components) <= set(graph.kernels[0].walks[0].carries)


def test_a_step_has_its_law():
    found = step("factor_out_of_sum: sum_n(x * 2)  ->  sum_n(x) * 2")
    assert (found.law, found.before, found.after) == (
        "factor_out_of_sum",
        "sum_n(x * 2)",
        "sum_n(x) * 2",
    )
    assert found.statement.startswith("sum_n(a * c)  =  sum_n(a) * c, if c without axis n")
    assert step("some words: a  ->  b").statement == ""
    assert step("commute a product").law == "commute a product"
    assert step("commute a product").before == ""


def test_a_value_that_is_the_state_of_another_carry_is_said():
    """The same states may serve two carries; the second one is finalised by its name."""
    names, _, (repair,) = repaired("logsumexp.py")
    own = renamed(repair, names)
    other = replace(own, carry=replace(own.carry, name="again"))
    assert dict(told(own).lines)["finalise"] == "nothing: the state is the value"
    assert dict(told(other).lines)["finalise"] == "again = sum0"
