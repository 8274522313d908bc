"""The order of the stages, with verification replaced by a fast stand-in that says what a test
wants; what the stages do themselves is tested where they are."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from superopt import pipeline
from superopt.budget import Budget
from superopt.budget import Clock
from superopt.device import target
from superopt.examine import Examiner
from superopt.loading import load
from superopt.pipeline import FINALISTS
from superopt.pipeline import search_function
from superopt.report.record import counts_record
from superopt.run import Stage
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.outcome import Won
from superopt.tune.record import Figures
from superopt.tune.record import Outcome
from superopt.ugraph.text import digest
from superopt.ugraph.text import parse
from superopt.ugraph.text import show
from tests.tune.records import MACHINE

SPECS = Path(__file__).parent.parent / "specs"


class Idle:
    """In place of the worker processes."""

    def __init__(self, *arguments, stem=None):
        pass

    def start(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Told:
    """A listener that keeps what it hears, and does something at a word."""

    def __init__(self, actions=()):
        self.heard = []
        self.actions = dict(actions)

    def case(self, function, case):
        self.hear(f"case {case}")

    def stage(self, text):
        self.hear(text)

    def counts(self, counts):
        assert counts.adds_up

    def verified(self, model_us, share):
        self.hear("verified")

    def refused(self, why):
        assert why
        self.hear("refused")

    def done(self, result):
        self.hear(f"done {result.case.name}")

    def hear(self, text):
        self.heard.append(text)
        for word, error in list(self.actions.items()):
            if text.startswith(word):
                del self.actions[word]
                raise error


class Lenient(Examiner):
    """Accepts everything, at once."""

    def prove(self, built):
        return replace(self.ranked(built), stage=Stage.PROVED)

    def execute(self, built, proved, case):
        return replace(proved, stage=Stage.VERIFIED)


class Strict(Lenient):
    def prove(self, built):
        return replace(self.ranked(built), stage=Stage.REFUSED, why="a proof: it is wrong")


def written(spec, results, examiner, directory, architectures=("all",), watch=None, held=None):
    """In place of ``assemble``: a file that names the winners and the architectures."""
    won = [r for r in results if r.winner]
    if not won:
        return None, list(results)
    file = directory / f"{spec.name}.py"
    file.write_text(json.dumps([[r.case.name for r in won], list(architectures)]))
    return file, list(results)


@pytest.fixture
def stage(monkeypatch, tmp_path):
    """Runs the pipeline without processes."""
    monkeypatch.setattr(pipeline, "Runner", Idle)
    monkeypatch.setattr(pipeline, "Compiler", Idle)
    monkeypatch.setattr(pipeline, "assemble", written)
    monkeypatch.setattr(pipeline, "Examiner", Lenient)
    monkeypatch.setattr(pipeline, "check_reference", lambda spec, seed: None)

    def run(name="softmax.py:softmax", cases=(), actions=(), budget=None, told=None, session=None):
        (spec,) = load(f"{SPECS / name}")
        chosen = tuple(c for c in spec.cases if not cases or c.name in cases)
        listener = told or Told(actions)
        limits = budget or Budget(candidates=40)
        return search_function(
            spec, chosen, target("h200"), limits, 0, tmp_path, listener, session=session
        )

    return run


@pytest.mark.parametrize(
    "name", ["softmax.py:softmax", "attention.py:causal", "rms_norm_linear.py:rms_norm_linear"]
)
def test_counts_add_up_and_every_built_graph_has_its_text(stage, name):
    run = stage(name)
    assert run.verified
    assert len(run.cases) > 1
    for result in run.cases:
        assert result.counts.adds_up
        record = counts_record(result.counts)
        gone = sum(record["rejected"].values()) + sum(record["pruned"].values())
        assert record["seen"] == record["built"] + record["duplicates"] + gone
        assert len(result.candidates) == result.counts.built
        assert result.winner in result.candidates
        for candidate in result.candidates:
            again = parse(show(candidate.graph))
            assert again == candidate.graph
            assert digest(again) == candidate.digest
    us = [c.model_us for c in run.cases[0].candidates]
    assert us == sorted(us)


def test_the_winner_is_the_fastest_verified_candidate(stage, monkeypatch):
    class Late(Lenient):
        """Refuses the first candidate of each case."""

        def prove(self, built):
            self.first = getattr(self, "first", built)
            return Strict.prove(self, built) if built is self.first else super().prove(built)

    monkeypatch.setattr(pipeline, "Examiner", Late)
    (result,) = stage(cases=("square",)).cases
    assert [c.stage for c in result.candidates][:2] == [Stage.REFUSED, Stage.VERIFIED]
    assert result.winner is result.candidates[1]


def test_where_nothing_holds_the_written_form_is_tried_last(stage, monkeypatch):
    class Plain(Lenient):
        """Refuses whatever a law has changed."""

        asked: ClassVar[list[int]] = []

        def prove(self, built):
            self.asked.append(len(built.derivation))
            return Strict.prove(self, built) if built.derivation else super().prove(built)

    monkeypatch.setattr(pipeline, "Examiner", Plain)
    monkeypatch.setattr(pipeline, "EXAMINED", 1)
    monkeypatch.setattr(pipeline, "VARIANTS", 1)
    (result,) = stage("rms_norm_linear.py:rms_norm_linear", cases=("fp32",)).cases
    assert Plain.asked[0] > 0
    assert result.winner is not None
    assert not result.winner.derivation


def test_where_candidates_are_timed_the_best_of_the_fewest_kernels_is_among_them(monkeypatch):
    def built(kernels, us):
        graph = SimpleNamespace(kernels=(None,) * kernels)
        return SimpleNamespace(graph=graph, estimate=SimpleNamespace(us=us), derivation=())

    def examined(timed, last):
        case = SimpleNamespace(sizes={})
        names = SimpleNamespace(axes={})
        one = pipeline._CaseSearch(
            case, SimpleNamespace(names=names), None, None, Clock(Budget()), 2, timed
        )
        one.built = [built(2, 10.0), built(2, 11.0), built(3, 12.0), built(1, last), built(1, 29.9)]
        monkeypatch.setattr(pipeline, "structures", lambda some, sizes: [[0], [1], [2], [3], [4]])
        found = []
        for index in one._order():
            found.append(index)
            one.examined[index] = SimpleNamespace(holds=True, model_us=one.built[index].estimate.us)
        return found

    assert examined(False, 20.0) == [0, 1]
    assert examined(True, 20.0) == [0, 1, 3]
    assert examined(True, 31.0) == [0, 1, 4]  # three times as slow as the best: hopeless


def test_no_winner_is_a_result(stage, monkeypatch):
    monkeypatch.setattr(pipeline, "Examiner", Strict)
    run = stage(cases=("square", "short"))
    assert not run.verified
    assert run.kernel is None
    assert [c.winner for c in run.cases] == [None, None]
    assert all(c.counts.adds_up for c in run.cases)
    assert {c.stage for r in run.cases for c in r.candidates} <= {Stage.REFUSED, Stage.RANKED}


@pytest.mark.parametrize("at", ["case", "checking", "rewriting", "building", "proving"])
def test_an_interrupt_before_any_kernel_leaves_a_result_without(stage, at):
    run = stage(actions={at: KeyboardInterrupt()})
    assert run.interrupted
    assert run.kernel is None
    assert len(run.cases) == 4
    assert all(c.counts.adds_up and not c.counts.complete for c in run.cases[1:])


@pytest.mark.parametrize(
    ("at", "won"),
    [
        ("verified", ["square"]),
        ("done square", ["square"]),
        ("case vocabulary", ["square"]),
        ("done vocabulary", ["square", "vocabulary"]),
        ("writing", ["square", "vocabulary", "short", "fp32"]),
    ],
)
def test_an_interrupt_keeps_what_is_verified(stage, at, won):
    run = stage(actions={at: KeyboardInterrupt()})
    assert run.interrupted
    assert run.kernel is not None
    # The file is made at once: other architectures are left out.
    assert json.loads(run.kernel.read_text()) == [won, []]
    assert [c.case.name for c in run.cases if c.winner] == won
    assert len(run.cases) == 4
    assert all(c.counts.adds_up for c in run.cases)


def test_an_interrupt_while_the_file_is_made_is_held_back(stage, monkeypatch):
    def hears(*arguments, held, **named):
        os.kill(os.getpid(), signal.SIGTERM)
        assert held.came
        return written(*arguments, **named)

    monkeypatch.setattr(pipeline, "assemble", hears)
    run = stage()
    assert run.interrupted
    assert json.loads(run.kernel.read_text()) == [[c.case.name for c in run.cases], ["all"]]


def test_a_second_interrupt_gives_up(stage):
    with pytest.raises(KeyboardInterrupt):
        stage(actions={"verified": KeyboardInterrupt(), "interrupted": KeyboardInterrupt()})


def test_a_time_budget_ends_between_candidates_and_leaves_each_case_its_share(stage):
    told = Told()
    run = stage(budget=Budget(seconds=1e-6, text="0s"), told=told)
    assert run.verified
    for result in run.cases:  # at least one candidate is always taken to its end
        assert sum(c.stage is Stage.VERIFIED for c in result.candidates) == 1
        assert result.counts.adds_up
        assert not result.counts.complete
    assert told.heard.count("verified") == 4
    assert json.loads(run.kernel.read_text())[1] == ["all"]


class Session:
    """In place of a GPU: the last verified structure is the fastest, with its second point.

    ``at``: the number of the case in which an interrupt comes.
    """

    machine = MACHINE

    def __init__(self, at=99):
        self.interrupted = False
        self.jobs, self.cases, self.at = [], [], at

    def tune(self, job, cases, compiler, directory, watcher):
        self.jobs.append(job)
        self.cases.append(cases)
        self.interrupted = len(self.jobs) == self.at
        structure = job.structures[-1]
        point = structure.points[1]
        figures = Figures(5.0, 5.0, 5.0, 3)
        one = Measured(structure.digest, point, Outcome("timed", "", "", figures, None), 0, 0.1)
        return Tuned(job.case.name, (one,), Won(structure.digest, point, figures, None, True))


def test_a_search_with_a_gpu_ends_with_timed_winners(stage):
    session = Session()
    run = stage(session=session)
    assert session.cases == [4, 3, 2, 1]
    assert max(len(j.structures) for j in session.jobs) > FINALISTS
    for result, job in zip(run.cases, session.jobs, strict=True):
        assert result.winner.digest == job.structures[-1].digest
        assert result.winner.configs == job.structures[-1].points[1].launches
        assert result.winner.stage is Stage.TIMED
    assert run.timing.machine == MACHINE
    assert len(run.timing.measured) == 4


def test_an_interrupt_while_timing_keeps_the_cases_that_are_done(stage):
    run = stage(session=Session(at=2))
    assert run.interrupted
    assert [bool(c.winner) for c in run.cases] == [True, True, False, False]
    assert run.cases[0].winner.stage is Stage.TIMED
    assert run.kernel is not None
