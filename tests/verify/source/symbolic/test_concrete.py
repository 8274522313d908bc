"""Execution at given sizes finds nothing where nothing is wrong, and says where something is."""

from __future__ import annotations

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic import concrete
from superopt.verify.source.symbolic.concrete import faults
from superopt.verify.source.symbolic.concrete import large_sizes
from superopt.verify.source.symbolic.concrete import small_sizes
from superopt.verify.source.symbolic.launcher import largest
from superopt.verify.source.symbolic.launcher import plans
from tests.emit.cases import CASES

TEXT = CASES["packed"]().text()
PLAIN = read_text(TEXT)
AXES = ("b", "g", "r", "m", "d", "n", "e")


@pytest.mark.parametrize("plan", plans(PLAIN), ids=lambda p: p.name)
def test_a_right_text_has_no_faults(plan):
    for sizes in [*small_sizes(AXES, plan)][:2]:
        assert faults(PLAIN, "grouped", plan, sizes, 0) == []


def test_a_fault_says_the_sizes_and_the_program():
    changed = read_text(TEXT.replace("m_joint % r_size", "m_joint // r_size"))
    (plan, *_) = plans(changed)
    sizes = dict(zip(AXES, (1, 1, 2, 9, 3, 5, 3), strict=True))
    found = faults(changed, "grouped", plan, sizes, 0)
    assert [f for f in found if f.claim == "grouped_g0_k0: loads of q in bounds"]
    assert ("size of m", "9") in found[0].at


def test_sizes_to_try_are_those_that_the_launcher_lets_through():
    limit = largest(PLAIN)
    assert limit == 2**31 - 2**16
    assert all(0 < n < limit for sizes in large_sizes(AXES, limit) for n in sizes.values())
    (plan, *_) = plans(PLAIN)
    assert all(set(s) == set(AXES) for s in small_sizes(AXES, plan))


def test_long_launches_are_executed_at_their_ends(monkeypatch):
    made: list[tuple[str, int]] = []
    access = concrete._Run._access

    def counted(self, one, pid):
        made.append((self.name, pid))
        access(self, one, pid)

    monkeypatch.setattr(concrete._Run, "_access", counted)
    (plan, *_) = plans(PLAIN)
    sizes = dict.fromkeys(AXES, 4)
    assert faults(PLAIN, "grouped", plan, sizes, 0) == []
    all_, names = set(made), {name for name, _ in made}
    assert all(sum(n == name for n, _ in all_) > 2 for name in names)
    made.clear()
    monkeypatch.setattr(concrete, "MOST_ACCESSES", 1)
    assert faults(PLAIN, "grouped", plan, sizes, 0) == []
    ends = {name: max(pid for n, pid in all_ if n == name) for name in names}
    assert set(made) == {(n, 0) for n in names} | set(ends.items())
