"""Texts to change: those written by hand, and printed ones, read at one small instance each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from functools import cache
from functools import partial

from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.masks import cleared
from superopt.verify.source.concurrent.floats import read_floats
from superopt.verify.source.concurrent.machine import RolesMachine
from superopt.verify.source.concurrent.trial import roles_trial
from superopt.verify.source.load import read_text
from superopt.verify.source.meaning import TextMeaning
from superopt.verify.verdict import Refuted
from tests import samples
from tests.verify.source.concurrent.texts import COPY
from tests.verify.source.concurrent.texts import MATMUL
from tests.verify.source.concurrent.texts import Machines
from tests.verify.source.concurrent.texts import Seen
from tests.verify.source.concurrent.texts import copied
from tests.verify.source.concurrent.texts import multiplied

SIZES = {"b": 2, "h": 4, "m": 512, "n": 512, "d": 64, "e": 64, "k": 512}
TILES = {"m": 64, "n": 64, "d": 64, "e": 64, "k": 64}
UNKNOWN = "not read: "


@dataclass(frozen=True)
class Printed:
    """A printed file with roles."""

    program: Program
    graph: KernelGraph
    config: Config
    dialect: Dialect = Dialect.TRITON

    @property
    def text(self) -> str:
        axes = dict(self.graph.kernels[0].places)
        sizes = tuple((a, SIZES[a]) for a in axes)
        row = Row("case", 0, (self.config,), sizes, target="sm_90")
        return emit(self.program, [self.graph], [row], Header("the spec"), dialect=self.dialect)

    def read(self, text: str, machines: Machines = RolesMachine, blocks: int = 4) -> Seen:
        made = []

        def machine(*of):
            made.append(machines(*of))
            return made[-1]

        meaning = TextMeaning(read_text(text), self.program, self.program.name, dtype="bf16")
        meaning = replace(meaning, machines=machine)
        trial = roles_trial(self.program, self.graph, (self.config,), blocks, False)
        verdict = read_floats(self.program, meaning, trial, 0)
        engines = {e: s for m in made for e, s in m.engines.items()}
        if verdict is None:
            assert all(m.explored for m in made)
            return Seen(engines, "")
        said = verdict.what if isinstance(verdict, Refuted) else f"{UNKNOWN}{verdict.why}"
        return Seen(engines, said)


def printed(program: Program, graph: KernelGraph, consumers: int = 2, slots: int = 2) -> Printed:
    graph = replace(graph, kernels=tuple(cleared(k) for k in graph.kernels))
    axes = [a for a, _ in graph.kernels[0].places if a in TILES]
    tiles = tuple((a, TILES[a]) for a in axes)
    return Printed(program, graph, Config(tiles, stages=slots, consumers=consumers))


@cache
def attention(causal: bool = False, consumers: int = 2, slots: int = 2) -> Printed:
    graph = samples.online_attention(causal=causal)
    return printed(samples.attention(causal=causal), graph, consumers, slots)


@cache
def normed(consumers: int = 2, slots: int = 3) -> Printed:
    return printed(samples.rms_linear(), samples.rms_linear_one_walk(), consumers, slots)


def tle(case: Printed) -> Printed:
    """The same in the words of FlagTree."""
    return replace(case, dialect=Dialect.FLAGTREE)


Reading = Callable[..., Seen]


def persistent(case: Printed, kept: int = 2, **how: int) -> Printed:
    """The case with programs of several tiles."""
    return replace(case, config=replace(case.config, persistent=kept, **how))


def pingpong(case: Printed, kept: int = 2, **how: int) -> Printed:
    """The case with programs of several tiles, whose consumers take them in turn."""
    return persistent(case, kept, pingpong=True, **how)


def subjects() -> dict[str, tuple[str, Reading]]:
    """Texts by name, each with how it is read (a text, and optionally what makes machines)."""
    found: dict[str, tuple[str, Reading]] = {"copy": (COPY, copied)}
    for slots in (2, 3):
        found[f"matmul, {slots} slots"] = (
            MATMUL.replace("COUNT=6, SLOTS=3", f"COUNT=5, SLOTS={slots}").replace("48", "40"),
            partial(multiplied, length=40),
        )
    for name, case in (
        ("attention", attention()),
        ("causal", attention(causal=True)),
        ("normed", normed()),
        ("attention, one consumer", attention(consumers=1, slots=3)),
        ("causal, three slots", attention(causal=True, slots=3)),
        ("normed, tiles in turn", pingpong(normed(), 1)),
        ("causal, tiles in turn", pingpong(attention(causal=True))),
        ("causal, in TLE", tle(attention(causal=True))),
        ("normed, in TLE", tle(normed())),
    ):
        found[name] = (case.text, case.read)
    return found
