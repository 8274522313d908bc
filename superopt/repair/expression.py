"""Expressions of sympy, and the nodes that say them.

Together with ``symbolic.py`` and ``basis.py`` the only importer of sympy. ``simplify`` is never
called, because what it does may change between versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from superopt.errors import NoRepair
from superopt.ugraph.contraction import product_of
from superopt.ugraph.node import Const
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn

Expr = Any  # a sympy expression: the library is untyped

LARGEST = sp.Function("largest", real=True)
SMALLEST = sp.Function("smallest", real=True)
LN2 = sp.Symbol("ln2", positive=True)  # 2 = exp(ln2), so that EXP2 and EXP are one function


def expanded(e: Expr) -> Expr:
    """Products, powers and exponentials of sums multiplied out."""
    return sp.expand(e, mul=True, power_exp=True, power_base=True, log=False, multinomial=True)


def ratio(new: Expr, old: Expr) -> Expr:
    """``new / old`` with exponentials joined, so that only differences are exponentiated."""
    return sp.powsimp(new / old, combine="exp")


def _constant(value: Expr) -> Node:
    return Const(Fraction(int(value.p), int(value.q)))


def written(e: Expr, nodes: Mapping[Expr, Node]) -> Node:
    """``e`` as a node; ``nodes`` says what each symbol stands for.

    A symbol ``z...`` is the old value of ``y...``; their ratios stay ratios, for the range.

    Raises:
        NoRepair: no function of the table says it.
    """
    if e in nodes:
        return nodes[e]
    if e.is_Rational:
        return _constant(e)
    if e.is_Add:
        return _write_sum(e, nodes)
    if e.is_Mul:
        return _write_product(e, nodes)
    if isinstance(e, sp.exp):
        arg = sp.expand(e.exp / LN2)
        if e.exp.has(LN2) and not arg.has(LN2):
            return Map(Fn.EXP2, (written(arg, nodes),))
        return Map(Fn.EXP, (written(e.exp, nodes),))
    if e.is_Pow:
        return _write_power(e.base, e.exp, nodes)
    if isinstance(e, sp.log | sp.Abs):
        fn = Fn.LOG if isinstance(e, sp.log) else Fn.ABS
        return Map(fn, (written(e.args[0], nodes),))
    if e.func in (LARGEST, SMALLEST):
        fn = Fn.MAX if e.func is LARGEST else Fn.MIN
        return Map(fn, tuple(written(a, nodes) for a in e.args))
    raise NoRepair(f"no node says {e}")


def _write_sum(e: Expr, nodes: Mapping[Expr, Node]) -> Node:
    """Differences of a new and an old value first, which are small where both are large; then
    positive terms, the others subtracted."""
    terms = sorted(e.args, key=sp.default_sort_key)
    negative = [t for t in terms if t.could_extract_minus_sign()]
    positive = [t for t in terms if t not in negative]
    if not positive:
        return Map(Fn.MUL, (_constant(sp.Integer(-1)), written(-e, nodes)))
    parts: list[Node] = []
    for term in list(positive):
        other = -_other_end(term, nodes)
        if len(terms) > 2 and other in negative:
            pair = (written(term, nodes), written(-other, nodes))
            parts.append(Map(Fn.SUB, pair))
            positive.remove(term)
            negative.remove(other)
    total, *rest = [*parts, *(written(t, nodes) for t in positive)]
    for part in rest:
        total = Map(Fn.ADD, (total, part))
    for term in negative:
        total = Map(Fn.SUB, (total, written(-term, nodes)))
    return total


def _other_end(e: Expr, nodes: Mapping[Expr, Node]) -> Expr:
    """``e`` with new values for old ones and old ones for new ones."""
    names = {s.name: s for s in nodes if s.is_Symbol}
    turned = {"y": "z", "z": "y"}
    by = {
        s: names[turned[s.name[0]] + s.name[1:]]
        for s in e.free_symbols
        if s.name[0] in turned and turned[s.name[0]] + s.name[1:] in names
    }
    return e.subs(by, simultaneous=True)


def _write_product(e: Expr, nodes: Mapping[Expr, Node]) -> Node:
    coefficient, rest = e.as_coeff_Mul()
    sums = [f for f in _factors(rest) if f.is_Add]
    if coefficient.is_negative and sums:  # -(a - b) c is (b - a) c
        turned = sp.Mul(-coefficient, *(f for f in _factors(rest) if f is not sums[0]))
        turned_sum = sp.expand(-sums[0])
        return written(sp.Mul(turned, turned_sum, evaluate=False), nodes)
    powers = dict(f.as_base_exp() if f.is_Pow else (f, sp.Integer(1)) for f in _factors(rest))
    above: list[Node] = []
    below: list[Node] = []
    for base in sorted(powers, key=sp.default_sort_key):
        power = powers.get(base)
        if power is None:
            continue
        partner = _partner(base, power, powers)
        if partner is not None:
            first, second = (base, partner) if power > 0 else (partner, base)
            quotient = Map(Fn.DIV, (written(first, nodes), written(second, nodes)))
            above.append(_repeat(quotient, abs(power)))
            powers[partner] = None
        elif power.is_number and power.could_extract_minus_sign() and power != -sp.Rational(1, 2):
            below.append(_write_power(base, -power, nodes))
        else:
            above.append(_write_power(base, power, nodes))
        powers[base] = None
    if coefficient != 1 or not above:
        above.insert(0, _constant(coefficient))
    value = product_of(above)
    return Map(Fn.DIV, (value, product_of(below))) if below else value


def _factors(e: Expr) -> list[Expr]:
    return sorted(sp.Mul.make_args(e), key=sp.default_sort_key)


def _partner(base: Expr, power: Expr, powers: Mapping[Expr, Any]) -> Expr | None:
    """The same value at the other end of a move, if it divides this one."""
    if not base.is_Symbol or base.name[0] not in "yz" or not power.is_number:
        return None
    letter = "z" if base.name[0] == "y" else "y"
    for other, its in powers.items():
        named = other.is_Symbol and other.name == letter + base.name[1:]
        if named and its is not None and its == -power:
            return other
    return None


def _write_power(base: Expr, power: Expr, nodes: Mapping[Expr, Node]) -> Node:
    return _repeat(written(base, nodes), power)


def _repeat(value: Node, power: Expr) -> Node:
    if power == 1:
        return value
    if power == -sp.Rational(1, 2):
        return Map(Fn.RSQRT, (value,))
    if power.is_number and power < 0:
        return Map(Fn.DIV, (_constant(sp.Integer(1)), _repeat(value, -power)))
    if power.is_Rational and power.q == 2:
        root = Map(Fn.SQRT, (value,))
        return root if power.p == 1 else product_of([value] * (power.p // 2) + [root])
    if power.is_Integer:
        return product_of([value] * int(power))
    raise NoRepair(f"no node says a power of {power}")
