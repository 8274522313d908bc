"""Functions of the printed files that stand for what no field can execute, by their exact text.

Some approximate a function: what is between the text and the function is measured in float32 where
the helper is printed. Others rank numbers by their bits: the tests execute these and their meaning
on the same numbers. Any other text is executed as it stands.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from superopt.ugraph.domain import Domain
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn
from superopt.verify.source import following
from superopt.verify.source import lists
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.number import point
from superopt.verify.source.number import power_of_two
from superopt.verify.source.number import real
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import exactly
from superopt.verify.source.tiles import mapped
from superopt.verify.source.vocabulary import Vocabulary

Meaning = Callable[..., Any]


@lru_cache(maxsize=512)
def digest(node: ast.FunctionDef) -> str:
    """What identifies a function's text apart from its layout."""
    return hashlib.sha256(ast.unparse(node).encode()).hexdigest()[:16]


def _unary(fn: Fn) -> Meaning:
    def apply(tl: Vocabulary, x: Any) -> Any:
        tile = as_tile(tl.cells, x)
        exactly(fn, tile.dtype)
        return mapped(tl.cells, fn, (tile,), FP32)

    return apply


def _grid(numbers: Sequence[Any]) -> Fn:
    """The rounding to the grid that four arguments are."""
    given = [Fraction(getattr(n, "exact", n)) for n in numbers]
    for fn, row in GRIDS.items():
        if given == [row.bits, row.least, row.lowest, row.largest]:
            return fn
    raise OutsideVocabularyError(f"a rounding to {given}")


def _rounded(tl: Vocabulary, x: Any, *grid: Any) -> Any:
    return _unary(_grid(grid))(tl, x)


def _nearest(cells: Domain[Any], x: Any, *grid: Any) -> Any:
    return point(_grid(grid), real(cells, x))


def _of_doubles(fn: Fn) -> Meaning:
    return lambda cells, x: point(fn, real(cells, x))


# By the digest of the text.
APPROXIMATED: dict[str, Meaning] = {
    "5e1bebd547d9c40c": _unary(Fn.TANH),  # _tanh
    "fa65c8dcd69a1948": _unary(Fn.SIGMOID),  # _sigmoid
    "20dc7a490e24a82e": _unary(Fn.ERF),  # _erf
    "b13956cbf91d6d7d": _rounded,  # _round_to
    "6ad3e4063f1e3406": _unary(Fn.ROUND_BF16),  # _round_to_bf16
}
RANKING: dict[str, Meaning] = {
    "a2ce627c13d7cb32": lists.keys,
    "82a0357548c625a7": lists.nobody,
    "b8deb02be2417bdd": lists.among,
    "f391fda3d45548f5": lists.ranked,
    "7655064ddab99a91": following.origin,
    "0f8e322f90a0e3bc": following.follow,
    "8912f8901f244bc1": following.goes,
}
LAUNCHER: dict[str, Meaning] = {
    "449f500eb514326e": _nearest,
    "a51a8dbf1f5abd33": lambda cells, x: power_of_two(real(cells, x)),  # _exp2
    "b6f1216199f8b8a8": _of_doubles(Fn.SQRT),
    "1ce37d8d4d782756": _of_doubles(Fn.LOG2),
}


def meant(node: ast.FunctionDef) -> Meaning | None:
    """What a helper stands for, if its text is one of those that are printed."""
    return (APPROXIMATED | RANKING).get(digest(node))


def meant_by_launcher(node: ast.FunctionDef) -> Meaning | None:
    """What a function of the launcher stands for; it takes the domain before its arguments."""
    return LAUNCHER.get(digest(node))
