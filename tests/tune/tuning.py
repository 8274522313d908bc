"""A small job and stand-ins for the compiler, the device and the watcher, for tests of tuning."""

from __future__ import annotations

from superopt.case import Case
from superopt.case import bind
from superopt.emit.module import body_digest
from superopt.source import Facts
from superopt.tune.device_bench import NotPrepared
from superopt.tune.printed import text_of
from superopt.tune.record import Figures
from superopt.tune.request import Reply
from superopt.tune.space import Job
from superopt.tune.space import Point
from superopt.tune.space import Structure
from superopt.ugraph.levels import Config
from superopt.ugraph.text import digest
from superopt.verify.run.trial import NotCompiled
from tests import samples
from tests.tune.interpreted_device import invented

CASE = bind(Case("small", m=40, n=48), ("m", "n"), {}, "fp16")
TILES = (16, 32, 64)
WARPS = (1, 2, 4, 8)


def points(scale=1.0):
    """36 points; the model thinks small tiles and few warps fast."""
    found = [
        Point((Config((("m", m), ("n", n)), 1, warps, 1),), scale * (m + n + warps))
        for m in TILES
        for n in TILES
        for warps in WARPS
    ]
    return tuple(sorted(found, key=lambda p: p.model_us))


def structure(name="", scale=1.0, case=CASE):
    graph = samples.two_pass_softmax()
    text = body_digest(text_of(samples.row_softmax(), graph, case))
    return Structure(name or digest(graph), graph, points(scale), text)


def job(*structures, case=CASE):
    return Job(samples.row_softmax(), case, structures or (structure(),))


class Compiler:
    """Refuses what ``refuses`` says of a launch, with the reason."""

    jobs = 3

    def __init__(self, refuses=lambda spec: ""):
        self.refuses = refuses
        self.compiled = []

    def read(self, request):
        raise AssertionError("nothing here has roles")

    def compile(self, kernel_file, specs, target):
        assert kernel_file.read_text().startswith("# softmax: printed by superopt")
        self.compiled += specs
        return tuple(self._one(s, target) for s in specs)

    def _one(self, spec, target):
        if why := self.refuses(spec):
            return NotCompiled(spec.function, target, why)
        return Facts(spec.function, target, 1024, 64, 0)


class Bench:
    """Figures by ``us``, so many times as large as the chip is ``hot``; ``fails`` says of an entry
    which reply it gets instead."""

    def __init__(
        self, us=lambda e: invented(e.launches), fails=lambda entry: None, hot=lambda: 1.0
    ):
        self.us, self.fails, self.hot = us, fails, hot
        self.measured, self.compared = [], []
        self.replaced = 0

    def start(self):
        pass

    def close(self):
        pass

    def measure(self, setting, entry, effort, pace):
        self.measured.append((entry, effort))
        return self._reply(entry, effort.rounds, pace)

    def compare(self, setting, entries, rounds, pace):
        self.compared.append(list(entries))
        return {e.name: self._reply(e, rounds, pace) for e in entries}

    def _reply(self, entry, rounds, pace):
        reply = self.fails(entry)
        if isinstance(reply, BaseException):
            raise reply
        if reply is not None:
            return reply
        hot = self.hot()
        us = self.us(entry) * hot
        if pace is not None:
            us *= pace.us / (self.us(pace.entry) * hot)
        return Reply(figures=Figures(us, us, us, rounds), error=(1e-4, 1e-3))


class Unprepared(Bench):
    def measure(self, setting, entry, effort, pace):
        raise NotPrepared("out of memory")


class Watcher:
    def __init__(self):
        self.said = []

    def timing(self, done, trials, best_us):
        self.said.append((done, trials, best_us))
