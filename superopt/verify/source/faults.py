"""How a reading ends that does not reach the end of the text."""

from __future__ import annotations

from superopt.errors import SuperoptError


class OutsideVocabularyError(SuperoptError):
    """The text uses what the reading has no meaning for, or asks what the reading cannot know."""


class FaultError(SuperoptError):
    """The text does what no kernel may do; ``at``: where, as (name, value)."""

    def __init__(self, what: str, at: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.at = at
