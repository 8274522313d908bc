"""``superopt doctor``: what this machine can do, and what superopt does not support yet."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec

from rich.console import Console
from rich.table import Table

from superopt.device import TARGETS
from superopt.device import target
from superopt.versions import MISSING
from superopt.versions import version_of

# README.md holds the same list; a test compares them.
NOT_SUPPORTED = (
    (
        "paged and ragged inputs, look-ups in large tables",
        "`gather` walks the axis from the smallest to the largest position that a tile asks for; "
        "nothing is loaded at computed addresses",
    ),
    (
        "convolution, rolls, rotary halves of one tensor",
        "a tensor is read at its own positions only; pass the halves as two tensors",
    ),
    (
        "backward passes",
        "a launcher refuses tensors that require grad; write the gradient as a spec of its own",
    ),
    ("dropout and other randomness", "a spec is a function of its inputs"),
    (
        "recurrences of matrices, prefixes of several folds at once",
        "`cumsum`, `cummax`, `cummin` and `cumprod` are prefixes of one fold; the delta rule and "
        "a stabilised sum at every position cannot be said",
    ),
    ("sorting, medians, a k known at run time", "`top_k` keeps the k best, k written in the spec"),
    (
        "quantised storage (fp8, int4)",
        "int8 with scales works; `round_to` gives the numbers of fp8, but they are stored in a "
        "wider dtype",
    ),
    ("sizes that differ within an axis", "one axis has one size; use a length and a mask"),
    (
        "walks more than two deep",
        "a kernel walks an axis, and another one inside it if nothing there needs a repair, a "
        "scan or a list; else the operator is cut into several kernels",
    ),
    (
        "warp roles, explicit shared memory",
        "for loops of 16-bit matrix products on sm_90 kernels with roles (Gluon) are tried and the "
        "report shows them; elsewhere Triton's compiler decides",
    ),
    ("several GPUs", "one kernel file runs on one device"),
)

_SEARCH_NEEDS = (("z3", "z3-solver"), ("sympy", "sympy"))  # module, package


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
        found = version_of(name)
        table.add_row(name, f"[red]{found}[/red]" if found == MISSING else found)
    return table


def _abilities() -> Table:
    import torch

    gpu = torch.cuda.is_available()
    table = Table("ability", "here", title="what this machine can do")
    lacking = [p for m, p in _SEARCH_NEEDS if find_spec(m) is None]
    table.add_row(
        "search, repair, proofs, printing",
        f"no: pip install {' '.join(lacking)}" if lacking else "yes",
    )
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
