"""Which version of a package is here, for records and reports."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version
from pathlib import Path

SOURCE = "source"  # of superopt itself, where it runs from its folder without being installed
MISSING = "missing"
VERIFIER = ("ugraph", "verify")
DIGITS = 16


def version_of(package: str) -> str:
    """The version of ``package``, or a word for why it has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return SOURCE if package == "superopt" else MISSING


@cache
def verifier() -> str:
    """What draws primes and inputs and judges: superopt's version, a digest of the sources of its
    readings and of what they evaluate, and the solver's version."""
    package = Path(__file__).parent
    files = sorted(p for part in VERIFIER for p in (package / part).rglob("*.py"))
    found = hashlib.sha256()
    for path in files:
        data = path.read_bytes().replace(b"\r\n", b"\n")
        found.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode())
        found.update(data)
    tool, solver = version_of("superopt"), version_of("z3-solver")
    return f"superopt {tool}, sources {found.hexdigest()[:DIGITS]}, z3 {solver}"
