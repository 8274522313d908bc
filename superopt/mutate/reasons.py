"""Why a mutant computes the same, and what stands for something of which nothing is known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from superopt.mutate.source import Site

NAN = 'float("nan")'
ANY = "PI"  # a constant that fields draw anew at every point
PRINTED = "PI = tl.constexpr(3.141592653589793)\n"
NUMBERS = ("2", "8", "8 * 8")  # the field reading knows no numerals beyond its positions
VALUES = ("0.6180339887", "-37.25", "1234.5")

NOTHING = "nothing depends on it: NaN in its place"
SOME = "any number may stand in its place"
VALUE = "any of the numbers " + ", ".join(VALUES) + " may stand in its place"
NUMBER = "any of the numbers 2, 8, 64 may stand in its place"
EITHER = "either truth value may stand in its place"
LESS = "false may stand in its place, and it is true only where it was"
CONVERTED = "the operator around it converts to the same type"
WIDENED = "a float is converted where it is computed with, and nothing is in fewer bits"
UNREAD = "its value is never read"
APART = "nothing depends on it where the two differ: NaN there"
ANYWHERE = "any number may stand in its place where the two differ"
OTHERS = "any of the numbers -2, 2, 8, 64 may stand in its place where the two differ"
AGAIN = "done again it gives the same value"
NUMBERED = "programs may be numbered in another order"
WALKED = "tiles of the walk may come in another order"
FURTHER = "a further number may stand in place of the other one"
LAUNCH = "the numbers of any launch of the plan may stand in its place"
TIMING = "it says when the next launch may begin, which waits for the end of this one"
WHEN = "it is launched if and only if there are programs, for all sizes"
SAME = "the two are equal for all sizes"
MEMORY = (
    NUMBER,
    EITHER,
    LAUNCH,
    TIMING,
)  # those that are about positions, too: all readings are asked

Try = tuple[str, Sequence[str]]  # a reason, and the texts that must all pass


def with_any(text: str) -> str:
    """The text with the constant that fields draw, if it has none."""
    if f"\n{ANY} = " in text:
        return text
    head, mark, rest = text.partition("\n@triton.jit")
    return f"{head}\n{PRINTED}{mark}{rest}"


def span(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where a node begins and ends."""
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def around(site: Site, node: ast.expr | ast.stmt) -> Site:
    """Another node of the same statement."""
    return Site(*span(node), site.function, site.statement, site.compiled, node)
