"""Roles in the examination of a candidate: which are printed, and what if they are wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.device import target
from superopt.examine import Examiner
from superopt.examine import asked
from superopt.fitting import Fitted
from superopt.run import Candidate
from superopt.run import Stage
from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.ugraph.masks import cleared
from superopt.ugraph.names import Names
from superopt.verify.run.process import WorkerError
from superopt.verify.run.read_roles import read
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests import samples

TILES = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
ROLES = Config(TILES, stages=2, consumers=2)
PLAIN = Config(TILES, stages=3)
SMALL = Config(TILES, stages=2)
SIZES = {"b": 1, "h": 1, "m": 256, "n": 256, "d": 64, "e": 64}
CASE = bind(Case("small", **SIZES), tuple(SIZES), {}, "bf16")


def test_the_first_rung_and_all_with_roles_are_printed():
    ring = replace(ROLES, ring=True)
    first = ((ROLES,), (ring,), (PLAIN,), (SMALL,))
    assert asked([first]) == [(ROLES,), (ring,)]
    assert asked([first[2:]]) == [(PLAIN,)]
    # Of two kernels the shorter ladder stays at its last rung.
    assert asked([first, ((SMALL,),)]) == [(ROLES, SMALL), (ring, SMALL)]


class Compiler:
    """Content with everything."""

    jobs = 1

    def compile_all(self, jobs):
        return tuple(Facts(spec.function, arch, 1000, 100, 0) for _, spec, arch in jobs)

    def claim(self, request):
        """What no process can read is read by the search itself."""
        raise WorkerError("out of memory")


@pytest.fixture
def examined(tmp_path):
    program = samples.attention()
    graph = samples.online_attention()
    graph = replace(graph, kernels=tuple(map(cleared, graph.kernels)))
    runner, compiler = None, Compiler()  # nothing is executed
    examiner = Examiner(program, Names({}, {}), target("h200"), 0, tmp_path, runner, compiler)
    proved = Candidate("a", graph, (ROLES,), 1.0, 1.0, Stage.PROVED)
    ladders = [((ROLES,), (PLAIN,))]

    def run(configs):
        given = Fitted(configs)
        file = tmp_path / "file.py"
        return examiner._with_roles(program, proved, CASE, ladders, file, given)

    return run


def test_roles_that_hold_are_a_claim(examined):
    fitted, ((claim, verdict),) = examined((ROLES,))
    assert fitted.configs == (ROLES,)
    assert claim == "roles compute the spec in every order, with 2 consumers, 2 slots"
    assert isinstance(verdict, Sampled)


def test_a_process_reads_roles_as_the_search_does(examined, monkeypatch, tmp_path):
    _, told = examined((ROLES,))
    asked = []

    def claim(self, request):
        asked.append((request.configs, request.seed))
        return read(request)

    monkeypatch.setattr(Compiler, "claim", claim)
    assert examined((replace(ROLES, stages=3),))[1] != told
    assert asked == [((replace(ROLES, stages=3),), 0)]
    assert not list(tmp_path.iterdir())  # its file is no result


def test_without_roles_there_is_nothing_to_read(examined):
    assert examined((PLAIN,)) == (Fitted((PLAIN,)), ())


def test_roles_that_do_not_hold_give_way_to_the_plain_function(examined, monkeypatch):
    said = "roles", Unknown("too long")
    monkeypatch.setattr("superopt.examine.judge_roles", lambda *a: said)
    fitted, claims = examined((ROLES,))
    assert (fitted.configs, claims) == ((PLAIN,), ())
    assert fitted.passed == ("roles: unknown: too long",)
