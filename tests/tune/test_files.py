"""Files of a job: roles are printed when asked for, and read before they run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from superopt.case import Case
from superopt.case import bind
from superopt.device import target
from superopt.emit.module import body_digest
from superopt.emit.struct import kernel as struct_kernel
from superopt.tune.files import Files
from superopt.tune.past import Past
from superopt.tune.printed import text_of
from superopt.tune.space import Job
from superopt.tune.space import Point
from superopt.tune.space import Structure
from superopt.tune.store import Store
from superopt.tune.tuner import Means
from superopt.tune.tuner import Tuning
from superopt.ugraph.levels import Config
from superopt.ugraph.masks import cleared
from superopt.ugraph.text import digest
from superopt.verify.run import compile_ahead
from superopt.verify.run.read_roles import read
from superopt.verify.run.trial import ReadRequest
from superopt.verify.verdict import objection
from tests import samples
from tests.tune.records import MACHINE
from tests.tune.tuning import Bench
from tests.tune.tuning import Watcher

SIZES = {"b": 1, "h": 1, "m": 256, "n": 256, "d": 64, "e": 64}
TILES = (("m", 64), ("d", 64), ("n", 64), ("e", 64))
PLAIN = Config(TILES, stages=3)
TWO = Config(TILES, stages=2, consumers=2)
RING = replace(TWO, ring=True)
NO_SUCH = replace(TWO, schedule="i99at9")


def job() -> Job:
    graph = samples.online_attention()
    graph = replace(graph, kernels=tuple(map(cleared, graph.kernels)))
    program = samples.attention()
    case = bind(Case("small", **SIZES), tuple(SIZES), {}, "bf16")
    points = tuple(Point((c,), 1.0) for c in (PLAIN, TWO, RING, NO_SUCH))
    text = body_digest(text_of(program, graph, case))
    return Job(program, case, (Structure(digest(graph), graph, points, text),))


def why(request):
    """Why roles must not run, read in this process."""
    return objection(*read(request))


@pytest.fixture
def files(tmp_path):
    return Files(job(), tmp_path, 0, why)


def test_each_choice_of_roles_has_a_file_that_its_tiles_do_not_change(files):
    plain, two, ring = (files.of(0, (c,)) for c in (PLAIN, TWO, RING))
    assert len({plain.text, two.text, ring.text}) == 3
    assert len({plain.file, two.file, ring.file}) == 3
    larger = replace(TWO, tiles=(("m", 64), ("d", 64), ("n", 128), ("e", 64)), group=8)
    assert files.of(0, (larger,)) is two
    assert files.of(0, (replace(TWO, stages=3),)).text != two.text
    (spec,) = ring.launches((RING,))
    assert spec.function == "attention_g0_k0_roles2_ring"
    assert "def attention_g0_k0_roles2_ring(" in ring.file.read_text()


def test_what_has_no_text_says_why(files):
    assert files.of(0, (NO_SUCH,)) is None
    assert "'i99at9' is nothing that the walk of 'n' has" in files.why_not(0, (NO_SUCH,))


def test_roles_are_read_once(tmp_path):
    asked = []
    files = Files(job(), tmp_path, 0, lambda request: asked.append(request) or why(request))
    with ThreadPoolExecutor(2) as threads:
        for launches in ((PLAIN,), (TWO,), (TWO,)):
            files.begin_reading(threads, 0, launches)
            assert files.unread(0, launches) == ""
    assert [r.configs for r in asked] == [(TWO,)]


def test_a_process_reads_roles(files):
    file = files.of(0, (TWO,)).file
    request = ReadRequest(str(file), samples.attention(), files.job.structures[0].graph, (TWO,), 0)
    with compile_ahead.Compiler(1) as compiler:
        assert compiler.read(request) == ""
        file.write_text(file.read_text().replace("(num_outstanding=1,", "(num_outstanding=3,"))
        assert "REFUTED" in compiler.read(request)
        assert "the process ended" in compiler.read(replace(request, program=None))


class Compiler:
    """Compiles nothing."""

    jobs = 1

    read = staticmethod(why)

    def compile(self, kernel_file, specs, target):
        return ()


def test_roles_that_are_read_as_wrong_never_run(tmp_path, monkeypatch):
    real = struct_kernel._text

    def early(role):  # a product is taken for done while it is under way
        return real(role).replace("(num_outstanding=1,", "(num_outstanding=3,")

    monkeypatch.setattr(struct_kernel, "_text", early)
    bench = Bench(us=lambda entry: 1.0)
    with Store(tmp_path / "times.db") as store:
        means = Means(bench, Compiler(), target("h200"), tmp_path)
        found = Tuning(job(), means, Past(store, MACHINE), 4, Watcher()).run()
    said = {m.point.launches[0]: m.outcome for m in found.measured}
    assert said[TWO].stage == said[RING].stage == "read"
    assert (
        "roles compute the spec in every order, with 2 consumers, 2 slots: REFUTED" in said[TWO].why
    )
    assert said[NO_SUCH].stage == "compile"
    assert {e.launches for e, _ in bench.measured} == {(PLAIN,)}


def test_points_with_roles_come_first_where_they_are_about_as_good(tmp_path):
    def first(us: float) -> Config:
        asked = job()
        (one,) = asked.structures
        plain = [Point((replace(PLAIN, warps=w),), 1.0 + w / 100) for w in (1, 2, 4, 8)]
        points = (*plain, Point((TWO,), us))
        bench = Bench(us=lambda entry: 1.0)
        with Store(tmp_path / f"{us}.db") as store:
            means = Means(bench, Compiler(), target("h200"), tmp_path)
            jobs = replace(asked, structures=(replace(one, points=points),))
            found = Tuning(jobs, means, Past(store, MACHINE), 5, Watcher()).run()
        return found.measured[0].point.launches[0]

    assert first(1.2) == TWO
    assert first(2.0).consumers == 0


def test_the_best_of_each_choice_of_tiles_and_consumers_comes_before_its_kinds(tmp_path):
    """All kinds of one choice were tried first, and another choice, which was the best, never."""
    asked = job()
    (one,) = asked.structures
    kinds = [replace(TWO, persistent=1), replace(TWO, persistent=1, ring=True), TWO]
    other = replace(TWO, consumers=1)
    points = [Point((c,), 1.0 + i / 100) for i, c in enumerate((*kinds, other))]
    points += [Point((PLAIN,), 2.0)]
    with Store(tmp_path / "times.db") as store:
        means = Means(Bench(us=lambda entry: 1.0), Compiler(), target("h200"), tmp_path)
        jobs = replace(asked, structures=(replace(one, points=tuple(points)),))
        found = Tuning(jobs, means, Past(store, MACHINE), 5, Watcher()).run()
    tried = [m.point.launches[0] for m in found.measured]
    assert tried[:4] == [kinds[0], other, *kinds[1:]]
