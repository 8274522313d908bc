"""Which axes exist while a spec is traced: those of its parameters, and those that it makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from superopt.tensor import refuse
from superopt.tensor import spoken


class _Axes:
    """The axes of the parameters, and the sizes of those that were made."""

    def __init__(self, given: tuple[str, ...]) -> None:
        self.given = given
        self.made: dict[str, int] = {}


_axes: ContextVar[_Axes | None] = ContextVar("axes", default=None)


@contextmanager
def tracing(axes: tuple[str, ...]) -> Iterator[None]:
    """While a spec is traced, ``axes`` are the only ones that exist, until it makes others."""
    token = _axes.set(_Axes(axes))
    try:
        yield
    finally:
        _axes.reset(token)


def made_axes() -> tuple[tuple[str, int], ...]:
    """The axes that the spec in hand has made so far, with their sizes."""
    here = _axes.get()
    return () if here is None else tuple(here.made.items())


def make_axis(axis: object, size: int) -> str:
    """A new axis of ``size`` positions; the same one if it was made before.

    Raises:
        SpecError: the name is none, or stands for something else.
    """
    name, here = _name(axis), _axes.get()
    if here is None:
        return name
    if name in here.given:
        refuse(f"{axis!r} is an axis of a parameter, so it cannot be made anew")
    if here.made.setdefault(name, size) != size:
        refuse(f"axis {axis!r} has {here.made[name]} positions already, so it cannot have {size}")
    return name


def known_axis(axis: object) -> str:
    """``axis`` if the spec in hand has it.

    Raises:
        SpecError: it is no axis of any parameter.
    """
    name, here = _name(axis), _axes.get()
    if here is not None and name not in here.given and name not in here.made:
        refuse(f"no axis {axis!r}; the parameters have {spoken(here.given)}")
    return name


def _name(axis: object) -> str:
    if not isinstance(axis, str) or not axis.isidentifier():
        text = repr(axis) if isinstance(axis, str | int) else f"a {type(axis).__name__}"
        refuse(f"{text} is no name of an axis")
    return axis
