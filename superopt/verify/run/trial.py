"""What is sent to the processes that run and compile printed kernels, and what comes back.

These are messages between processes: plain data, importable where only numpy is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy.typing as npt

from superopt.source import LaunchSpec
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program

Array = npt.NDArray[Any]

PLAIN = "plain"  # contiguous, in a larger buffer
PERMUTED = "permuted"  # every axis but the last in reverse memory order, and padded rows


@dataclass(frozen=True, eq=False)
class Parameter:
    """One argument of a call: a tensor in memory order, or a scalar without dimensions.

    ``dtype`` is the storage dtype (``bf16``, ``int32``, ...); ``value`` holds numbers that it
    represents exactly, as float32, int64 or bool.
    """

    name: str
    dtype: str
    value: Array
    scalar: bool = False


@dataclass(frozen=True)
class Result:
    """One output to expect: its shape in memory order, and its storage dtype."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Trial:
    """One call of a printed kernel.

    ``graph`` and ``configs`` bind the plan (one Config a launch); ``configs`` None leaves the
    choice to the file's own dispatch. ``layout`` says how the tensors lie in memory. ``out``:
    whether outputs are passed in (poisoned) or allocated by the launcher. ``repeats``: further
    runs on the same inputs, whose outputs must have the same bits. ``descriptors``: the launcher
    must make tensor descriptors, or the call fails.
    """

    label: str
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    sizes: tuple[tuple[str, int], ...]
    graph: int = 0
    configs: tuple[Config, ...] | None = None
    layout: str = PLAIN
    out: bool = True
    repeats: int = 0
    descriptors: bool = False


@dataclass(frozen=True, eq=False)
class RunResult:
    """How one call ended: outputs by name (widened to float32, int64 or bool), or a message.

    ``message`` is empty if and only if the call ended in order. Outputs are those of the first
    run.
    """

    message: str = ""
    outputs: dict[str, Array] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        """Whether the call ended in order."""
        return not self.message


@dataclass(frozen=True)
class RunRequest:
    """Interpret one trial of ``function`` in ``file``."""

    file: str
    function: str
    trial: Trial


@dataclass(frozen=True)
class CompileRequest:
    """Compile one launch of ``file`` for ``target`` (``sm_90``)."""

    file: str
    spec: LaunchSpec
    target: str


@dataclass(frozen=True)
class ReadRequest:
    """Read the functions with roles that ``configs`` ask for, in every order of their roles."""

    file: str
    program: Program
    graph: KernelGraph
    configs: tuple[Config, ...]
    seed: int


@dataclass(frozen=True)
class NotCompiled:
    """The compiler refused a launch for a target, because of ``why``."""

    function: str
    target: str
    why: str
