"""The loop of trials: what is tried, stored, dropped and chosen."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from itertools import count

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.device import target
from superopt.tune import halving
from superopt.tune.past import Past
from superopt.tune.request import Reply
from superopt.tune.store import Store
from superopt.tune.tuner import Means
from superopt.tune.tuner import Tuning
from tests.conftest import ROOT
from tests.tune.interpreted_device import invented
from tests.tune.records import MACHINE
from tests.tune.tuning import Bench
from tests.tune.tuning import Compiler
from tests.tune.tuning import Unprepared
from tests.tune.tuning import Watcher
from tests.tune.tuning import job
from tests.tune.tuning import points
from tests.tune.tuning import structure

GONE = Reply("floats", "output 'out': row 3")
BEST = min(invented(p.launches) for p in points())


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "times.db") as found:
        yield found


@pytest.fixture
def tune(tmp_path, store):
    def run(bench=None, compiler=None, trials=36, jobs=None, watcher=None, tuning=False):
        means = Means(bench or Bench(), compiler or Compiler(), target("h200"), tmp_path)
        made = Tuning(jobs or job(), means, Past(store, MACHINE), trials, watcher or Watcher())
        return made if tuning else made.run()

    return run


def test_the_fastest_of_the_space_is_found(tune, store):
    bench, watcher = Bench(), Watcher()
    found = tune(bench, watcher=watcher)
    assert found.winner.figures.us == BEST
    assert found.winner.figures.rounds == halving.FINAL_ROUNDS
    assert found.winner.interleaved
    assert len(found.measured) == len(found.timed) == 36
    assert found.why == ""
    (finalists,) = bench.compared
    assert len(finalists) == halving.FINALISTS
    again = [e for e, effort in bench.measured if effort == halving.LONGER]
    assert len(again) == 12
    assert watcher.said[-1][0] == 36
    assert watcher.said[-1][2] == BEST
    assert len(store.all()) == 36 + 12 + 5


def test_trials_are_a_limit_and_the_models_best_comes_first(tune):
    compiler = Compiler()
    found = tune(compiler=compiler, trials=10)
    assert len(found.measured) == len(compiler.compiled) == 10
    assert found.measured[0].point == points()[0]
    assert [m.order for m in found.measured] == list(range(10))


def test_what_does_not_compile_is_not_run(tune):
    bench = Bench()
    refuses = Compiler(lambda spec: "too many registers" if spec.warps == 2 else "")
    found = tune(bench, refuses)
    assert found.failed == {"compile": 9}
    assert all(e.launches[0].warps != 2 for e, _ in bench.measured)
    wrong = next(m for m in found.measured if m.outcome.stage == "compile")
    assert "too many registers" in wrong.outcome.why
    assert found.winner.point.launches[0].warps != 2


def test_too_much_shared_memory_is_no_launch(tune, monkeypatch):
    compiler, bench = Compiler(), Bench()
    plain = compiler._one
    compiler._one = lambda spec, arch: replace(plain(spec, arch), shared_bytes=1 << 20)
    found = tune(bench, compiler, trials=8)
    assert found.failed == {"compile": 8}
    assert found.winner is None
    assert "shared memory, over the limit" in found.why
    assert bench.measured == []


def test_a_kernel_that_fails_its_check_has_no_time(tune, store):
    """However fast it is, and even if it fails only in the last rung."""
    wrong = Reply("floats", "output 'out': row 3", error=(0.5, 1e-3))
    late = []

    def fails(entry):
        if invented(entry.launches) == BEST:
            return wrong
        if len(late) == 1 and entry.name == late[0]:
            return wrong
        return None

    bench = Bench(fails=fails)
    plain = bench.compare

    def compare(setting, entries, rounds, pace):
        late.append(min(entries, key=lambda e: invented(e.launches)).name)
        return plain(setting, entries, rounds, pace)

    bench.compare = compare
    found = tune(bench)
    assert found.failed == {"floats": 2}
    assert found.winner.figures.us > BEST
    assert all(r.outcome.figures is None for r in store.all() if r.outcome.stage == "floats")


def test_a_clock_that_slows_down_does_not_bend_the_choice(tune):
    """Neither within a run, where what comes late would look slow, nor between two."""
    calls = count()
    found = tune(Bench(hot=lambda: 1 + 0.01 * next(calls)), trials=20)
    assert found.winner.figures.us < 1.02 * min(invented(m.point.launches) for m in found.timed)
    times = {invented(m.point.launches): m.outcome.figures.us for m in found.timed}
    assert sorted(times.values()) == [times[key] for key in sorted(times)]
    again = tune(Bench(hot=lambda: 1.3))
    assert invented(again.winner.point.launches) == BEST
    times = {invented(m.point.launches): m.outcome.figures.us for m in again.timed}
    assert sorted(times.values()) == [times[key] for key in sorted(times)]


def test_the_pace_is_set_by_the_fastest_that_still_runs(tune):
    tune(trials=20)
    gone = Bench(
        fails=lambda e: GONE if invented(e.launches) == gone.first else None, hot=lambda: 2
    )
    gone.first = None
    tuning = tune(gone, tuning=True)
    tuning._remember()
    gone.first = min(invented(m.point.launches) for m in tuning._measured.values())
    tuning._take_pace()
    assert tuning._pace.us == invented(tuning._pace.entry.launches) > gone.first


def test_a_second_run_measures_nothing_anew_but_the_pace_and_checks_the_finalists(tune):
    tune()
    compiler, bench = Compiler(), Bench()
    found = tune(bench, compiler)
    assert compiler.compiled == []
    first, *others = [effort for _, effort in bench.measured]
    assert first == halving.QUICK
    assert all(effort == halving.LONGER for effort in others)
    assert len(bench.compared) == 1
    assert found.winner.figures.us == BEST


def test_a_stored_winner_that_fails_its_check_now_does_not_win(tune):
    tune()
    wrong = Reply("floats", "output 'out': row 3")
    bench = Bench(fails=lambda e: wrong if invented(e.launches) == BEST else None)
    found = tune(bench)
    assert found.winner.figures.us > BEST
    assert found.failed == {"floats": 1}


def test_an_interrupt_keeps_what_is_finished_and_the_next_run_goes_on(tune, store):
    bench = Bench()
    bench.fails = lambda e: KeyboardInterrupt() if len(bench.measured) == 11 else None
    tuning = tune(bench, tuning=True)
    with pytest.raises(KeyboardInterrupt):
        tuning.run()
    found = tuning.result()
    assert len(found.measured) == len(store.all()) == 10
    assert not found.winner.interleaved
    compiler = Compiler()
    again = tune(compiler=compiler)
    assert len(compiler.compiled) == 26
    assert again.winner.figures.us == BEST


def test_a_text_that_was_not_read_is_not_timed(tune):
    for text in ("", "0" * 64):
        bench, compiler = Bench(), Compiler()
        found = tune(bench, compiler, jobs=job(replace(structure(), text=text)))
        assert found.winner is None
        assert "not the text that was read and verified" in found.why
        assert not bench.measured
        assert not compiler.compiled


def test_a_slow_structure_gets_no_more_trials(tune):
    slow, fast = structure("slow"), structure("fast")
    bench = Bench(lambda e: invented(e.launches) * (2 if e.name.startswith("slow") else 1))
    found = tune(bench, jobs=job(slow, fast), trials=40)
    by = {d: sum(m.digest == d for m in found.measured) for d in ("slow", "fast")}
    assert by == {"slow": 4, "fast": 36}
    assert found.winner.digest == "fast"


def test_a_device_without_room_for_the_inputs_says_so(tune):
    found = tune(Unprepared())
    assert found.winner is None
    assert found.why == "out of memory"


def test_good_configs_of_other_sizes_are_tried_first(tune):
    """A point that the model puts last."""
    last = points()[-1]
    bench = Bench(lambda e: 1.0 if e.launches == last.launches else 50.0)
    tune(bench)
    here = job()
    elsewhere = job(case=_larger(here.case))
    found = tune(Bench(), jobs=elsewhere, trials=8)
    assert found.measured[0].point.launches == last.launches


def _larger(case):
    return bind(Case("large", m=80, n=96), ("m", "n"), {}, case.storage)


def test_a_killed_tuning_loses_at_most_the_candidate_in_flight(tmp_path):
    """By kill -9; then the same again finishes it."""
    path = tmp_path / "times.db"
    command = [sys.executable, "-m", "tests.tune.slow_tuning", str(path), str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT)
    done = 0
    deadline = time.monotonic() + 60
    while done < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
        done = len(_records(path))
    process.kill()
    process.wait()
    with Store(path) as store:
        kept = store.all()
        assert len(kept) >= done >= 5
        means = Means(Bench(), compiler := Compiler(), target("h200"), tmp_path)
        found = Tuning(job(), means, Past(store, MACHINE), 36, Watcher()).run()
    assert len(compiler.compiled) == 36 - len(kept)
    assert found.winner.figures.us == BEST


def _records(path):
    if not path.exists() or not path.stat().st_size:
        return []
    try:
        with sqlite3.connect(path) as base:
            return list(base.execute("select id from records"))
    except sqlite3.OperationalError:  # the table is being made
        return []
