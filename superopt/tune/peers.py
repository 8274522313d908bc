"""What a kernel is compared with: files that declare peers, and those made of a spec's reference.

A peers file is Python with a dict ``PEERS``: name of a spec function -> name of a peer -> factory.
A factory is called once for each rotated set of inputs, ``factory(tensors, case)``, where
``tensors`` holds the parameters and, under their names, outputs to write to. It returns a callable
without arguments, which is what is timed: compiling, masks of blocks and views are made before.

    PEERS = {"row_sum": {"torch": lambda t, case: lambda: torch.sum(t["x"], -1)}}

Not every peer computes the same: a copy of the same bytes, or the product without its epilogue,
is a *yardstick*. Its output is not compared (``yardstick(factory)``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from superopt.case import Case
from superopt.errors import UserError
from superopt.tune.bench_job import OURS

EAGER = "eager"
COMPILE = "compile"
MAX_AUTOTUNE = "max-autotune"
GENERIC = (EAGER, COMPILE, MAX_AUTOTUNE)  # made of a spec's reference

Factory = Callable[[dict[str, Any], Case], Callable[[], object]]


@dataclass(frozen=True)
class Peer:
    """``checked``: whether its output is compared with the expected values."""

    name: str
    make: Factory
    checked: bool = True


@dataclass(frozen=True)
class Yardstick:
    """A factory of something that does not compute the operator, and is timed all the same."""

    make: Factory


def yardstick(make: Factory) -> Yardstick:
    """Marks a factory as one whose output is not compared."""
    return Yardstick(make)


def load_peers(file: Path, function: str) -> dict[str, Peer]:
    """The peers that ``file`` declares for the spec called ``function`` (perhaps none).

    Raises:
        UserError: there is no such file, it fails, or its ``PEERS`` is not as described above.
    """
    table = getattr(_executed(file), "PEERS", None)
    if not isinstance(table, Mapping):
        raise UserError(f"{file}: holds no dict PEERS: spec function -> peer name -> factory")
    declared = table.get(function, {})
    if not isinstance(declared, Mapping):
        raise UserError(f"{file}: PEERS[{function!r}] is no dict of peer name -> factory")
    found: dict[str, Peer] = {}
    for name, entry in declared.items():
        make = entry.make if isinstance(entry, Yardstick) else entry
        if not isinstance(name, str) or not callable(make):
            raise UserError(
                f"{file}: PEERS[{function!r}][{name!r}] is no factory of (tensors, case)"
            )
        if name == OURS or name != name.strip() or not name or "," in name:
            raise UserError(
                f"{file}: {name!r} names no peer: {OURS!r} is the kernel, and --against parts "
                "names at commas"
            )
        if name in GENERIC:
            raise UserError(f"{file}: {name!r} is made of the spec's reference; name it otherwise")
        found[name] = Peer(name, make, not isinstance(entry, Yardstick))
    return found


def chosen(
    against: Sequence[str], declared: Mapping[str, Peer], has_reference: bool
) -> tuple[str, ...]:
    """``against``, checked: every name once, each one known.

    Raises:
        UserError: a peer is not declared, or is made of a reference that there is none of.
    """
    for name in against:
        if name in GENERIC and not has_reference:
            raise UserError(
                f"--against {name}: it runs the torch function that a spec has as reference=, "
                f"which is in no kernel file; give --spec FILE:FUNCTION of such a spec"
            )
        if name not in GENERIC and name not in declared:
            have = ", ".join([*GENERIC, *declared])
            hint = "" if declared else "; --peers FILE declares more"
            raise UserError(f"--against {name}: no such peer; there are {have}{hint}")
    return tuple(dict.fromkeys(against))


def generic(name: str, reference: Callable[..., Any], order: Sequence[str]) -> Peer:
    """A peer that runs ``reference`` on the tensors named ``order``: as it is, or compiled.

    It is compiled once for all sets of inputs. The graphs that ``max-autotune`` would capture
    itself are left off, because the timing captures its own.
    """
    import torch

    match name:
        case "eager":
            call = reference
        case "compile":
            call = torch.compile(reference, dynamic=False)
        case "max-autotune":
            call = torch.compile(reference, dynamic=False, mode="max-autotune-no-cudagraphs")
        case _:
            raise ValueError(f"no peer called {name!r} is made of a reference")

    def make(tensors: dict[str, Any], case: Case) -> Callable[[], object]:
        arguments = [tensors[n] for n in order]
        home = next(a.device for a in arguments if isinstance(a, torch.Tensor))

        def at_home() -> object:  # what a reference makes for itself has to be on the device, too
            with torch.device(home):
                return call(*arguments)

        try:
            call(*arguments)
        except RuntimeError:
            at_home()
            return at_home
        return lambda: call(*arguments)

    return Peer(name, make)


def _executed(file: Path) -> ModuleType:
    """The module of a peers file; what stands beside it can be imported by it."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"--peers: no file {str(file)!r}") from None
    except OSError as error:
        raise UserError(f"--peers: cannot read {str(file)!r}: {error.strerror}") from None
    module = ModuleType(f"superopt_peers_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # compilers look the globals of functions up
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        exec(compile(text, str(file), "exec"), vars(module))
    except (Exception, SystemExit) as error:  # the user's own lines: report, do not crash
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"--peers {file}: {line}") from error
    finally:
        sys.path.remove(folder)
    return module
