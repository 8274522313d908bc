"""The part of FlagTree's language extensions (TLE) that plain kernels are printed in.

``tle.load`` is ``tl.load``; its ``is_async`` is a hint, which changes when a value comes and not
which. A file has these words only if it imports them.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.vocabulary import Strict
from superopt.verify.source.vocabulary import Vocabulary

MODULE = "triton.experimental.tle.language"


@lru_cache(maxsize=64)
def imported(text: KernelText) -> bool:
    """Whether a file imports TLE under the name that its words have here."""
    imports = (n for n in ast.walk(text.tree) if isinstance(n, ast.Import))
    return any(a.name == MODULE and a.asname == "tle" for n in imports for a in n.names)


def namespace(language: Vocabulary, text: KernelText) -> dict[str, Any]:
    """``tle``, if the file has it."""
    return {"tle": Strict("tle", load=hinted(language))} if imported(text) else {}


def hinted(language: Vocabulary) -> Any:
    """``tle.load``."""

    def load(
        pointer: Any, mask: Any = None, other: Any = None, is_async: Any = False, **hints: Any
    ) -> Any:
        if not isinstance(is_async, bool):
            raise OutsideVocabularyError(f"is_async={is_async!r}")
        return language.load(pointer, mask, other, **hints)

    return load
