"""What is checked before a kernel is timed, with Triton's interpreter in the device's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from superopt.tune.device_bench import DeviceBench
from superopt.tune.halving import QUICK
from superopt.tune.on_device import PACE
from superopt.tune.on_device import OnDevice
from superopt.tune.on_device import without_roles
from superopt.tune.printed import printed
from superopt.tune.request import Entry
from superopt.tune.request import Pace
from superopt.tune.request import Setting
from superopt.tune.series import Series
from superopt.ugraph.levels import Config
from tests import samples
from tests.tune.interpreted_device import invented
from tests.tune.tuning import CASE
from tests.tune.tuning import points
from tests.tune.tuning import structure

SETTING = Setting(samples.row_softmax(), CASE, 0, "cpu")
LAUNCHES = (Config((("m", 16), ("n", 16)), 1, 2, 1),)


@pytest.fixture(scope="module")
def bench():
    with DeviceBench("tests.tune.interpreted_device", {"TRITON_INTERPRET": "1"}) as found:
        yield found


@pytest.fixture
def changed(tmp_path):
    """A printed kernel with a part of its text replaced."""

    def make(old: str, new: str) -> Entry:
        one = printed(samples.row_softmax(), structure(), CASE, tmp_path)
        text = one.file.read_text()
        assert old in text
        one.file.write_text(text.replace(old, new))
        return one.entry(LAUNCHES)

    return make


def test_a_right_kernel_is_timed(bench, changed):
    reply = bench.measure(SETTING, changed("", ""), QUICK)
    assert reply.figures.us == invented(LAUNCHES)
    assert reply.figures.rounds == QUICK.rounds
    seen, limit = reply.error
    assert 0 < seen < limit


def test_a_wrong_value_is_found(bench, changed):
    """The rescaling is forgotten."""
    reply = bench.measure(SETTING, changed("l = mul_5 + sum_8", "l = l + sum_8"), QUICK)
    assert (reply.stage, reply.figures) == ("floats", None)
    assert "output 'out'" in reply.why
    assert reply.error[0] > reply.error[1]


def test_what_raises_is_a_failed_run(bench, changed):
    reply = bench.measure(SETTING, changed("programs = ", "programs = nowhere + "), QUICK)
    assert (reply.stage, reply.figures) == ("run", None)
    assert "NameError" in reply.why
    assert bench.replaced == 0


def test_rows_that_are_never_written_are_found(bench, changed):
    reply = bench.measure(SETTING, changed("[(programs,)]", "[(programs - 1,)]"), QUICK)
    assert reply.stage == "floats"


def test_runs_that_differ_are_found(bench, changed):
    """The first run is right; a comparison with expected values alone would accept it."""
    launch = "    launch = plan.launches[0]\n"
    again = f"{launch}    SIZES.append(0)\n    x = x if len(SIZES) == 1 else x * 0\n"
    entry = changed(launch, again)
    text = Path(entry.file).read_text()
    Path(entry.file).write_text(text.replace('SIZES = ("m", "n")', "SIZES = []"))
    reply = bench.measure(SETTING, entry, QUICK)
    assert reply.stage == "floats"
    assert "two runs differ" in reply.why


def test_finalists_are_checked_again(bench, changed, tmp_path):
    good = changed("", "")
    bad = tmp_path / "bad.py"
    bad.write_text(Path(good.file).read_text().replace("l = mul_5 + sum_8", "l = l + sum_8"))
    replies = bench.compare(SETTING, [good, Entry("bad", str(bad), LAUNCHES)], 3)
    assert replies[good.name].figures.rounds == 3
    assert replies["bad"].stage == "floats"


def test_files_follow_the_graph_alone(tmp_path):
    first = printed(samples.row_softmax(), structure(), CASE, tmp_path)
    again = printed(samples.row_softmax(), structure(scale=3.0), CASE, tmp_path)
    assert (first.text, first.file) == (again.text, again.file)
    assert len({first.entry(p.launches).name for p in points()}) == 36
    assert Path(first.entry(LAUNCHES).file).is_absolute()


def test_a_launch_that_took_no_roles_although_it_asked_for_them_is_no_measurement(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text("TAKEN = {'f_g0_k0': 'the device is no sm_90', 'f_g0_k1': ''}\n")
    plain, roles = Config(()), Config((), consumers=2)
    said = "f_g0_k0 took no roles: the device is no sm_90"
    assert without_roles(Entry("f", str(file), (roles, roles))) == said
    assert without_roles(Entry("f", str(file), (plain, roles))) == ""
    assert without_roles(Entry("f", str(file), (plain,))) == ""


def test_times_are_said_as_though_the_pace_had_kept(bench, changed):
    entry = changed("", "")
    alone = bench.measure(SETTING, entry, QUICK).figures
    paced = bench.measure(SETTING, entry, QUICK, Pace(entry, 50.0)).figures
    assert alone.us != 50.0
    assert (paced.us, paced.low, paced.high) == (50.0, 50.0, 50.0)
    (reply,) = bench.compare(SETTING, [entry], 3, Pace(entry, 50.0)).values()
    assert (reply.figures.us, reply.figures.rounds) == (50.0, 3)


class Stub:
    """Times of kernels that are not run; the pace breaks."""

    def sets(self, set_bytes):
        return 1

    def interleaved(self, calls, effort):
        found = {name: Series(name, (3.0,) * effort.rounds) for name in calls}
        return found | {PACE: Series(PACE, (), "out of memory")}


def test_a_pace_that_fails_says_nothing_of_what_runs_beside_it(changed):
    pace = Pace(changed("", ""), 50.0)
    found = OnDevice(SETTING, Stub())._timed({"other": []}, QUICK, pace)
    assert found["other"].figures.us == 3.0
