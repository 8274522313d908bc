"""Terms and laws as short text for people."""

from __future__ import annotations

from fractions import Fraction

from superopt.rewrite.egraph import EGraph
from superopt.rewrite.egraph import ENode
from superopt.rewrite.egraph import Folding
from superopt.rewrite.egraph import Ranking
from superopt.rewrite.egraph import Scanning
from superopt.rewrite.egraph import Stepping
from superopt.rewrite.rule import App
from superopt.rewrite.rule import Extent
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import Num
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Sym
from superopt.rewrite.rule import Var
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.ugraph.walk import children

INFIX = {
    Fn.ADD: " + ",
    Fn.SUB: " - ",
    Fn.MUL: " * ",
    Fn.DIV: " / ",
    Fn.LT: " < ",
    Fn.LE: " <= ",
    Fn.EQ: " == ",
}
FOLD = {Fn.ADD: "sum", Fn.MUL: "prod", Fn.MAX: "max", Fn.MIN: "min"}
SCANNED = "cum"  # stands before the name of a fold: its prefixes
DEPTH = 5  # deeper terms are abbreviated


def number_text(value: Number) -> str:
    """An exact number."""
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == INF else "-inf"


def call_text(fn: Fn, args: list[str]) -> str:
    """``args`` are closed (atoms or in brackets)."""
    if fn in INFIX:
        return INFIX[fn].join(args)
    return f"{fn.symbol}({', '.join(args)})"


def _closed(text: str) -> str:
    """In brackets, if there is an operator outside of all brackets."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth == 0:
            return f"({text})"
    return text


def leaf_text(node: Node) -> str:
    """A leaf by its name."""
    match node:
        case Const(value=value):
            return number_text(value)
        case Named(name=name):
            return name.value
        case Input(name=name) | Scalar(name=name):
            return name
        case Size(axis=axis):
            return f"size({axis})"
        case Index(axis=axis):
            return f"index({axis})"
        case State(carry=carry, old=old):
            return f"{carry}.old" if old else carry
        case _:
            return type(node).__name__


def node_text(node: Node, depth: int = DEPTH) -> str:
    """A term in infix notation."""
    if depth == 0 and isinstance(node, Map | Reduce | Scan | Best | Recur):
        return "..."
    match node:
        case Map(fn=fn, args=args):
            texts = [node_text(a, depth - 1) for a in args]
            return call_text(fn, [_closed(t) for t in texts] if fn in INFIX else texts)
        case Reduce(fn=fn, axis=axis, arg=arg):
            return f"{FOLD[fn]}_{axis}({node_text(arg, depth - 1)})"
        case Best(args=args) as best:
            shown = [node_text(a, depth - 1) for a in (args[0], *best.payloads)]
            return f"{_listing(best)}({', '.join(shown)})"
        case Scan(fn=fn, axis=axis, arg=arg):
            return f"{SCANNED}{FOLD[fn]}_{axis}({node_text(arg, depth - 1)})"
        case Recur(axis=axis, last=last):
            words = ", ".join(node_text(a, depth - 1) for a in children(node))
            return f"{_stepping(axis, last)}({words})"
        case _:
            return leaf_text(node)


def _stepping(axis: str, last: bool) -> str:
    return f"{'last_' if last else ''}state_{axis}"


def _listing(op: Best | Ranking) -> str:
    side = "with_best" if op.taken else "where_best" if op.at else "best"
    return f"{side}_{op.axis}->{op.into}"


def class_text(graph: EGraph, node: ENode, depth: int = DEPTH) -> str:
    """An e-node, every class below shown by its first node."""
    if depth == 0 and node.args:
        return "..."
    texts = [class_text(graph, graph.nodes(a)[0], depth - 1) for a in node.args]
    match node.op:
        case Fn() as fn:
            return call_text(fn, [_closed(t) for t in texts] if fn in INFIX else texts)
        case Folding(fn=fn, axes=axes):
            return f"{FOLD[fn]}_{','.join(axes)}({texts[0]})"
        case Ranking() as ranking:
            shown = [texts[0], *(texts[2:] if ranking.taken else ())]
            return f"{_listing(ranking)}({', '.join(shown)})"
        case Stepping(axis=axis, last=last):
            return f"{_stepping(axis, last)}({', '.join(texts)})"
        case Scanning(fn=fn, axis=axis):
            return f"{SCANNED}{FOLD[fn]}_{axis}({texts[0]})"
        case leaf:
            return leaf_text(leaf)


def pattern_text(pattern: Pattern) -> str:
    """One side of a law."""
    match pattern:
        case Var(name=name):
            return name
        case Num(value=value):
            return number_text(value)
        case Sym(name=name):
            return name.value
        case Extent(axis=axis):
            return f"size({axis})"
        case Fold(fn=fn, axis=axis, arg=arg):
            return f"{FOLD[fn]}_{axis}({pattern_text(arg)})"
        case App(fn=fn, args=args):
            texts = [pattern_text(a) for a in args]
            return call_text(fn, [_closed(t) for t in texts] if fn in INFIX else texts)
        case _:
            raise TypeError(f"no pattern: {pattern!r}")
