from __future__ import annotations

import pytest

from benchmarks import model_fit
from superopt.device import target
from superopt.search import chain
from superopt.search import model

H200 = target("h200")


@pytest.fixture(scope="module")
def samples():
    return model_fit.read(model_fit.RESULTS)


@pytest.fixture(scope="module")
def rows(samples):
    return model_fit.rows(samples, model_fit.predicted(samples, H200))


def test_the_model_orders_every_tuned_workload_like_the_clock(rows):
    tuned = {r.workload: r.now.rank for r in rows if not r.workload.endswith(model_fit.FIRST)}
    assert len(tuned) == 20
    assert {w: r for w, r in tuned.items() if r < model_fit.GOAL} == {}


def test_the_best_of_its_first_ten_is_nearly_the_best_of_all(rows):
    assert all(r.now.ten < 0.05 for r in rows)
    assert sum(r.now.first for r in rows) < sum(r.before.first for r in rows) / 2


def test_the_model_orders_configs_with_roles_like_the_clock():
    measured = model_fit.read_roles(model_fit.RESULTS)
    found = model_fit.rows(measured, model_fit.predicted(measured, H200))
    assert len(found) == 20
    assert all(r.now.rank > 0.5 for r in found)
    assert sum(r.now.rank for r in found) / len(found) > 0.8
    assert sum(r.now.ten for r in found) / len(found) < 0.01
    # How long walks are that data limit, no counts tell; and a tanh has taken fewer instructions
    # since soft caps were measured.
    others = [r for r in found if r.workload not in ("document long", "softcap long")]
    assert all(0.9 < r.level < 1.1 for r in others)


def test_every_family_has_workloads_and_every_workload_a_family(samples):
    assert {model_fit.family_of(s) for s in samples} == set(model_fit.FAMILIES)
    names = {s.workload.split()[0]: model_fit.family_of(s) for s in samples}
    assert names["alibi"] != names["alibi_decode"]
    assert names["rms_norm"] != names["rms_norm_linear"]


def test_every_fitted_constant_has_a_place_and_is_put_back(samples):
    kept = model.START_US, chain.WHOLE, model.WHOLE
    some = samples[::15]
    before = model_fit.predicted(some, H200)
    assert model_fit.with_constants(some, H200, dict.fromkeys(model_fit.ROUGH, 1.0)) != before
    for name, value in model_fit.ROUGH.items():
        assert model_fit.with_constants(some, H200, {name: 2.5 * value}) != before, name
    assert kept == (model.START_US, chain.WHOLE, model.WHOLE)
    assert model_fit.predicted(some, H200) == before


def test_a_fit_never_gets_worse_than_where_it_begins(samples, monkeypatch):
    monkeypatch.setattr(model_fit, "SWEEPS", 1)
    monkeypatch.setattr(model_fit, "FACTORS", (0.5,))
    some = samples[::40]
    found = model_fit.fitted(some, H200)

    def loss(constants):
        return model_fit.loss(some, model_fit.with_constants(some, H200, constants))

    assert loss(found) < loss(model_fit.ROUGH)


def test_ranks_and_losses_of_a_choice():
    found = model_fit.ranked([10.0, 11.0, 15.0], [2.0, 1.0, 3.0])
    assert found.rank == pytest.approx(0.5)
    assert found.first == pytest.approx(0.1)
    assert found.ten == 0.0
