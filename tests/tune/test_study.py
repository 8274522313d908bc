from __future__ import annotations

import pytest

from superopt.tune import study as module
from superopt.tune.space import distance
from superopt.tune.study import SEEDED
from superopt.tune.study import Study
from tests.tune.interpreted_device import invented
from tests.tune.tuning import points
from tests.tune.tuning import structure

BEST = min(points(), key=lambda p: invented(p.launches))


def searched(study, trials):
    found = []
    for _ in range(trials):
        (point,) = study.ask(1)
        found.append(point)
        study.tell(point, invented(point.launches))
    return found


def start(found):
    """Whether ``found`` begins with the model's best, and in turns with them the whole space."""
    first, every = found[:SEEDED], list(points())
    best = [p for p in every if p in first[::2]]
    assert first[0] == every[0]
    assert all(p in best or p in first for p in every[: SEEDED // 2])
    return max(every.index(p) for p in first) >= len(every) * (SEEDED - 1) // SEEDED


def test_the_models_best_and_the_whole_space_come_first_then_what_the_sampler_learns():
    found = searched(Study(structure(), 0), 20)
    assert start(found)
    assert len(set(found)) == 20
    assert BEST in found


def test_the_same_seed_proposes_the_same():
    assert searched(Study(structure(), 7), 20) == searched(Study(structure(), 7), 20)


def test_a_study_is_rebuilt_by_telling_it_what_is_known():
    study = Study(structure(), 0)
    for point in points()[:30]:
        study.tell(point, 5.0)
    assert {p.launches for p in study.ask(99)} == {p.launches for p in points()[30:]}
    assert study.left == 0
    assert study.ask(1) == []


def test_failed_points_are_not_the_best_and_not_tried_again():
    study = Study(structure(), 0)
    (first,) = study.ask(1)
    study.tell(first, None)
    assert study.best == float("inf")
    rest = searched(study, 35)
    assert first not in rest
    assert study.best == invented(BEST.launches)


def test_enqueued_ones_come_before_the_models(monkeypatch):
    study = Study(structure(), 0)
    last = points()[-1]
    study.enqueue(last.launches)
    study.enqueue((last.launches[0], last.launches[0]))  # of another graph: no point of this one
    assert study.ask(1) == [last]
    assert points()[0] in study.ask(2)


def test_without_optuna_the_model_and_the_neighbours_of_the_best_take_turns(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert not module.available()
    found = searched(Study(structure(), 0), 36)
    assert start(found)
    tried = [p for p in points() if p in found[:SEEDED]]
    best = min(tried, key=lambda p: invented(p.launches))
    near = [distance(p.parameters, best.parameters) for p in points() if p not in found[:SEEDED]]
    assert distance(found[SEEDED].parameters, best.parameters) == min(near)
    left = [p for p in points() if p not in found[: SEEDED + 1]]
    assert found[SEEDED + 1] == left[0]
    assert sorted(found, key=repr) == sorted(points(), key=repr)
    assert found.index(BEST) < len(found) // 2


@pytest.mark.parametrize("number", [1, 5, 36, 100])
def test_no_more_than_asked_for(number):
    assert len(Study(structure(), 0).ask(number)) == min(number, 36)
