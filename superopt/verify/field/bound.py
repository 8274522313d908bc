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
from superopt.verify.field.depths import cone_of
from superopt.verify.field.depths import nested
from superopt.verify.field.depths import times_read
from superopt.verify.field.exponents import Exponent
from superopt.verify.field.exponents import Polynomials
from superopt.verify.field.logarithms import DRAWN
from superopt.verify.field.logarithms import held
from superopt.verify.field.logarithms import powers
from superopt.verify.field.meaning import Meaning
from superopt.verify.field.meaning import outputs_of
from superopt.verify.field.ranking import TAKEN
from superopt.verify.field.ranking import candidates
from superopt.verify.field.ranking import choices
from superopt.verify.field.roots import roots_of
from superopt.verify.field.shapes import EXTREMA
from superopt.verify.field.shapes import Determined
from superopt.verify.field.shapes import determined
from superopt.verify.field.signs import Signs
from superopt.verify.field.termdomain import TermDomain
from superopt.verify.field.terms import Terms
from superopt.verify.field.toohard import TooHardError
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
    ties: bool = False,
) -> RoundBound | NoBound:
    """The bound for one comparison, the largest over all output elements."""
    terms = Terms(drawn_logs, equivariant, ties)
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
    return _largest(found)


def _largest(found: Sequence[RoundBound]) -> RoundBound:
    return RoundBound(
        max((b.degree for b in found), default=0),
        max((b.height for b in found), default=0.0),
        max((b.roots for b in found), default=0),
        max((b.coins for b in found), default=0),
        max((b.levels for b in found), default=1),
        tuple(dict.fromkeys(f for b in found for f in b.facts)),
        max((b.signs for b in found), default=0),
    )


def _element(terms: Terms, signs: dict[int, int | None], a: int, b: int) -> RoundBound:
    """The bound for one pair of elements."""
    if terms.undefined == b:  # a difference of states, in every round in which the spec is known
        return RoundBound(0, 0.0, 0, 0, 1 + len(nested(terms, (a,), ())))
    for x in (a, b):
        if terms.all[x].op == "undecided":
            raise TooHardError(str(terms.all[x].value))
    found: list[RoundBound] = []
    outcome: Signs | None = Signs()
    while outcome is not None:
        found.append(_outcome(terms, signs, a, b, outcome))
        outcome = outcome.next()
    return _largest(found)


def _outcome(
    terms: Terms, signs: dict[int, int | None], a: int, b: int, outcome: Signs
) -> RoundBound:
    """The bound for one pair of elements, with the larger ones of pairs supposed."""
    cone = cone_of(terms, (a, b))
    logs = held(terms, cone)
    exponential = a in logs or b in logs
    sides = (terms.term_exp(a), terms.term_exp(b)) if exponential else (a, b)
    drawn = _drawn_from(terms, cone, logs)
    layers = nested(terms, sides, drawn)
    times = times_read(terms, sides, drawn, layers)
    exponents: dict[int, Exponent] = {}
    polys = Polynomials(terms, exponents, outcome, len(layers))
    coefficients = 0
    for level, found in reversed(list(enumerate(layers))):
        exponents = analysed(polys, found)
        coefficients += polys.large
        polys = Polynomials(terms, exponents, outcome, level)
    ops = [terms.all[x].op for x in cone]
    ops += [TAKEN for x in cone if str(terms.all[x].value).startswith(TAKEN)]
    roots, coins = roots_of(polys, cone, signs)
    coins *= max((times.get(x, 1) for x in cone if terms.all[x].op == "sqrt"), default=1)
    placed = Determined(frozenset(), 0)
    if terms.equivariant:
        placed = determined(
            polys, cone, frozenset(cone_of(terms, [e for es in layers for e in es])), times
        )
    coins += placed.coins
    degrees = Degrees(polys, exponents, placed.extrema)
    degree, height = degrees.difference(*sides)
    degree += degrees.collisions(drawn)
    if terms.equivariant:
        drawn_so = [x for x in cone if terms.moves(x)]
        degree += degrees.shapes([terms.all[x].args for x in drawn_so])
    roots += powers(terms, cone, logs)
    at_once, outcomes = coins_at_once(polys, cone, (a, b))
    coins += at_once + sum(times.get(x, 1) - 1 for x in cone if terms.all[x].op == "abs")
    coins += ceil(choices(polys, candidates(terms, cone)))
    if any(op in ("max", "min") for op in ops):
        degree *= 2  # drawn extrema have known signs, so they come from half of the field
    levels = 1 + len(layers)
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
        TAKEN: "what is read at the places of a list goes with it",
        "sqrt": "arguments of roots are positive",
    }
    return tuple(text for op, text in facts.items() if op in ops and (op != "sqrt" or roots))
