"""One interval at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.threads.schedule.problem import Problem
from superopt.threads.schedule.problem import Ring
from superopt.threads.schedule.problem import Task
from superopt.threads.schedule.solve import Model
from superopt.ugraph.threads import Use
from tests.threads.schedule.cases import SQUARE
from tests.threads.schedule.cases import WIDE
from tests.threads.schedule.cases import problem

# A product of a tile, what is computed from it, and a sum of that.
PRODUCT = Task("p", True, 1, "matrix", 8, 32, ())
USER = Task("u", False, 6, "plain", 6, 32, (Use("p"),))
TOTAL = Task("s", False, 2, "plain", 2, 2, (Use("u"), Use("s", 1)))
RING = Ring("r", 2, 2, 10, ("p",))
SMALL = Problem((PRODUCT, USER, TOTAL), (RING,), 1, 64)


def least(of: Problem) -> int | None:
    """The shortest interval that has a solution."""
    return next((i for i in range(of.least, of.most + 1) if Model(of, i).solve()), None)


def test_a_product_that_others_read_ends_within_its_step():
    # u follows p; s is done in the next step, beside the next product.
    assert least(SMALL) == 8 + 6
    found = Model(SMALL, 14).solve()
    assert found is not None
    assert (found.stage, found.wait["p"]) == ({"p": 0, "u": 0, "s": 1}, 8)


def test_results_of_products_are_not_copied():
    # Their registers are those of the next product, so all reads come before that is issued.
    held = replace(SMALL, tasks=(PRODUCT, USER, replace(TOTAL, uses=(Use("p"), Use("u")))))
    assert least(held) == 8 + 6 + 2


def test_registers_bound_what_is_alive():
    assert least(replace(SMALL, budget=31)) is None
    assert least(replace(SMALL, budget=63)) == 8 + 6 + 2  # u is not alive beside the next p


def test_slots_bound_how_early_a_copy_may_be():
    one = replace(SMALL, rings=(replace(RING, capacity=1),))
    assert least(one) == 8 + 12  # copy, product, copy, ...
    assert least(replace(SMALL, rings=(replace(RING, capacity=2),))) == 14


@pytest.mark.parametrize(("capacity", "flies"), [(1, False), (2, True)])
def test_a_chain_flies_over_the_end_of_a_step_if_slots_allow(capacity, flies):
    made = problem("matmul", 2, **SQUARE)
    made = replace(made, rings=tuple(replace(r, capacity=capacity) for r in made.rings))
    model = Model(made, made.most)
    model.solver.add(model.flies)
    assert (model.solve() is not None) == flies
    assert Model(made, made.most).solve() is not None


def test_a_matrix_product_is_solved_at_its_bound():
    made = problem("matmul", 2, 4, **SQUARE)
    found = Model(made, made.least).solve()
    assert found is not None
    assert found.interval == made.least


def test_a_wait_is_not_within_an_instruction():
    made = problem("plain", **WIDE)
    found = Model(made, made.most).solve()
    assert found is not None
    for wait in found.wait.values():
        for task in made.tasks:
            offset = found.offset[task.name]
            assert wait <= offset or wait >= offset + task.busy
