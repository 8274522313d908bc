"""Crash, hang and exhaustion cost the kernel in hand: the real process, a bad device."""

from __future__ import annotations

import pytest

from superopt.tune.device_bench import DeviceBench
from superopt.tune.device_bench import NotPrepared
from superopt.tune.request import Effort
from superopt.tune.request import Entry
from superopt.tune.request import Setting
from tests import samples
from tests.tune.tuning import CASE

SETTING = Setting(samples.row_softmax(), CASE)
QUICK = Effort(1, 1.0)


@pytest.fixture
def bench():
    with DeviceBench("tests.tune.bad_device", seconds=2.0) as found:
        yield found


def measure(bench, name, setting=SETTING):
    return bench.measure(setting, Entry(name, "file", ()), QUICK)


def test_one_process_serves_many_kernels(bench):
    first, second = measure(bench, "good"), measure(bench, "fine")
    assert first.figures.us == second.figures.us  # the process
    assert second.figures.low == 1  # prepared once
    assert bench.replaced == 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("crash", "the process ended with exit code 9"),
        ("hang", "no answer within 2 s: stopped"),
        ("memory", "the process ended with exit code 1: MemoryError: no more"),
        ("illegal", "an illegal memory access was encountered"),
    ],
)
def test_a_bad_kernel_costs_itself_and_the_process(bench, name, why):
    before = measure(bench, "good")
    reply = measure(bench, name)
    assert (reply.stage, reply.why, reply.figures) == ("run", why, None)
    after = measure(bench, "good")
    assert after.figures.us != before.figures.us
    assert after.figures.low == 1  # its inputs were made again
    assert bench.replaced == 1


def test_a_crash_among_finalists_is_found_by_measuring_each(bench):
    entries = [Entry(n, "file", ()) for n in ("good", "crash", "fine")]
    replies = bench.compare(SETTING, entries, 3)
    assert list(replies) == ["good", "crash", "fine"]
    assert replies["crash"].figures is None
    assert replies["good"].figures
    assert replies["fine"].figures


@pytest.mark.parametrize(("seed", "why"), [(13, "MemoryError"), (14, "no reference")])
def test_a_case_that_cannot_be_prepared_is_no_kernels_fault(bench, seed, why):
    with pytest.raises(NotPrepared, match=why):
        measure(bench, "good", Setting(samples.row_softmax(), CASE, seed))
    assert measure(bench, "good").figures
