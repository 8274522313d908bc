"""The files that are run for tuning: one a structure, the same for every choice of Configs that
asks for the same roles (none, for the most part)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.emit.ahead import launch_specs
from superopt.emit.module import body_digest
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.errors import NotEmittable
from superopt.source import LaunchSpec
from superopt.threads.layouts import ROWS
from superopt.threads.parts import is_wide
from superopt.tune.request import Entry
from superopt.tune.request import Launches
from superopt.tune.space import Structure
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes


@dataclass(frozen=True)
class Printed:
    """The file of one structure for one case. ``text``: digest of what is below its marker."""

    structure: Structure
    case: Case
    file: Path
    text: str

    def entry(self, launches: Launches) -> Entry:
        """What the device's process runs."""
        return Entry(name_of(self.structure, launches), str(self.file.resolve()), launches)

    def launches(self, launches: Launches) -> tuple[LaunchSpec, ...]:
        """What is compiled for a choice of Configs.

        Raises:
            NotEmittable: a Config does not fit the graph.
        """
        case = self.case
        return launch_specs(self.structure.graph, launches, case.sizes, case.storage, case.tf32, 0)


Roles = tuple[tuple[int, str, int, bool], ...]
"""Of each launch: consumers, their kind, slots, and whether its tiles are so wide that results
leave in parts; without consumers all zero."""


def has_roles(launches: Launches) -> bool:
    """Whether some launch asks for roles."""
    return any(c.consumers for c in launches)


def roles_of(launches: Launches) -> Roles:
    """What decides about the text of roles, whatever the tiles."""
    return tuple(
        (c.consumers, c.kind, c.stages, is_wide(c)) if c.consumers else (0, "", 0, False)
        for c in launches
    )


def text_of(
    program: Program, graph: KernelGraph, case: Case, launches: Launches | None = None
) -> str:
    """The file that is timed, whatever ``graph`` is launched with, but for the roles that
    ``launches`` ask for.

    Its dispatch rows are that of the small sizes that the float checks use, whatever the model
    prefers, and one with the roles; so the text, which is part of the key of every stored time,
    follows the graph and the roles alone.

    Raises:
        NotEmittable: the graph cannot be printed.
    """
    sizes = small_sizes(graph)
    configs = small_configs(graph, sizes)
    chosen = [configs, *([] if launches is None else [tuple(map(_small, configs, launches))])]
    known = tuple(sizes.items())
    rows = [Row("tuning", 0, one, known, case.storage, case.tf32) for one in dict.fromkeys(chosen)]
    return emit(program, [graph], rows, Header(), descriptors=True)


def _small(small: Config, wanted: Config) -> Config:
    """``small``, with the roles of ``wanted``; a consumer has one instruction's rows at least."""
    if not wanted.consumers:
        return small
    tiles = tuple((axis, ROWS) for axis, _ in small.tiles)
    return replace(wanted, tiles=tiles, group=1, dependent=False)


def printed(
    program: Program,
    structure: Structure,
    case: Case,
    directory: Path,
    launches: Launches | None = None,
) -> Printed:
    """Writes the file of ``structure`` into ``directory``; with the roles that ``launches`` ask
    for, which nobody has read yet.

    Raises:
        NotEmittable: the graph cannot be printed, or its text is not the one that was read.
    """
    text = text_of(program, structure.graph, case, launches)
    if launches is None and body_digest(text) != structure.text:
        raise NotEmittable("this is not the text that was read and verified; search again")
    suffix = f"{case.storage}{'_tf32' if case.tf32 else ''}"
    if launches is not None:
        suffix += f"_{body_digest(text)[:12]}"
    file = directory / f"{program.name}_{structure.digest[:12]}_{suffix}_tuning.py"
    file.write_text(text)
    return Printed(structure, case, file, body_digest(text))


def name_of(structure: Structure, launches: Launches) -> str:
    """A structure with its Configs as one word, which tells it from the others of a case."""
    return f"{structure.digest[:12]}-{hashlib.sha256(repr(launches).encode()).hexdigest()[:12]}"
