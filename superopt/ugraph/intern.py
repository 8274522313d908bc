"""Hash-consing: structurally equal nodes are one object, so ``is`` decides equality."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from typing import TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

_table: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class Interned(type):
    """Metaclass of frozen dataclasses whose equal instances are the same object."""

    def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:
        """The one instance with these fields."""
        new: T = super().__call__(*args, **kwargs)  # type: ignore[misc]  # type.__call__
        values = [getattr(new, f.name) for f in fields(new) if f.init]  # type: ignore[arg-type]
        # Types belong to the key: 1 == True == 1.0, but Const(1) is not Const(1.0).
        interned: T = _table.setdefault((cls, *map(type, values), *values), new)
        return interned
