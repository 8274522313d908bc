"""A pair as a law: proved under the facts of its domain, then with the fewest needs that do."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace

from superopt.discover.derive import needs_of
from superopt.discover.fingerprint import Domain
from superopt.discover.terms import Pair
from superopt.discover.vocabulary import AXIS
from superopt.discover.vocabulary import Vocabulary
from superopt.discover.vocabulary import folded
from superopt.discover.vocabulary import holes_of
from superopt.rewrite.rule import Fact
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Need
from superopt.rewrite.rule import Rule
from superopt.rewrite.rule import finite
from superopt.rewrite.rule import nonnegative
from superopt.rewrite.rule import nonzero
from superopt.rewrite.rule import positive
from superopt.verify.reals.laws import prove_law
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Verdict

REASON = "It was found by enumeration."
NAME = "found"

# What a hole may need, the weakest first.
_Needs = Callable[[str], tuple[Known, ...]]
_OPTIONS: tuple[_Needs, ...] = (
    lambda hole: (),
    lambda hole: (Known(hole, (Fact.DEFINED,), "defined"),),
    lambda hole: finite(hole),
    lambda hole: nonzero(hole),
    lambda hole: nonzero(hole) + finite(hole),
    lambda hole: nonnegative(hole),
    lambda hole: nonnegative(hole) + finite(hole),
    lambda hole: positive(hole),
    lambda hole: positive(hole) + finite(hole),
)


def law_of(pair: Pair, vocabulary: Vocabulary, domain: Domain) -> Rule:
    """The pair as a law whose needs are the facts of the domain."""
    holes = tuple(dict.fromkeys((*holes_of(pair.left), *holes_of(pair.right))))
    is_fold = folded(pair.left) or folded(pair.right)
    needs: list[Need] = [*needs_of(vocabulary, holes, is_fold)]
    for hole in holes:
        needs += list(_options(hole, domain, vocabulary))[-1]
    axes = (AXIS,) if is_fold else ()
    return Rule(NAME, pair.left, pair.right, tuple(needs), REASON, holes, axes)


def weakened(law: Rule, vocabulary: Vocabulary, domain: Domain) -> tuple[Rule, Verdict]:
    """The law with fewer needs, as far as it is still proved, and its proof.

    One hole after another gets the weakest need with which the law is proved; so none can be
    left out, but another choice might need less of a later hole.
    """
    verdict = prove_law(law)
    if not isinstance(verdict, Proved):
        return law, verdict
    for hole in law.holes:
        others = tuple(n for n in law.needs if not (isinstance(n, Known) and n.hole == hole))
        if len(others) == len(law.needs):
            continue
        for option in _options(hole, domain, vocabulary):
            weaker = replace(law, needs=(*others, *option))
            proof = verdict if weaker.needs == law.needs else prove_law(weaker)
            if isinstance(proof, Proved):
                law, verdict = weaker, proof
                break
    return law, verdict


def _options(hole: str, domain: Domain, vocabulary: Vocabulary) -> Iterator[tuple[Known, ...]]:
    """The needs that the facts of the domain imply; the last says all of them."""
    most = _OPTIONS[:2] if hole in vocabulary.truths else _OPTIONS
    for option in most:
        if {f for n in option(hole) for f in n.facts} <= set(domain.facts):
            yield option(hole)
