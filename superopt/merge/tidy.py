"""Terms without what is seen at a glance to be superfluous: numbers, and choices made twice.

Nothing here is needed for a term to be right. A term that people read is better without it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from fractions import Fraction

from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo

_ARITHMETIC: dict[Fn, Callable[[Fraction, Fraction], Fraction]] = {
    Fn.ADD: lambda a, b: a + b,
    Fn.SUB: lambda a, b: a - b,
    Fn.MUL: lambda a, b: a * b,
}
_COMPARED: dict[Fn, Callable[[Number, Number], bool]] = {
    Fn.EQ: lambda a, b: a == b,
    Fn.LT: lambda a, b: a < b,
    Fn.LE: lambda a, b: a <= b,
}


def along(value: Node, axes: Iterable[str]) -> Node:
    """``value`` with ``axes``, along which it may be the same; something may fold over them."""
    for axis in axes:
        if axis not in value.axes:
            here = Map(Fn.LE, (Const(Fraction(0)), Index(axis)))
            value = Map(Fn.WHERE, (here, value, value))
    return value


def tidy(root: Node) -> Node:
    """``root``, the same value wherever it has one, in fewer words."""
    found: dict[Node, Node] = {}
    for node in topo([root]):
        parts = tuple(found[c] for c in children(node))
        match node:
            case Reduce(fn=fn, axis=axis) | Scan(fn=fn, axis=axis) if axis not in parts[0].axes:
                # Every position has this value: it is said so, because a fold needs its axis.
                here = Map(Fn.LE, (Const(Fraction(0)), Index(axis)))
                parts = (Map(Fn.WHERE, (here, parts[0], Const(fn.unit))),)
            case _:
                pass
        found[node] = _tidied(rebuild(node, parts))
    return found[root]


def _tidied(node: Node) -> Node:
    match node:
        case Map(fn=fn, args=(Const(value=Fraction() as a), Const(value=Fraction() as b))) if (
            fn in _ARITHMETIC
        ):
            return Const(_ARITHMETIC[fn](a, b))
        case Map(fn=Fn.ADD, args=(a, Const(value=0)) | (Const(value=0), a)):
            return a
        case Map(fn=Fn.SUB, args=(a, Const(value=0))):
            return a
        case Map(fn=Fn.MUL, args=(a, Const(value=1)) | (Const(value=1), a)):
            return a
        case Map(fn=Fn.MUL, args=(Const(value=0), _) | (_, Const(value=0))):
            return Const(Fraction(0))
        case Map(fn=Fn.DIV, args=(a, Const(value=1))):
            return a
        case Map(fn=Fn.LOG | Fn.LOG2, args=(Const(value=1),)):
            return Const(Fraction(0))
        case Map(fn=Fn.SQRT, args=(Const(value=0 | 1),)):
            return node.args[0]
        case Map(fn=Fn.WHERE, args=(condition, then, otherwise)):
            return _choice(condition, then, otherwise)
        case Map(
            fn=fn, args=(Map(fn=Fn.WHERE, args=(c, Const(value=a), Const(value=b))), Const(value=d))
        ) if fn in _COMPARED and _COMPARED[fn](a, d) != _COMPARED[fn](b, d):
            return c if _COMPARED[fn](a, d) else Map(Fn.NOT, (c,))
        case Map(fn=fn, args=(Map(fn=Fn.WHERE, args=(c, a, b)), Map(fn=Fn.WHERE, args=(d, e, f)))):
            return _choice(c, _apply(fn, a, e), _apply(fn, b, f)) if c is d else node
        case _:
            return node


def _apply(fn: Fn, a: Node, b: Node) -> Node:
    return _tidied(Map(fn, (a, b)))


def _choice(condition: Node, then: Node, otherwise: Node) -> Node:
    """``where``, of which an arm is left out that is never taken."""
    match condition:
        case Map(fn=fn, args=(Const(value=a), Const(value=b))) if fn in _COMPARED:
            return then if _COMPARED[fn](a, b) else otherwise
        case Map(fn=Fn.NOT, args=(opposite,)):
            return _choice(opposite, otherwise, then)
    match then:
        case Map(fn=Fn.WHERE, args=(same, inner, _)) if same is condition:
            return _choice(condition, inner, otherwise)
    match otherwise:
        case Map(fn=Fn.WHERE, args=(same, _, inner)) if same is condition:
            return _choice(condition, then, inner)
    return then if then is otherwise else Map(Fn.WHERE, (condition, then, otherwise))
