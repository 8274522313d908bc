"""Verified candidates become jobs for tuning, and measured times become candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.device import target
from superopt.errors import DoesNotFit
from superopt.run import CaseRun
from superopt.run import Counts
from superopt.run import Stage
from superopt.tune.outcome import Measured
from superopt.tune.outcome import Tuned
from superopt.tune.outcome import Won
from superopt.tune.record import Figures
from superopt.tune.record import Outcome
from superopt.tune.space import Point
from superopt.tune.timing import NOT_TIMED
from superopt.tuned import job_of
from superopt.tuned import space_of
from superopt.tuned import timing_of
from superopt.tuned import with_times
from superopt.ugraph.levels import Config
from tests import samples
from tests.test_run import FIRST
from tests.test_run import SECOND
from tests.tune.records import MACHINE
from tests.tune.tuning import CASE

A, B = (Point((Config((("n", n),)),), us) for n, us in ((64, 1.0), (32, 2.0)))
ONE = replace(FIRST, configs=A.launches, space=(A, B))
TWO = replace(SECOND, configs=B.launches, space=(A, B))
RESULT = CaseRun(CASE, Counts(2, 2), (ONE, TWO), ONE)


def timed(us):
    return Outcome("timed", "", "", Figures(us, us, us, 3), (1e-4, 1e-3))


def failed(stage, why="no"):
    return Outcome("failed", stage, why, None, None)


def tuned(*found, winner=None):
    measured = tuple(Measured(c.digest, p, o, i, 0.5 * i) for i, (c, p, o) in enumerate(found))
    return Tuned("small", measured, winner, "" if winner else "nothing ran")


def test_the_space_is_the_models_order_within_the_device():
    graph = samples.two_pass_softmax()
    found = space_of(graph, CASE, target("h200"), 12)
    assert 1 < len(found) <= 12
    assert [p.model_us for p in found] == sorted(p.model_us for p in found)
    assert len({p.launches for p in found}) == len(found)
    assert {a for a, _ in found[0].launches[0].tiles} == {"m", "n"}


def test_a_graph_that_does_not_fit_has_no_space(monkeypatch):
    def refuse(*arguments):
        raise DoesNotFit("too large")

    monkeypatch.setattr("superopt.tuned.options", refuse)
    assert space_of(samples.two_pass_softmax(), CASE, target("h200")) == ()


def test_a_job_has_the_verified_structures_and_begins_with_what_was_verified():
    other = Point((Config((("n", 8),)),), 0.5)
    result = replace(
        RESULT, candidates=(replace(ONE, space=(other, A, B)), replace(TWO, stage=Stage.REFUSED))
    )
    (structure,) = job_of(samples.row_softmax(), result, target("h200")).structures
    assert structure.digest == "a"
    assert structure.points == (A, other, B)
    without = replace(RESULT, candidates=(replace(ONE, space=()),))
    (structure,) = job_of(samples.row_softmax(), without, target("h200")).structures
    assert structure.points == (Point(A.launches, ONE.model_us),)


def test_the_winner_is_what_tuning_says_with_its_configs():
    won = Won("b", A, Figures(9.0, 8.0, 9.5, 15), (1e-4, 1e-3), True)
    found = with_times(
        RESULT,
        tuned((ONE, A, timed(8.9)), (TWO, A, timed(9.0)), (TWO, B, timed(12.0)), winner=won),
        MACHINE,
    )
    assert found.winner is found.candidates[1]
    assert (found.winner.stage, found.winner.configs) == (Stage.TIMED, A.launches)
    assert found.winner.timed.us == 9.0
    assert found.winner.model_us == A.model_us
    assert found.winner.device.startswith(f"small on {MACHINE.gpu}, fp16 (m=40 n=48): relative")
    other = found.candidates[0]
    assert (other.stage, other.timed.us, other.won) == (Stage.TIMED, 8.9, False)
    assert found.untimed == ""


@pytest.mark.parametrize(
    ("outcomes", "stage", "why"),
    [
        ((failed("floats", "row 3"), failed("floats", "row 4")), Stage.REFUSED, "row 4"),
        ((failed("run", "illegal"),), Stage.REFUSED, "on the device, run: illegal"),
        ((failed("floats"), failed("compile")), Stage.VERIFIED, ""),
        ((failed("time"),), Stage.VERIFIED, ""),
        ((), Stage.VERIFIED, ""),
    ],
)
def test_what_runs_wrongly_with_every_config_is_refused(outcomes, stage, why):
    found = with_times(
        RESULT, tuned(*((ONE, p, o) for p, o in zip((A, B), outcomes, strict=False))), MACHINE
    )
    assert found.candidates[0].stage is stage
    assert why in found.candidates[0].why
    assert found.untimed == "nothing ran"
    assert found.winner.digest == ("b" if stage is Stage.REFUSED else "a")


def test_timing_keeps_what_was_measured_of_other_cases_on_the_same_machine():
    first = timing_of(MACHINE, [tuned((ONE, A, timed(8.0)), (ONE, B, failed("run")))], NOT_TIMED)
    assert [(m.us, m.stage, m.order) for m in first.measured] == [(8.0, "", 0), (None, "run", 1)]
    other = replace(first.measured[0], case="large")
    before = replace(first, measured=(other, *first.measured))
    again = timing_of(MACHINE, [tuned((ONE, A, timed(7.0)))], before)
    assert [(m.case, m.us) for m in again.measured] == [("large", 8.0), ("small", 7.0)]
    elsewhere = timing_of(replace(MACHINE, gpu="B200"), [tuned((ONE, A, timed(7.0)))], before)
    assert [m.case for m in elsewhere.measured] == ["small"]


def test_the_best_points_with_roles_are_followed_by_other_schedules():
    sizes = {"b": 1, "h": 8, "m": 4096, "n": 4096, "d": 64, "e": 64}
    case = bind(Case("long", **sizes), tuple(sizes), {}, "bf16")
    tiles = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
    roles = Point((Config(tiles, stages=3, consumers=2),), 1.0)
    ring = Point((replace(roles.launches[0], ring=True),), 1.0)
    plain = Point((Config(tiles, stages=3),), 2.0)
    graph = samples.online_attention()
    one = replace(ONE, graph=graph, configs=plain.launches, space=(roles, ring, plain))
    result = replace(RESULT, case=case, candidates=(one,))
    (structure,) = job_of(samples.attention(), result, target("h200")).structures
    first, second, *further, last = structure.points
    assert (first, second, last) == (plain, roles, ring)  # what was verified comes first
    assert len(further) >= 2
    assert all(p.model_us == roles.model_us for p in further)
    words = {p.launches[0].schedule for p in further}
    assert len(words) == len(further)
    assert "" not in words
