"""Which version of a package is here, for records and reports."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version

SOURCE = "source"  # of superopt itself, where it runs from its folder without being installed
MISSING = "missing"


def version_of(package: str) -> str:
    """The version of ``package``, or a word for why it has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return SOURCE if package == "superopt" else MISSING
