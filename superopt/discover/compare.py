"""The shipped laws beside the search: does one disagree with its own values, and is it reached?"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.discover.fingerprint import DOMAINS
from superopt.discover.fingerprint import Domain
from superopt.discover.terms import Terms
from superopt.discover.terms import mark
from superopt.discover.vocabulary import VOCABULARIES
from superopt.discover.vocabulary import Vocabulary
from superopt.discover.vocabulary import holes_of
from superopt.discover.vocabulary import renamed
from superopt.discover.vocabulary import size_of
from superopt.rewrite.rule import AxisFree
from superopt.rewrite.rule import Fact
from superopt.rewrite.rule import Known
from superopt.rewrite.rule import Rule
from superopt.verify.reals.laws import prove_law
from superopt.verify.reals.laws import truths
from superopt.verify.verdict import Verdict

REACHED = "reached"


@dataclass(frozen=True)
class Standing:
    """A shipped law: its proof, and whether the search meets both sides as equal terms, or why
    it does not."""

    law: Rule
    verdict: Verdict
    reach: str


def standing(law: Rule, size: int, seed: int) -> Standing:
    """The law, proved again, and its place in a search up to ``size``."""
    return Standing(law, prove_law(law), reach(law, size, seed))


def reach(law: Rule, size: int, seed: int) -> str:
    """``REACHED``, or why both sides are not found as equal terms."""
    largest = max(size_of(law.left), size_of(law.right))
    if largest > size:
        return f"has {largest} parts"
    for vocabulary in VOCABULARIES:
        names = _names(law, vocabulary)
        if names is None:
            continue
        for domain in DOMAINS:
            if _needs(law) <= set(domain.facts) and _equal(law, vocabulary, domain, seed, names):
                return REACHED
        return "its sides differ at the points of every domain that its needs allow"
    return "has a function, a number or more holes than the search has"


def _names(law: Rule, vocabulary: Vocabulary) -> dict[str, str] | None:
    """Holes of the law -> holes of the vocabulary; None if it cannot say the law."""
    if bool(law.axes) != bool(vocabulary.folds) or len(law.axes) > 1:
        return None
    if not (vocabulary.can_say(law.left) and vocabulary.can_say(law.right)):
        return None
    free = {n.hole for n in law.needs if isinstance(n, AxisFree)}
    found: dict[str, str] = {}
    holes = dict.fromkeys((*holes_of(law.left), *holes_of(law.right)))
    groups = (
        (vocabulary.truths, [h for h in holes if h in truths(law)]),
        (vocabulary.free, [h for h in holes if h not in truths(law) and _is_free(h, law, free)]),
        (vocabulary.elements, [h for h in holes if not _is_free(h, law, free)]),
    )
    for have, want in groups:
        if len(want) > len(have):
            return None
        found |= dict(zip(want, have, strict=False))
    return found


def _is_free(hole: str, law: Rule, free: set[str]) -> bool:
    return not law.axes or hole in free or hole in truths(law)


def _needs(law: Rule) -> set[Fact]:
    return {f for n in law.needs if isinstance(n, Known) for f in n.facts}


def _equal(
    law: Rule, vocabulary: Vocabulary, domain: Domain, seed: int, names: dict[str, str]
) -> bool:
    terms = Terms(vocabulary, domain, seed)
    left, right = (terms.term(renamed(side, names)) for side in (law.left, law.right))
    return mark(left) == mark(right)
