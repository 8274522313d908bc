"""Repairs as JSON: every expression is its text, so what is read is what was written."""

from __future__ import annotations

from typing import Any

from superopt.repair.record import Guard
from superopt.repair.record import Repair
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Move
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import BY_SYMBOL
from superopt.ugraph.text import parse
from superopt.ugraph.text import show


def repair_record(repair: Repair) -> dict[str, Any]:
    """``repair`` as lists, dictionaries and strings."""
    return {
        "axis": repair.axis,
        "carry": _carry(repair.carry),
        "producers": [_carry(c) for c in repair.producers],
        "components": [_carry(c) for c in repair.components],
        "factors": [[None if f is None else show(f) for f in row] for row in repair.factors],
        "parts": [[show(a), show(b)] for a, b in repair.parts],
        "finalise": show(repair.finalise),
        "guards": [[g.component, show(g.condition), g.absorb, g.why] for g in repair.guards],
        "facts": [show(f) for f in repair.facts],
        "reference": [[show(a), show(b)] for a, b in repair.reference],
        "helpers": [_carry(c) for c in repair.helpers],
    }


def repair_from(record: dict[str, Any]) -> Repair:
    """The inverse of ``repair_record``.

    Raises:
        ParseError, KeyError, TypeError, ValueError: the record is no repair.
    """
    return Repair(
        axis=record["axis"],
        carry=_carry_from(record["carry"]),
        producers=tuple(_carry_from(c) for c in record["producers"]),
        components=tuple(_carry_from(c) for c in record["components"]),
        factors=tuple(
            tuple(None if f is None else _node(f) for f in row) for row in record["factors"]
        ),
        parts=tuple((_node(a), _node(b)) for a, b in record["parts"]),
        finalise=_node(record["finalise"]),
        guards=tuple(Guard(c, _node(n), absorb, why) for c, n, absorb, why in record["guards"]),
        facts=tuple(_node(f) for f in record["facts"]),
        reference=tuple((_node(a), _node(b)) for a, b in record["reference"]),
        helpers=tuple(_carry_from(c) for c in record["helpers"]),
    )


def _carry(carry: Carry) -> dict[str, Any]:
    return {
        "name": carry.name,
        "over": list(carry.over),
        "fold": carry.fold.symbol,
        "term": show(carry.term),
        "moves": [[m.source, show(m.factor)] for m in carry.moves],
        "action": carry.action.symbol,
    }


def _carry_from(record: dict[str, Any]) -> Carry:
    return Carry(
        record["name"],
        tuple(record["over"]),
        BY_SYMBOL[record["fold"]],
        _node(record["term"]),
        tuple(Move(source, _node(factor)) for source, factor in record["moves"]),
        BY_SYMBOL[record["action"]],
    )


def _node(text: str) -> Node:
    node = parse(text)
    if not isinstance(node, Node):
        raise TypeError(f"expected an expression, found a {type(node).__name__}")
    return node
