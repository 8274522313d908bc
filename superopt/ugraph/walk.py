"""How a graph is walked: the only traversals in the program."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from superopt.ugraph.node import Best
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan


def children(node: Node) -> tuple[Node, ...]:
    """The nodes that ``node`` reads directly."""
    match node:
        case Map(args=args) | Best(args=args):
            return args
        case Recur(args=args, first=first):
            return (*args, first)
        case Reduce(arg=arg) | Scan(arg=arg):
            return (arg,)
        case _:
            return ()


def topo(roots: Iterable[Node], below: Callable[[Node], Sequence[Node]] = children) -> list[Node]:
    """All nodes below ``roots``, each once, arguments before users; the order is structural.

    ``below``: the arguments of a node that count.
    """
    done: dict[Node, None] = {}
    stack: list[tuple[Node, bool]] = [(r, False) for r in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done[node] = None
            continue
        stack.append((node, True))
        stack.extend((c, False) for c in reversed(below(node)) if c not in done)
    return list(done)


def rebuild(node: Node, parts: tuple[Node, ...]) -> Node:
    """``node`` with its direct arguments replaced."""
    match node:
        case Map(fn=fn):
            return Map(fn, parts)
        case Reduce(fn=fn, axis=axis):
            return Reduce(fn, axis, parts[0])
        case Scan(fn=fn, axis=axis):
            return Scan(fn, axis, parts[0])
        case Best(axis=axis, into=into, of=of, at=at, taken=taken):
            return Best(axis, into, of, parts, at, taken)
        case Recur(axis=axis, along=along, last=last):
            return Recur(axis, along, parts[:-1], last, parts[-1])
        case _:
            return node


def transform(roots: Iterable[Node], change: Callable[[Node], Node]) -> dict[Node, Node]:
    """Bottom-up rewriting: every node below ``roots`` mapped to its new form.

    ``change`` sees a node whose arguments are already new.
    """
    new: dict[Node, Node] = {}
    for node in topo(roots):
        parts = tuple(new[c] for c in children(node))
        new[node] = change(node if parts == children(node) else rebuild(node, parts))
    return new


def substitute(node: Node, by: Mapping[Node, Node]) -> Node:
    """``node`` with whole subterms replaced, outermost first (a replaced term is not entered)."""
    new: dict[Node, Node] = {}
    stack = [node]
    while stack:
        top = stack[-1]
        if top in new:
            stack.pop()
        elif top in by:
            new[top] = by[top]
            stack.pop()
        elif missing := [c for c in children(top) if c not in new]:
            stack.extend(missing)
        else:
            parts = tuple(new[c] for c in children(top))
            new[top] = top if parts == children(top) else rebuild(top, parts)
            stack.pop()
    return new[node]


def users(roots: Iterable[Node]) -> dict[Node, list[Node]]:
    """For every node below ``roots``, the nodes that read it directly."""
    found: dict[Node, list[Node]] = {}
    for node in topo(roots):
        found.setdefault(node, [])
        for child in dict.fromkeys(children(node)):
            found[child].append(node)
    return found


def uses(roots: Iterable[Node]) -> dict[Node, int]:
    """How often every node below ``roots`` is read; each root is read once more."""
    given = list(roots)
    found = dict.fromkeys(topo(given), 0)
    for node in [*given, *(c for n in found for c in children(n))]:
        found[node] += 1
    return found
