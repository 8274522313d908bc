"""What is printed into a kernel file beside its functions: dispatch rows and the header."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.ugraph.levels import Config


@dataclass(frozen=True)
class Row:
    """One dispatch row: at these sizes, run graph number ``graph`` with these Configs.

    ``name``: of the case. ``configs``: one for each of ``split.launches``. ``dtype``: of the case.
    ``tf32``: fp32 matrix products may round their operands to tf32. ``target``: the
    architecture (``sm_90``) that the Configs were chosen for, empty if any; rows of another one
    are the last choice.
    """

    name: str
    graph: int
    configs: tuple[Config, ...]
    sizes: tuple[tuple[str, int], ...]
    dtype: str = "bf16"
    tf32: bool = False
    target: str = ""


@dataclass(frozen=True)
class Header:
    """The comments above the marker, each a block of lines without ``#``. No clock belongs here.

    ``spec``: source of the spec. ``derivation``: how the graphs were found. ``verdict``: what is
    proved, sampled, measured, and the digests. ``tuning``: the table of rows for people.
    """

    spec: str = ""
    derivation: str = ""
    verdict: str = ""
    tuning: str = ""
