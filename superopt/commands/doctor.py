"""``superopt doctor``: what this machine can do, and what superopt does not support yet."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

NOT_SUPPORTED = (
    ("paged and ragged inputs", "they need gathers, which the language does not have yet"),
    ("backward passes", "write the gradient as a spec of its own"),
    ("dropout and other randomness", "a spec is a function of its inputs"),
    ("prefix scans, top-k, argmax", "folds have one scalar accumulator"),
    ("walks inside walks", "two looped axes of one value are cut into two kernels"),
    ("quantised storage (fp8, int4) and explicit rounding", "no round_to yet"),
    ("timing", "candidates are ranked by the model; kernels are not timed yet"),
)


def run_doctor() -> int:
    """Print what is installed, what can be checked here, and what is not supported; 0."""
    console = Console()
    console.print(_packages())
    console.print(_abilities())
    gaps = Table("not supported yet", "because", title="limits of superopt")
    for what, why in NOT_SUPPORTED:
        gaps.add_row(what, why)
    console.print(gaps)
    return 0


def _packages() -> Table:
    table = Table("package", "version", title="installed")
    table.add_row("python", platform.python_version())
    for name in ("superopt", "torch", "triton", "numpy", "sympy", "z3-solver", "optuna"):
        try:
            table.add_row(name, version(name))
        except PackageNotFoundError:
            table.add_row(name, "[red]missing[/red]")
    return table


def _abilities() -> Table:
    import torch

    from superopt.device import TARGETS
    from superopt.device import target

    gpu = torch.cuda.is_available()
    table = Table("ability", "here", title="what this machine can do")
    table.add_row("search, repair, proofs, printing", "yes")
    table.add_row("run kernels in Triton's interpreter (fp32, fp16)", "yes")
    linux = sys.platform == "linux"
    table.add_row(
        "compile ahead of time (sm_80, sm_90, sm_100)", "yes" if linux else "no: Linux only"
    )
    name = torch.cuda.get_device_name() if gpu else "no GPU: kernels are ranked by the model"
    table.add_row("run kernels on a GPU", name)
    table.add_row("target auto", target("auto").name)
    table.add_row("targets", ", ".join(TARGETS))
    return table
