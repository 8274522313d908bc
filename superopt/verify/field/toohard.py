"""The error of what the bound on a wrong accept cannot count."""

from __future__ import annotations

from superopt.errors import SuperoptError


class TooHardError(SuperoptError):
    """The exponents are outside what the bound can count; the message says why."""
