"""A printed value: an expression with the tile dimensions that it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.ugraph.scalar import Kind


@dataclass(frozen=True)
class Value:
    """``text`` has one dimension for each axis of ``dims``; () is a scalar.

    ``closed``: it needs no parentheses as an operand. ``weight``: how many operations the text
    holds, which decides when it gets a variable (its length must not, because names differ).
    """

    text: str
    dims: tuple[str, ...]
    kind: Kind
    closed: bool = True
    weight: int = 0

    @property
    def operand(self) -> str:
        """The text as part of a larger expression."""
        return self.text if self.closed else f"({self.text})"

    @property
    def is_name(self) -> bool:
        """Whether the text is a variable (or a numeral without point)."""
        return re.fullmatch(r"\w+", self.text) is not None

    @property
    def is_literal(self) -> bool:
        """Whether the text is a variable or a number."""
        digits = self.text.replace(".", "").replace("-", "")
        return self.text.startswith("float(") or digits.isalnum()

    def along(self, dims: Sequence[str]) -> str:
        """The text as an operand whose dimensions line up with ``dims`` (length 1 if absent)."""
        if not self.dims or self.dims == tuple(dims):
            return self.operand
        return f"{self.operand}[{', '.join(':' if d in self.dims else 'None' for d in dims)}]"
