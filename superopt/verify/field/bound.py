"""How likely a wrong graph is accepted: computed for the pair at hand.

The difference of two elements, cleared of denominators, is a polynomial in the inputs, in drawn
values and in the exponentials of atoms (``exponents.py``). One that is not zero vanishes at a
random point with a chance of at most its degree over the smallest prime, unless the prime
divides all its coefficients, which few primes of the pool do.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from math import log
from math import log1p
from math import log2

import numpy as np

from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import Array
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field import primes
from superopt.verify.field.alike import Form
from superopt.verify.field.alike import form
from superopt.verify.field.atoms import analysed
from superopt.verify.field.coins import coins_at_once
from superopt.verify.field.degree import Degrees
from superopt.verify.field.exponents import Exponent
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.exponents import TooHardError
from superopt.verify.field.logarithms import DRAWN
from superopt.verify.field.logarithms import held
from superopt.verify.field.logarithms import powers
from superopt.verify.field.meaning import Meaning
from superopt.verify.field.meaning import outputs_of
from superopt.verify.field.ranking import candidates
from superopt.verify.field.ranking import different
from superopt.verify.field.ranking import orders
from superopt.verify.field.roots import roots_of
from superopt.verify.field.shapes import EXTREMA
from superopt.verify.field.shapes import Ties
from superopt.verify.field.shapes import ties
from superopt.verify.field.termdomain import TermDomain
from superopt.verify.field.terms import Terms
from superopt.verify.field.trials import Trial

MOST_TERMS = 60_000
NEVER = 10**9  # rounds where no number of them is enough


@dataclass(frozen=True)
class NoBound:
    """Why no bound can be computed."""

    why: str


@dataclass(frozen=True)
class RoundBound:
    """The chance that one round, in which an element is known, accepts a wrong graph.

    ``degree``: of the cleared difference, exponentials of atoms included. ``height``: binary
    logarithm of the sum of its coefficients. ``roots``: distinct square roots of data in one
    element. ``coins``: choices by the sign or order of data that must fall one way at once
    (``coins.py``; a root of a square is one). ``levels``: primes needed in a chain.
    ``signs``: those of the data of which every outcome counts.
    """

    degree: int
    height: float
    roots: int
    coins: int
    levels: int
    facts: tuple[str, ...] = ()
    signs: int = 0

    @property
    def log2_miss(self) -> float:
        """Binary logarithm of the chance that one round misses."""
        smallest = primes.LOW >> (self.levels - 1)
        # Clearing k roots multiplies the degree by 2^k; that all are known has chance 2^-k a level.
        # Each outcome of signs has a polynomial of its own that may vanish.
        outcomes = self.roots * (self.levels + 1) + self.signs
        vanish = self.degree * 2.0 ** min(outcomes, 1000) / smallest
        divisors = int(self.height / log2(smallest))
        miss = vanish + divisors / primes.POOL[self.levels]
        if miss >= 1:
            return 0.0
        if not self.coins:
            return log2(miss) if miss > 0 else -64.0
        unseen = 2.0**-self.coins - miss
        return log1p(-unseen) / log(2) if unseen > 0 else 0.0

    def rounds(self, limit: float) -> int:
        """How many rounds push the chance below ``2 ** limit`` (``NEVER`` if none do)."""
        miss = self.log2_miss
        return max(1, ceil(limit / miss) + 1) if miss < 0 else NEVER

    def after(self, rounds: int) -> float:
        """Binary logarithm of the chance after some rounds."""
        return self.log2_miss * rounds

    def why_few(self) -> str:
        """What makes points rare."""
        return (
            f"one element has {self.roots} square roots, and {self.coins} choices by the sign or "
            f"order of data have to fall right at once"
        )


def round_bound(
    program: Program,
    graph: KernelGraph | Meaning,
    trial: Trial,
    integers: Mapping[str, Array],
    drawn_logs: bool = False,
    equivariant: frozenset[Fn] = frozenset(),
) -> RoundBound | NoBound:
    """The bound for one comparison, the largest over all output elements."""
    terms = Terms(drawn_logs, equivariant)
    domain = TermDomain(terms)
    arrays = {}
    for param in program.params:
        if param.kind is Kind.REAL:
            order = param.order if isinstance(param, Input) else ()
            arrays[param.name] = domain.letters(param.name, tuple(trial.size[a] for a in order))
        else:
            arrays[param.name] = domain.known(np.asarray(integers[param.name]))
    try:
        spec = evaluate_program(program, domain, arrays, trial.size)
        got = outputs_of(graph, domain, arrays, trial)
        if len(terms.all) > MOST_TERMS:
            return NoBound(f"more than {MOST_TERMS} terms")
        pairs = {
            (a, b)
            for name, value in spec.items()
            if name in got and got[name].terms.shape == value.terms.shape
            for a, b in zip(
                value.terms.ravel().tolist(), got[name].terms.ravel().tolist(), strict=True
            )
            if a != terms.undefined
        }
        signs: dict[int, int | None] = {}
        alike: dict[Form, tuple[int, int]] = {}
        for pair in sorted(pairs):
            alike.setdefault(form(terms, pair), pair)
        found = [_element(terms, signs, a, b) for a, b in alike.values()]
    except TooHardError as why:
        return NoBound(str(why))
    if not found:
        return RoundBound(0, 0.0, 0, 0, 1)
    facts = dict.fromkeys(f for b in found for f in b.facts)
    return RoundBound(
        max(b.degree for b in found),
        max(b.height for b in found),
        max(b.roots for b in found),
        max(b.coins for b in found),
        max(b.levels for b in found),
        tuple(facts),
        max(b.signs for b in found),
    )


def _element(terms: Terms, signs: dict[int, int | None], a: int, b: int) -> RoundBound:
    """The bound for one pair of elements."""
    if terms.undefined == b:  # a difference of states, in every round in which the spec is known
        return RoundBound(0, 0.0, 0, 0, 1 + len(_nested(terms, (a,), ())))
    for x in (a, b):
        if terms.all[x].op == "undecided":
            raise TooHardError(str(terms.all[x].value))
    cone = _cone(terms, (a, b))
    logs = held(terms, cone)
    exponential = a in logs or b in logs
    sides = (terms.term_exp(a), terms.term_exp(b)) if exponential else (a, b)
    drawn = _drawn_from(terms, cone, logs)
    nested = _nested(terms, sides, drawn)
    exponents: dict[int, Exponent] = {}
    polys = Polynomials(terms, exponents)
    coefficients = 0
    for found in reversed(nested):
        exponents = analysed(polys, found)
        coefficients += polys.large
        polys = Polynomials(terms, exponents)
    ops = [terms.all[x].op for x in cone]
    roots, coins = roots_of(polys, cone, signs)
    tied = Ties(frozenset(), 0)
    if terms.equivariant:
        tied = ties(polys, cone, frozenset(_cone(terms, [e for es in nested for e in es])))
    coins += tied.coins
    degrees = Degrees(polys, exponents, tied.tied)
    degree, height = degrees.difference(*sides)
    degree += degrees.collisions(drawn)
    if terms.equivariant:
        drawn_so = [x for x in cone if terms.moves(x)]
        degree += degrees.shapes([terms.all[x].args for x in drawn_so])
    roots += powers(terms, cone, logs)
    at_once, outcomes = coins_at_once(polys, cone, (a, b))
    coins += at_once
    coins += ceil(orders(different(polys, candidates(terms, cone))))
    if any(op in ("max", "min") for op in ops):
        degree *= 2  # drawn extrema have known signs, so they come from half of the field
    levels = 1 + len(nested)
    facts = _facts(ops, roots, terms.equivariant)
    return RoundBound(degree, height + coefficients, roots, coins, levels, facts, outcomes)


def _drawn_from(terms: Terms, cone: list[int], logs: frozenset[int]) -> list[int]:
    """What drawn values are keyed by: different arguments must have different residues."""
    found: dict[int, None] = {}
    for x in cone:
        t = terms.all[x]
        if t.op in (*DRAWN, "log"):
            for arg in t.args:
                found[terms.term_exp(arg) if arg in logs else arg] = None
    return list(found)


def _facts(ops: list[str], roots: int, equivariant: frozenset[Fn]) -> tuple[str, ...]:
    what = {n: "shape of the set" if f in equivariant else "set" for n, f in EXTREMA.items()}
    facts = {
        "opaque": "tanh, erf, roundings, log in products are drawn functions of their arguments",
        "max": f"a maximum is a drawn function of the {what['max']} of its arguments",
        "min": f"a minimum is a drawn function of the {what['min']} of its arguments",
        "best": "lists are ranked by what increasing functions are applied to, in random orders",
        "sqrt": "arguments of roots are positive",
    }
    return tuple(text for op, text in facts.items() if op in ops and (op != "sqrt" or roots))


def _cone(terms: Terms, roots: Sequence[int]) -> list[int]:
    seen: dict[int, None] = {}
    stack = list(roots)
    while stack:
        top = stack.pop()
        if top not in seen:
            seen[top] = None
            stack.extend(terms.all[top].args)
    return sorted(seen)


def _nested(terms: Terms, sides: tuple[int, ...], drawn: Sequence[int]) -> list[list[int]]:
    """The exponents by the number of exponentials they stand in, outermost first.

    An exponential may stand in several; it has other residues in each. ``drawn``: the arguments
    of drawn functions, whose residues at the outermost level count.
    """
    found: list[list[int]] = []
    roots = (*sides, *drawn)
    while True:
        exponents = _outside(terms, roots)
        if not exponents:
            return found
        found.append(exponents)
        roots = tuple(exponents)


def _outside(terms: Terms, roots: tuple[int, ...]) -> list[int]:
    """The exponents of the exponentials that are reached without entering another one.

    Drawn functions (maxima, opaque functions) are not entered: they are letters.
    """
    seen: dict[int, None] = {}
    exponents: dict[int, None] = {}
    stack = list(roots)
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen[top] = None
        t = terms.all[top]
        if t.op == "exp":
            exponents[t.args[0]] = None
            # Logarithms leave their arguments outside of the exponential.
            stack.extend(terms.all[x].args[0] for x in _logs(terms, t.args[0]))
        elif t.op in ("add", "mul", "inv", "sqrt", "abs", "where"):
            stack.extend(t.args[1:] if t.op == "where" else t.args)
    return sorted(exponents)


def _logs(terms: Terms, exponent: int) -> list[int]:
    """The logarithms that stand in an exponent itself, not in a deeper one."""
    found: list[int] = []
    stack, seen = [exponent], set[int]()
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        t = terms.all[top]
        if t.op == "log":
            found.append(top)
        elif t.op in ("add", "mul"):
            stack.extend(t.args)
    return found
