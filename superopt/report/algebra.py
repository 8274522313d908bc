"""Expressions of a walk as algebra that people read: states by name, new ones with a prime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from superopt.rewrite.show import FOLD
from superopt.rewrite.show import SCANNED
from superopt.rewrite.show import leaf_text
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform

_INFIX = {
    Fn.OR: (" or ", 1),
    Fn.AND: (" and ", 2),
    Fn.EQ: (" == ", 3),
    Fn.LT: (" < ", 3),
    Fn.LE: (" <= ", 3),
    Fn.ADD: (" + ", 4),
    Fn.SUB: (" - ", 4),
    Fn.MUL: (" * ", 5),
    Fn.DIV: (" / ", 5),
}
_ATOM = 7
PRIME = "'"


def fold_name(fn: Fn, axis: str) -> str:
    """The name of a fold over ``axis``: ``sum_n``."""
    return f"{FOLD[fn]}_{axis}"


def combined(fn: Fn, left: str, right: str) -> str:
    """Two closed or added-up texts under a fold: ``a + b``, ``max(a, b)``."""
    return f"{left} + {right}" if fn is Fn.ADD else f"{fn.symbol}({left}, {right})"


def algebra(node: Node) -> str:
    """``node`` as text, with as few parentheses as it takes."""
    return _text(node, {})[0]


def plain(node: Node) -> Node:
    """``node`` without choices at single values of states: as it is off the guarded points.

    Choices that are always made the same way are left out, too.
    """

    def change(n: Node) -> Node:
        match n:
            case Map(
                fn=Fn.WHERE, args=(Map(fn=Fn.LE, args=(Const(value=0), Index())), then, Const())
            ):
                return then
            case Map(fn=Fn.WHERE, args=(Map(fn=Fn.EQ, args=(a, b)), then, otherwise)) if {
                type(a),
                type(b),
            } in ({State, Const}, {Size, Const}) and isinstance(then, Const):
                return otherwise
            case _:
                return n

    return transform([node], change)[node]


def abbreviated(nodes: list[Node], room: int = 24) -> tuple[list[str], list[str]]:
    """The texts of ``nodes``, and what letters in them stand for: the longer subterms that do
    not move."""
    letters = iter("uvwxyz")
    taken = {getattr(n, "name", "") for n in topo(nodes)}
    texts: dict[Node, str] = {}
    legend: list[str] = []
    for n in _still(nodes):
        if len(algebra(n)) > room:
            letter = next((x for x in letters if x not in taken), None)
            if letter is not None:
                texts[n] = letter
                legend.append(f"{letter} = {algebra(n)}")
    return [_text(n, texts)[0] for n in nodes], legend


def shared(nodes: list[Node], room: int = 8) -> tuple[list[str], list[str]]:
    """The texts of ``nodes``, and what letters in them stand for: the longer subterms that are
    there more than once, each in terms of those before it."""
    uses = Counter(nodes)
    for n in topo(nodes):
        uses.update(children(n))
    taken = {getattr(n, "name", "") for n in topo(nodes)}
    letters = (x for x in "uvwxyz" if x not in taken)
    texts: dict[Node, str] = {}
    legend: list[str] = []
    for n in topo(nodes):
        text = _text(n, texts)[0]
        if uses[n] > 1 and children(n) and len(text) > room:
            if (letter := next(letters, None)) is None:
                break
            texts[n] = letter
            legend.append(f"{letter} = {text}")
    return [_text(n, texts)[0] for n in nodes], legend


def _still(nodes: list[Node]) -> list[Node]:
    """The largest subterms without states."""
    moving: set[Node] = set()
    for n in topo(nodes):
        if isinstance(n, State) or any(c in moving for c in children(n)):
            moving.add(n)
    tops = [c for n in topo(nodes) if n in moving for c in children(n)] + nodes
    return list(dict.fromkeys(n for n in tops if n not in moving and n.axes))


def _text(node: Node, known: Mapping[Node, str]) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    if node in known:
        return known[node], _ATOM

    def inner(n: Node, least: int = 0) -> str:
        text, binding = _text(n, known)
        return text if binding >= least else f"({text})"

    match node:
        case Const(value=Fraction() as value):
            return _number(value), _ATOM if value >= 0 and value.denominator == 1 else 5
        case Map(fn=Fn.MUL, args=(Const(value=value), b)) if value == -1:
            return f"-{inner(b, 6)}", 5
        case Map(fn=fn, args=(a, b)) if fn in _INFIX:
            sign, binding = _INFIX[fn]
            tighter = binding + (fn in (Fn.SUB, Fn.DIV) or binding == 3)
            return f"{inner(a, binding)}{sign}{inner(b, tighter)}", binding
        case Map(fn=fn, args=args):
            return f"{fn.symbol}({', '.join(inner(a) for a in args)})", _ATOM
        case Reduce(fn=fn, axis=axis, arg=arg):
            return f"{fold_name(fn, axis)}({inner(arg)})", _ATOM
        case Best(axis=axis, into=into, args=args, at=at):
            name = "taken" if node.taken else "places" if at else "best"
            shown = ", ".join(inner(a) for a in (args[0], *node.payloads))
            return f"{name}_{axis}->{into}({shown})", _ATOM
        case Recur(axis=axis, last=last):
            words = ", ".join(inner(a) for a in children(node))
            return f"{'last_' * last}state_{axis}({words})", _ATOM
        case Scan(fn=fn, axis=axis, arg=arg):
            return f"{SCANNED}{fold_name(fn, axis)}({inner(arg)})", _ATOM
        case _:
            return _leaf(node), _ATOM


def _leaf(node: Node) -> str:
    match node:
        case State(carry=carry, old=old):
            return carry if old else carry + PRIME
        case _:
            return leaf_text(node)


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    short = f"{float(value):g}"
    return short if Fraction(short) == value else f"{value.numerator}/{value.denominator}"
