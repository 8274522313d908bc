"""That tiles of a walked axis have no lanes past its end is said by the launcher, and is read: said
of another axis it is seen, for where walks alone have such ends no other axis has."""

from __future__ import annotations

import pytest

from superopt.verify.source.concurrent.read import LONGER
from superopt.verify.source.concurrent.read import read_concurrent
from superopt.verify.source.concurrent.trial import roles_trial
from superopt.verify.verdict import Refuted
from tests.verify.source.concurrent.subjects import attention
from tests.verify.source.concurrent.subjects import normed
from tests.verify.source.concurrent.subjects import pingpong

KEYS, TURNS = attention(causal=True), pingpong(normed(), 1)


@pytest.mark.parametrize(
    ("case", "axis", "other"),
    [(KEYS, "n", "h"), (KEYS, "n", "m"), (KEYS, "n", "e"), (TURNS, "k", "m")],
)
def test_a_flag_of_another_axis_is_refuted(case, axis, other):
    start, mark, end = case.text.partition("    why = _without_roles(")
    right = f"EVEN_{axis.upper()}=_even({axis}_size, {axis}_tile)"
    assert right in end
    wrong = end.replace(right, right.replace(f"{axis}_size", f"{other}_size"), 1)
    found = read_concurrent(start + mark + wrong, case.program, case.graph, (case.config,))
    assert isinstance(found.verdict, Refuted)


@pytest.mark.parametrize(("case", "axis"), [(KEYS, "n"), (TURNS, "k")])
def test_all_other_sizes_are_multiples_of_a_walked_tile(case, axis):
    how = {"ragged": True, "wide": True, "whole": True}
    trial = roles_trial(case.program, case.graph, (case.config,), LONGER[-1], **how)
    tile = trial.configs[0].tile[axis]
    assert trial.size[axis] % tile
    assert all(size % tile == 0 for name, size in trial.size.items() if name != axis)
