"""A question about polynomials as linear integer arithmetic, in SMT-LIB text.

Every product of atoms becomes an unknown of its own. What is true of products is added where it may
matter: bounds times factors, and the negated goal times the factors that products have. Each such
line is a theorem about any integers, so the text is satisfiable wherever the question is.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from superopt.verify.source.symbolic.formula import AllOf
from superopt.verify.source.symbolic.formula import AnyOf
from superopt.verify.source.symbolic.formula import Compare
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import Not
from superopt.verify.source.symbolic.formula import Truth
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.formula import truths
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Monomial
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.table import Table

MOST_PRODUCTS = 400  # facts about products, in one question
THEOREMS = "; theorems about products"
NEGATED = "; the goal, negated"
LEVELS = 3  # of how much is said of products: nothing, single factors, pairs of factors


def question(hypotheses: Sequence[Formula], goal: Formula, atoms: Table, level: int) -> str:
    """SMT-LIB text that is unsatisfiable only if the hypotheses (and facts) imply ``goal``."""
    against = negated(goal)
    facts = list(dict.fromkeys([*atoms.cone([*hypotheses, goal]), *hypotheses]))
    for fact in facts:
        if fact == goal or _weaker(goal, fact):
            return script([fact], [], against)
    theorems = products([*facts, against], against, atoms, level) if level else []
    return script(facts, theorems, against)


def _weaker(goal: Formula, fact: Formula) -> bool:
    """Whether both bound the same sum, and ``fact`` does so more closely."""
    match goal, fact:
        case Compare(poly=a, equal=False), Compare(poly=b, equal=False):
            return a.varying == b.varying and a.first >= b.first
        case _:
            return False


def script(facts: Sequence[Formula], theorems: Sequence[Formula], against: Formula) -> str:
    """Assertions as a complete SMT-LIB script; ``against``: the negated goal."""
    asserted = [*facts, *theorems, against]
    monomials = dict.fromkeys(m for f in asserted for p in polys(f) for m, _ in p.terms if m)
    marks = dict.fromkeys(t for f in asserted for t in truths(f))
    lines = ["(set-logic QF_LIA)"]
    lines += [f"(declare-const {symbol(m)} Int)" for m in monomials]
    lines += [f"(declare-const |{t}| Bool)" for t in marks]
    lines += [f"(assert {_text(f)})" for f in facts]
    lines += [THEOREMS] * bool(theorems) + [f"(assert {_text(f)})" for f in theorems]
    lines += [NEGATED, f"(assert {_text(against)})"]
    return "\n".join([*lines, "(check-sat)", ""])


def symbol(monomial: Monomial) -> str:
    """The unknown that stands for a product."""
    return f"|{'*'.join(monomial)}|"


def _text(formula: Formula) -> str:
    match formula:
        case Compare(poly=poly, equal=same):
            return f"({'=' if same else '>='} {_sum(poly)} 0)"
        case Truth(name=name):
            return f"|{name}|"
        case Not(part=part):
            return f"(not {_text(part)})"
        case AllOf(parts=()):
            return "true"
        case AnyOf(parts=()):
            return "false"
        case AllOf(parts=parts):
            return f"(and {' '.join(map(_text, parts))})"
        case AnyOf(parts=parts):
            return f"(or {' '.join(map(_text, parts))})"


def _sum(poly: Poly) -> str:
    terms = [_term(m, c) for m, c in poly.terms]
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})" if terms else "0"


def _term(monomial: Monomial, coefficient: int) -> str:
    number = str(coefficient) if coefficient >= 0 else f"(- {-coefficient})"
    if not monomial:
        return number
    return symbol(monomial) if coefficient == 1 else f"(* {number} {symbol(monomial)})"


def products(
    asserted: Sequence[Formula], against: Formula, atoms: Table, most: int
) -> list[Formula]:
    """Theorems about the products that occur."""
    found: dict[Formula, None] = {}
    present = _nonlinear(asserted)
    factors = dict.fromkeys(f for m in present for f in _factors(m) if len(f) <= most)
    for goal in _comparisons(against):
        for factor in factors:
            times = goal.poly * Poly(((factor, 1),))
            if any(m in present for m, _ in times.terms):
                found.update(dict.fromkeys(_scaled(goal, factor, times)))
    for _ in range(2):
        for monomial in _nonlinear([*asserted, *found]):
            for fact in _bounded(monomial, atoms):
                if len(found) < MOST_PRODUCTS:
                    found[fact] = None
    return list(found)


def _scaled(goal: Compare, factor: Monomial, times: Poly) -> Iterator[Formula]:
    """A comparison times a product of atoms."""
    if goal.equal:
        yield either((negated(goal), equal(times, ZERO)))
        return
    one = Poly(((factor, 1),))
    yield either((negated(goal), negated(at_least(one, ZERO)), at_least(times, ZERO)))


def _factors(monomial: Monomial) -> Iterator[Monomial]:
    """Its atoms, and all factors but one."""
    for place, name in enumerate(monomial):
        yield (name,)
        yield monomial[:place] + monomial[place + 1 :]


def _bounded(monomial: Monomial, atoms: Table) -> Iterator[Formula]:
    """What bounds of one factor say of a product."""
    product = Poly(((monomial, 1),))
    for name in dict.fromkeys(monomial):
        rest = product.divided(atom(name))
        assert rest is not None
        one, negative = atom(name), negated(at_least(rest, ZERO))
        yield either((negative, negated(at_least(one, ZERO)), at_least(product, ZERO)))
        yield either((negative, negated(at_least(one, ONE)), at_least(product, rest)))
        yield either((negative, at_least(one, ONE), at_least(ZERO, product)))
        for bound in atoms.upper(one)[:3]:
            top = bound - ONE
            yield either((negative, negated(at_least(top, one)), at_least(top * rest, product)))


def _nonlinear(formulas: Iterable[Formula]) -> dict[Monomial, None]:
    terms = (m for f in formulas for p in polys(f) for m, _ in p.terms)
    return dict.fromkeys(m for m in terms if len(m) > 1)


def _comparisons(formula: Formula) -> list[Compare]:
    """The comparisons that ``formula`` is made of."""
    match formula:
        case Compare():
            return [formula]
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return [c for p in parts for c in _comparisons(p)]
        case Not(part=Compare(poly=poly, equal=True)):
            return [Compare(poly - ONE), Compare(-poly - ONE)]
        case _:
            return []
