"""One case: kernel and peers are checked against the spec, then timed (here by a fake clock)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from superopt.device import TARGETS
from superopt.loading import load as load_specs
from superopt.tune.contest import Contest
from superopt.tune.contest import hold
from superopt.tune.peers import generic
from superopt.tune.peers import load_peers
from superopt.verify.run.run_kernel import load
from tests.tune.fakes import StepClock

HERE = Path(__file__).parent
(SPEC,) = load_specs(str(HERE / "row_sum.py"))
KERNEL = HERE / "plain_kernel.py"
OTHER_BITS = """
    row_sum.calls = getattr(row_sum, "calls", 0) + 1
    return out if row_sum.calls == 1 else out.nextafter_(torch.zeros_like(out))"""


@pytest.fixture
def contest():
    return Contest(SPEC.program, SPEC.case("small"), "cpu", TARGETS["h200"])


def held(contest, kernel=KERNEL, *names, modes=("graph",)):
    peers = load_peers(HERE / "row_peers.py", "row_sum")
    chosen = [peers[n] for n in names]
    result = hold(contest, load(str(kernel)), chosen, modes, 3, StepClock())
    return result, {r.name: r for r in result.rows if r.mode == modes[0]}


def changed(tmp_path, old, new):
    text = KERNEL.read_text()
    assert old in text
    file = tmp_path / "kernel.py"
    file.write_text(text.replace(old, new))
    return file


def test_a_right_kernel_has_times(contest):
    result, rows = held(contest, KERNEL, modes=("graph", "eager"))
    assert result.check.problem == ""
    error, limit = result.check.error
    assert 0 <= error <= limit
    assert len(rows["superopt"].series.us) == 3
    assert [r.mode for r in result.rows] == ["graph", "eager"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("n < length", "n <= length", "error"),
        ("    out.copy_(", "    (lambda x: x)(", "nan"),
        ("    return out", OTHER_BITS, "race"),
    ],
    ids=["wrong", "unwritten", "race"],
)
def test_a_kernel_that_fails_its_check_has_no_time(contest, tmp_path, old, new, why):
    result, rows = held(contest, changed(tmp_path, old, new), "right")
    assert why in result.check.problem
    assert rows == {}


def test_peers_are_checked_and_marked(contest):
    names = ("right", "lazy", "rounded", "flat", "failing", "copy")
    _, rows = held(contest, KERNEL, *names)
    assert list(rows) == ["superopt", *names]
    assert rows["right"].wrong == ""
    assert "nan" in rows["lazy"].wrong  # what the kernel wrote before does not count as its own
    assert "error" in rows["rounded"].wrong
    assert "instead of shape (6,)" in rows["flat"].wrong
    assert all(rows[n].series.us for n in ("right", "lazy", "rounded", "flat"))
    assert rows["failing"].series.failed == "RuntimeError: not for small"
    assert rows["copy"].wrong == ""
    assert [n for n, r in rows.items() if not r.checked] == ["copy"]


def test_small_inputs_rotate_and_differ(contest):
    sets = contest.data.sets
    assert len(sets) > 1
    first, second = (s["x"] for s in sets[:2])
    assert not torch.equal(first, second)
    assert all(torch.count_nonzero(s["x"]) > 0 for s in sets)


def test_masks_on_scalars_count_in_the_roofline(contest):
    assert contest.roofline.work.read == 6 * 30 * 2
    assert contest.roofline.work.written == 6 * 4


def test_the_reference_as_a_peer(contest):
    peer = generic("eager", SPEC.reference, ["x", "length"])
    result = hold(contest, load(str(KERNEL)), [peer], ("graph",), 2, StepClock())
    assert result.rows[1].name == "eager"
    assert result.rows[1].series.us


def test_who_is_at_work_is_told(contest):
    seen = []
    peers = load_peers(HERE / "row_peers.py", "row_sum")
    hold(contest, load(str(KERNEL)), [peers["right"]], ("graph",), 1, StepClock(), seen.append)
    assert seen == ["superopt", "right", "superopt", "right", "superopt", "right", ""]
