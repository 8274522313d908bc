"""``superopt doctor``: what this machine can do, and what superopt does not support yet."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from superopt.commands.console import table_console
from superopt.commands.doctor_checks import Check
from superopt.commands.doctor_checks import abilities
from superopt.commands.doctor_checks import packages
from superopt.device import TARGETS
from superopt.device import target
from superopt.errors import NONE_FOUND
from superopt.errors import VERIFIED

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
        "prefixes of several folds at once, recurrences that are not affine or in chunks",
        "`cumsum`, `cummax`, `cummin` and `cumprod` are prefixes of one fold; a stabilised sum at "
        "every position cannot be said; `recur` takes one position after the other",
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


def run_doctor() -> int:
    """Print what is installed, what works here, and what is not supported.

    0 if kernels can be searched and verified here, else 1; what is missing is told with a remedy.
    """
    console = table_console()
    installed = list(packages())
    console.print(_table("installed", installed))
    able = list(abilities())
    console.print(_table("what this machine can do", able))
    gaps = Table("not supported yet", "because", title="limits of superopt")
    for what, why in NOT_SUPPORTED:
        gaps.add_row(what, why)
    console.print(gaps)
    console.print(f"target auto: {target('auto').name}; targets: {', '.join(TARGETS)}")
    lacking = [c for c in (*installed, *able) if c.needed and not c.good]
    for check in lacking:
        console.print(f"cannot search here: {check.what}: {check.found}. {check.remedy}".rstrip())
    return NONE_FOUND if lacking else VERIFIED


def _table(title: str, checks: Sequence[Check]) -> Table:
    table = Table("", "", "here", "what to do", title=title)
    for check in checks:
        mark = Text("yes", "green")
        if not check.good:
            mark = Text("NO", "red") if check.needed else Text("no", "yellow")
        told = "" if check.good else check.remedy
        table.add_row(mark, Text(check.what), Text(check.found), Text(told))
    return table
