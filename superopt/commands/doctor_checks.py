"""What ``superopt doctor`` looks at: what each check found, and what to do if that is bad."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from superopt.commands import doctor_kernel
from superopt.commands.doctor_kernel import Tried
from superopt.device import TARGETS
from superopt.device import target
from superopt.emit.dialect import Dialect
from superopt.errors import UserError
from superopt.tune.machine import driver
from superopt.verify.run import stand_in
from superopt.verify.run.compile_ahead import Compiler
from superopt.versions import MISSING
from superopt.versions import version_of

PYTHON = (3, 11)
# By package: from which version on, and before which one (pyproject.toml has the same), and what
# it is needed for; without the ones marked * nothing can be searched.
PACKAGES = {
    "torch": ("2.11", "", "* references, executions, times"),
    "triton": ("3.6", "3.8", "* the compiler and the interpreter"),
    "numpy": ("1.26", "2.4", "* readings"),
    "sympy": ("1.13", "", "* repairs"),
    "z3-solver": ("4.13", "", "* proofs"),
    "rich": ("13", "", "* this table"),
    "typer": ("0.12", "", "* the command line"),
    "optuna": ("4", "", "tuning on a GPU"),
    "matplotlib": ("3.8", "", "plots of a report"),
    "jinja2": ("3.1", "", "the page of a report"),
    "cvc5": ("1.2", "", "a second solver (verify --solver cvc5)"),
}


@dataclass(frozen=True)
class Check:
    """``what`` was looked at, what was ``found``, whether that is ``good``. ``needed``: else
    nothing can be searched. ``remedy``: what to do if it is not good."""

    what: str
    found: str
    good: bool
    needed: bool = True
    remedy: str = ""


def packages() -> Iterator[Check]:
    """Python and what is installed."""
    good = sys.version_info >= PYTHON
    yield Check("python", platform.python_version(), good, remedy="Python 3.11 or newer")
    for name, (least, below, use) in PACKAGES.items():
        yield package(name, version_of(name), least, below, use)


def package(name: str, version: str, least: str, below: str, use: str) -> Check:
    """One package: whether it is there, in a version that superopt is made for."""
    wanted = f"{name}>={least}" + (f",<{below}" if below else "")
    needed = use.startswith("*")
    what = f"{name} ({use.removeprefix('* ')})"
    remedy = f"pip install '{wanted}'"
    if version == MISSING:
        return Check(what, MISSING, False, needed, remedy)
    if release(version) < release(least):
        return Check(what, f"{version}, which is too old", False, needed, remedy)
    if below and release(version) >= release(below):  # what works with it is tried below
        said = f"{version}, newer than superopt was ever run with"
        return Check(what, said, False, needed=False, remedy=remedy)
    return Check(what, version, True, needed, remedy)


def release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: (2, 11, 0) of ``2.11.0+cu130``."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def abilities() -> Iterator[Check]:
    """What this machine can do, tried with a small kernel."""
    with tempfile.TemporaryDirectory() as folder, Compiler(1) as compiler:
        made = guarded("print a kernel", lambda: Tried(True, _write(Path(folder))))
        yield made
        if not made.good:
            return
        file = Path(folder) / made.found
        yield guarded(
            "execute it in Triton's interpreter",
            lambda: doctor_kernel.self_tested(file, device=False),
            remedy=_interpreter_remedy(version_of("triton"), version_of("numpy")),
        )
        yield guarded(
            "compile it ahead of time",
            lambda: doctor_kernel.compiled(file, compiler, roles=False),
            remedy="Triton's wheel for Linux brings its own compiler and assembler",
        )
        yield guarded("the assembler (ptxas)", _assembler, needed=False, remedy="reinstall triton")
        yield guarded(
            "compile it with roles (Gluon)",
            lambda: doctor_kernel.compiled(file, compiler, roles=True),
            needed=False,
            remedy="searches do without kernels with roles",
        )
        yield from _on_gpu(file)
        yield from _flagtree(Path(folder))


def _interpreter_remedy(triton: str, numpy: str) -> str:
    """What to do if the interpreter does not work with these versions."""
    if release(triton) < (3, 7) and release(numpy) >= (2, 4):
        return (
            f"the interpreter of triton {triton} takes arrays of one element for numbers, which "
            f"numpy {numpy} refuses: pip install 'numpy<2.4' (or triton 3.7)"
        )
    return "kernels cannot be checked here: see the message; is triton whole?"


def _write(folder: Path) -> str:
    return doctor_kernel.write(folder).name


def _assembler() -> Tried:
    from triton import knobs

    found = knobs.nvidia.ptxas
    return Tried(True, f"{found.version}, of {Path(found.path).parent.parent.parent.parent.name}")


def gpu() -> str:
    """The name of the GPU that torch sees, empty if there is none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def capability() -> str:
    """The architecture of the GPU that torch sees: ``sm_90``."""
    import torch

    return "sm_{}{}".format(*torch.cuda.get_device_capability())


def _on_gpu(file: Path) -> Iterator[Check]:
    """The GPU, if there is one, and the kernel on it."""
    name = guarded("a GPU", lambda: Tried(bool(gpu()), gpu() or "none"), needed=False)
    if not name.good:
        yield Check(
            name.what,
            name.found,
            False,
            needed=False,
            remedy="kernels are ranked by a model; superopt time RUN, on a machine with one",
        )
        return
    arch = capability()
    yield Check("a GPU", f"{name.found}, {arch}", True)
    known = any(d.arch == arch for d in TARGETS.values())
    yield Check(
        "what the model knows of it",
        f"the row {target('auto').name!r}" if known else f"nothing: {arch}",
        known,
        needed=False,
        remedy=f"searches take the row {target('auto').name!r} for it; name another by --target",
    )
    yield guarded("its driver", lambda: Tried(True, driver()), needed=False)
    yield guarded("run the kernel on it", lambda: doctor_kernel.self_tested(file, device=True))
    if arch == "sm_90":
        yield guarded("run it with roles", lambda: doctor_kernel.with_roles(file), needed=False)


def _flagtree(folder: Path) -> Iterator[Check]:
    """FlagTree, if this triton is its, and a kernel in its words."""
    here = guarded("FlagTree", lambda: Tried(stand_in.flagtree(), "not here"), needed=False)
    if not here.good:
        remedy = "superopt print --dialect flagtree does without: its files are then read only"
        yield Check(here.what, here.found, False, needed=False, remedy=remedy)
        return
    yield Check("FlagTree", "here", True, needed=False)
    file = doctor_kernel.write(folder, Dialect.FLAGTREE)
    on = bool(gpu())
    yield guarded(
        f"run its kernel {'on the GPU' if on else 'in the interpreter'}",
        lambda: doctor_kernel.self_tested(file, device=on),
        needed=False,
    )
    if on and capability() == "sm_90":
        yield guarded(
            "run its kernel with roles", lambda: doctor_kernel.with_roles(file), needed=False
        )


def guarded(
    what: str, attempt: Callable[[], Tried], needed: bool = True, remedy: str = ""
) -> Check:
    """A check of something that may fail in any way: its message is what was found."""
    try:
        tried = attempt()
    except UserError as error:
        tried = Tried(False, error.message)
    except Exception as error:
        tried = Tried(False, f"{type(error).__name__}: {error}")
    return Check(what, tried.said, tried.ok, needed, remedy)
