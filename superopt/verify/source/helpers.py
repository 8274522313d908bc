"""Functions of the printed files that stand for what no field can execute, by their exact text.

Some approximate a function: what is between the text and the function is measured in float32 where
the helper is printed. Others rank numbers by their bits: the tests execute these and their meaning
on the same numbers. Any other text is executed as it stands.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import Fn
from superopt.verify.source import lists
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.tiles import mapped
from superopt.verify.source.vocabulary import Vocabulary

Meaning = Callable[..., Any]


def digest(node: ast.FunctionDef) -> str:
    """What identifies a function's text apart from its layout."""
    return hashlib.sha256(ast.unparse(node).encode()).hexdigest()[:16]


def _unary(fn: Fn) -> Meaning:
    return lambda tl, x: mapped(tl.cells, fn, (as_tile(tl.cells, x),), FP32)


def _rounded(tl: Vocabulary, x: Any, *grid: Any) -> Any:
    numbers = [Fraction(getattr(g, "exact", g)) for g in grid]
    for fn, row in GRIDS.items():
        if numbers == [row.bits, row.least, row.lowest, row.largest]:
            return _unary(fn)(tl, x)
    raise OutsideVocabularyError(f"a rounding to {numbers}")


# By the digest of the text.
APPROXIMATED: dict[str, Meaning] = {
    "db4ed465b543ea3e": _unary(Fn.TANH),  # _tanh
    "fa65c8dcd69a1948": _unary(Fn.SIGMOID),  # _sigmoid
    "b13956cbf91d6d7d": _rounded,  # _round_to
    "6ad3e4063f1e3406": _unary(Fn.ROUND_BF16),  # _round_to_bf16
}
RANKING: dict[str, Meaning] = {
    "a2ce627c13d7cb32": lists.keys,
    "82a0357548c625a7": lists.nobody,
    "b8deb02be2417bdd": lists.among,
    "f391fda3d45548f5": lists.ranked,
}


def meant(node: ast.FunctionDef) -> Meaning | None:
    """What a helper stands for, if its text is one of those that are printed."""
    return (APPROXIMATED | RANKING).get(digest(node))
