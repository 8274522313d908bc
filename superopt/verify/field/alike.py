"""Which pairs of elements are the same but for the names of their inputs.

Most elements of an output are computed alike, each of elements of its own. What is counted of one
pair (``bound.py``) holds for every pair that becomes it when inputs are renamed one to one, for all
inputs are drawn alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.field.terms import Terms

Form = tuple[object, ...]


def form(terms: Terms, roots: Sequence[int]) -> Form:
    """What ``roots`` are, with the terms below them numbered as they are met and inputs unnamed.

    Two forms are equal only if one is the other with inputs renamed; arguments in another order
    make another form.
    """
    numbers: dict[int, int] = {}
    found: list[object] = []
    stack = list(reversed(roots))
    while stack:
        top = stack.pop()
        if top in numbers:
            found.append(numbers[top])
            continue
        numbers[top] = len(numbers)
        t = terms.all[top]
        value = None if t.op == "input" else (type(t.value), t.value)
        found.append((t.op, len(t.args), value, top in terms.stepped))
        stack.extend(reversed(t.args))
    return tuple(found)
