"""Names in printed text: from what they stand for, never from ``id`` or hash, never twice."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

from superopt.signature import FILE_NAMES

RESERVED = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *dir(builtins),
        *FILE_NAMES,
        *("PRECISION", "precision", "out", "plan", "pid", "launch", "programs", "sizes", "case"),
        *("GROUP", "real", "dtype", "device", "given", "others"),
        *("DEPENDENT", "LEADS", "dependent"),
    }
)


def ascii_name(name: str) -> str:
    """``name`` for compilers that read ASCII only; other letters become their numbers."""
    return name.encode("ascii", "backslashreplace").decode().replace("\\", "_")


class Namer:
    """Hands out identifiers of one scope: the wished name, or it with a number behind."""

    def __init__(self, taken: frozenset[str] = RESERVED) -> None:
        self._taken = set(taken)

    def fresh(self, wish: str) -> str:
        """An identifier like ``wish`` that this scope has not used yet."""
        # Python reads identifiers in normal form, so others could coincide.
        usual = wish.isidentifier() and unicodedata.normalize("NFKC", wish) == wish
        base = wish if usual else re.sub(r"\W", "_", wish, flags=re.ASCII)
        if not base or base[0].isdigit():
            base = f"_{base}"
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def release(self, names: Iterable[str]) -> None:
        """Lets ``names`` be handed out again: no text to come can mean what they stood for."""
        self._taken.difference_update(names)
