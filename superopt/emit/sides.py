"""Lists of the best that no walk keeps: values, positions and payloads, from one tile of keys."""

from __future__ import annotations

from dataclasses import replace

from superopt.emit.payload import Payloads
from superopt.emit.ranking import Lists
from superopt.emit.scopes import Scopes
from superopt.emit.value import Value
from superopt.ugraph.node import Best
from superopt.ugraph.scalar import Kind


def side(values: Scopes, node: Best) -> Value:
    """One side of a list, printed where it belongs; its other half is then known as well."""
    if node.taken:
        return _payload(values, node)
    lists, lines = Lists(values), values.lines_of(node)
    if any(isinstance(n, Best) and n.taken and n.pairs == node.pairs for n in values.read):
        kept, _ = _traced(values, node.list_of())
    else:
        kept = lists.among(node, lists.empty(node), node.args, lines)
    wishes = (f"{node.into}_value", f"{node.into}_place")
    names = (values.name_of(node, wishes[0]), values.name_of(node, wishes[1]))
    halves = lists.ranked(node, kept, lines, names)
    for at, value in enumerate(halves):
        values.define(replace(node, at=bool(at)), value)
    return halves[node.at]


def _payload(values: Scopes, node: Best) -> Value:
    payloads = Payloads(values)
    kept, origins = _traced(values, node.list_of())
    wish, lines = values.name_of(node, f"{node.into}_taken"), values.lines_of(node)
    found = payloads.follow(node, payloads.nothing(node), origins, lines, wish)
    return payloads.ranked(node, found, kept, lines, wish)


def _traced(values: Scopes, node: Best) -> tuple[str, list[str]]:
    """The name of a list in no order, and those of the lanes that it took from each pair."""
    known, key = values.known_with(node), ("kept", node)
    if key not in known:
        lists, lines = Lists(values), values.lines_of(node)
        empty = values.name_of(node, f"{node.into}_best")
        lines.line(f"{empty} = {lists.empty(node)}")
        names = lists.traced(node, empty, lines)
        known[key] = Value(" ".join([names[0], *names[1]]), (), Kind.INT)
    kept, *origins = known[key].text.split()
    return kept, origins
