"""The search for laws: pairs of equal terms, less what known laws derive, as far as proved."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from superopt.discover.derive import Deriver
from superopt.discover.fingerprint import DOMAINS
from superopt.discover.fingerprint import Domain
from superopt.discover.prove import NAME
from superopt.discover.prove import law_of
from superopt.discover.prove import weakened
from superopt.discover.terms import Pair
from superopt.discover.terms import Terms
from superopt.discover.vocabulary import VOCABULARIES
from superopt.discover.vocabulary import Vocabulary
from superopt.discover.vocabulary import folded
from superopt.discover.vocabulary import holes_of
from superopt.discover.vocabulary import renamed
from superopt.rewrite import saturate
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import Rule
from superopt.rewrite.show import pattern_text
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown

assert saturate  # its import fills RULES


@dataclass(frozen=True)
class Open:
    """Terms that agree at every point of a domain, without a proof. ``why``: the solver's word."""

    pair: Pair
    domain: str
    why: str


@dataclass
class Discovery:
    """What is found, at any time. ``terms``: evaluated ones; ``pairs``: with equal fingerprints;
    ``derived``: of these, what known laws say; ``refuted``: what only looked equal; ``loose``:
    what is not tried, because each side has a hole that the other lacks."""

    size: int
    seed: int
    laws: list[Rule] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    terms: int = 0
    pairs: int = 0
    derived: int = 0
    refuted: int = 0
    loose: int = 0
    where: str = ""
    complete: bool = False


def shipped() -> list[Rule]:
    """The laws that the search for forms applies."""
    return [r for r in RULES.values() if not (r.structural or r.lowering)]


def discover(size: int, seed: int = 0, known: Iterable[Rule] | None = None) -> Iterator[Discovery]:
    """Finds laws whose sides have at most ``size`` parts and that ``known`` ones (the shipped, if
    None) do not imply. Yields one and the same discovery, as it grows; the last is complete.
    """
    found = Discovery(size, seed)
    given = shipped() if known is None else list(known)
    for vocabulary in VOCABULARIES:
        seen: set[str] = set()
        for domain in DOMAINS:
            found.where = f"{vocabulary.name}, {domain.name} values"
            deriver = Deriver(vocabulary, domain)
            deriver.learn([*given, *found.laws])
            yield from _domain(found, deriver, vocabulary, domain, seen)
    found.where, found.complete = "", True
    yield found


def _domain(
    found: Discovery, deriver: Deriver, vocabulary: Vocabulary, domain: Domain, seen: set[str]
) -> Iterator[Discovery]:
    terms = Terms(vocabulary, domain, found.seed)
    before = found.terms
    for pair in terms.pairs(found.size):
        found.terms = before + terms.seen
        one = canonical(pair, vocabulary)
        text = f"{pattern_text(one.left)} = {pattern_text(one.right)}"
        if text in seen or (vocabulary.folds and not (folded(one.left) or folded(one.right))):
            continue
        seen.add(text)
        found.pairs += 1
        if loose(one):
            found.loose += 1
        elif deriver.same(one.left, one.right):
            found.derived += 1
        else:
            _judge(found, deriver, vocabulary, domain, one)
        yield found
    found.terms = before + terms.seen


def _judge(
    found: Discovery, deriver: Deriver, vocabulary: Vocabulary, domain: Domain, pair: Pair
) -> None:
    law, verdict = weakened(law_of(pair, vocabulary, domain), vocabulary, domain)
    match verdict:
        case Proved():
            law = replace(law, name=f"{NAME}_{len(found.laws) + 1}")
            found.laws.append(law)
            deriver.learn([law])
        case Refuted():
            found.refuted += 1
        case Unknown(why=why):
            found.open.append(Open(pair, domain.name, why))
        case _:
            raise TypeError(f"a law is proved or not, never {verdict!r}")


def loose(pair: Pair) -> bool:
    """Whether each side has a hole that the other lacks: no side can be matched for the other."""
    left, right = set(holes_of(pair.left)), set(holes_of(pair.right))
    return not (left <= right or right <= left)


def canonical(pair: Pair, vocabulary: Vocabulary) -> Pair:
    """The pair with its holes named in order of appearance, so that it comes once."""
    names: dict[str, str] = {}
    for group in (vocabulary.elements, vocabulary.free, vocabulary.truths):
        used = [h for h in (*holes_of(pair.left), *holes_of(pair.right)) if h in group]
        names |= dict(zip(dict.fromkeys(used), group, strict=False))
    return replace(pair, left=renamed(pair.left, names), right=renamed(pair.right, names))
