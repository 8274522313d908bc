"""Which exceptions can leave superopt, and whose mistake each one is."""

from __future__ import annotations

# Exit codes of the command line.
VERIFIED = 0  # a verified winner (also when interrupted after one)
NONE_FOUND = 1  # a valid spec without a verified kernel, or a check that failed
BAD_INPUT = 2  # the user's input
OUR_FAULT = 70  # a bug of superopt
INTERRUPTED = 130  # before any kernel was verified


class SuperoptError(Exception):
    """Base of every exception that superopt raises on purpose."""


class UserError(SuperoptError):
    """The user's input is wrong; the message is one line and says what would be right.

    ``where`` is ``file:line`` when it is known.
    """

    def __init__(self, message: str, where: str | None = None) -> None:
        super().__init__(message if where is None else f"{where}: {message}")
        self.message = message
        self.where = where


class SpecError(UserError):
    """A spec does not describe an operator: axes, dtypes, cases or reference are wrong."""


class IllTyped(SuperoptError):  # noqa: N818
    """A node or a graph was built that has no meaning (unknown axis, wrong arity, ...)."""


class ParseError(SuperoptError):
    """Text is no graph."""


class NoFusion(SuperoptError):  # noqa: N818
    """A grouping of folds is no kernel; the message says which fold or store prevents it."""


class NoRepair(SuperoptError):  # noqa: N818
    """A premature read cannot be corrected; the message names the term that prevents it.

    ``carry``: the name of the fold that reads, where it is known.
    """

    carry: str = ""


class NotEmittable(SuperoptError):  # noqa: N818
    """A graph cannot be printed in this dialect; the message says which node and why."""


class DoesNotFit(SuperoptError):  # noqa: N818
    """No Config of a graph fits the device."""
