"""Which Configs of a structure are tried next: first some, then three proposers in turns.

The first ones are the model's best and, in turns with them, points spread over the whole space.
Of the proposers one stays with the model's order, one takes what is nearest to the best so far (a
local search), and one is a study of Optuna's (https://optuna.org): a sampler that learns which
values of which parameters are fast (a tree-structured Parzen estimator). The study is kept in
memory and rebuilt from the store of measured times, which is the one source of truth. Where Optuna
is not installed the other two take turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from superopt.tune.request import Launches
from superopt.tune.space import Parameters
from superopt.tune.space import Point
from superopt.tune.space import Structure

SEEDED = 12  # points before the study chooses


def available() -> bool:
    """Whether Optuna is installed."""
    return find_spec("optuna") is not None


class Study:
    """What is known of one structure. ``told`` holds each point's time (None: it failed)."""

    def __init__(self, structure: Structure, seed: int) -> None:
        self.structure = structure
        self.told: dict[Launches, float | None] = {}
        self._asked: dict[Launches, None] = {}
        self._first: list[Launches] = []
        self._proposals = 0
        self._optuna = _Optuna(structure, seed) if available() and structure.choices else None

    def enqueue(self, launches: Launches) -> None:
        """Has a point of the structure tried before others: it was good at other sizes."""
        if any(p.launches == launches for p in self.structure.points):
            self._first.append(launches)

    def tell(self, point: Point, us: float | None) -> None:
        """What came of a point."""
        known = point.launches in self.told
        self.told[point.launches] = us
        self._asked[point.launches] = None
        if self._optuna is not None and not known:
            self._optuna.tell(point, us)

    def ask(self, number: int) -> list[Point]:
        """At most ``number`` points that were neither asked for nor told; fewer if none is left."""
        found: list[Point] = []
        while len(found) < number and (point := self._next()) is not None:
            self._asked[point.launches] = None
            found.append(point)
        return found

    @property
    def best(self) -> float:
        """The least time told; infinity before there is one."""
        return min((us for us in self.told.values() if us is not None), default=float("inf"))

    @property
    def left(self) -> int:
        """How many points were never asked for."""
        return len(self.structure.points) - len(self._asked)

    def _next(self) -> Point | None:
        while self._first:
            launches = self._first.pop(0)
            if launches not in self._asked:
                return next(p for p in self.structure.points if p.launches == launches)
        points = self.structure.points
        by_model = next((p for p in points if p.launches not in self._asked), None)
        if by_model is None:
            return None
        if (asked := len(self._asked)) < SEEDED:
            spread = points[len(points) * asked // SEEDED]
            return by_model if asked % 2 == 0 or spread.launches in self._asked else spread
        self._proposals += 1
        proposers = [self._near_best, self._sampled] if self._optuna else [self._near_best]
        turn = self._proposals % (len(proposers) + 1)
        return by_model if turn == 0 else proposers[turn - 1]()

    def _near_best(self) -> Point | None:
        """What is nearest to the best so far; the model's next before there is one."""
        best = min(
            (p for p in self.structure.points if self.told.get(p.launches) is not None),
            key=lambda p: self.told[p.launches] or 0.0,
            default=self.structure.points[0],
        )
        return self.structure.nearest(best.parameters, self._asked)

    def _sampled(self) -> Point | None:
        """What is nearest to what the sampler would try."""
        assert self._optuna is not None
        return self.structure.nearest(self._optuna.propose(), self._asked)


class _Optuna:
    """A study of Optuna over the parameters of a structure that vary."""

    def __init__(self, structure: Structure, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._names = tuple(structure.choices)
        self._distributions: dict[str, Any] = {
            name: optuna.distributions.CategoricalDistribution(values)
            for name, values in structure.choices.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                seed=seed, multivariate=True, constant_liar=True, n_startup_trials=SEEDED
            )
        self._study = optuna.create_study(sampler=sampler, direction="minimize")

    def tell(self, point: Point, us: float | None) -> None:
        states = self._optuna.trial.TrialState
        failed: dict[str, Any] = {"state": states.PRUNED}  # a pruned trial counts as a bad one
        done: dict[str, Any] = {"state": states.COMPLETE, "value": us}
        trial = self._optuna.trial.create_trial(
            params={name: point.parameters[name] for name in self._names},
            distributions=self._distributions,
            **(failed if us is None else done),
        )
        self._study.add_trial(trial)

    def propose(self) -> Parameters:
        """What the sampler would try, whether or not there is such a point.

        The trial is closed at once: what is measured instead is added by ``tell``.
        """
        trial = self._study.ask(self._distributions)
        self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return dict(trial.params)


def ordered(points: Sequence[Point]) -> tuple[Point, ...]:
    """``points``, best by the model first; equal ones stay in their order."""
    return tuple(sorted(points, key=lambda p: round(p.model_us, 6)))
