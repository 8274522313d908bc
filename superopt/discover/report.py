"""What a search for laws found, as a page in Markdown (``docs/discovered.md`` is one)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from superopt.discover.compare import REACHED
from superopt.discover.compare import Standing
from superopt.discover.search import Discovery
from superopt.rewrite.rule import App
from superopt.rewrite.rule import Fold
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Pattern
from superopt.rewrite.rule import Rule
from superopt.rewrite.show import pattern_text
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

HEAD = """# Laws that were found

Printed by `superopt discover --size {size} --seed {seed}`. All terms of at most {size} parts
(functions, folds, holes, numbers) were enumerated, over positive and over finite values; two that
agree at random points are a pair, a pair that the known laws do not derive is given to the prover,
and a law that is proved joins the known ones, with the fewest needs with which it is proved.
How a law is written, see `laws.md`. Axis `n` is the one that is folded: `a` and `b` vary over it.
"""


def page(found: Discovery, shipped: Sequence[Standing]) -> str:
    """The whole page."""
    laws = [cheaper(law) for law in found.laws]
    gains = sorted((law for law in laws if saved(law) > 0), key=lambda law: -saved(law))
    same = [law for law in laws if saved(law) == 0]
    return "\n".join(
        [
            HEAD.format(size=found.size, seed=found.seed),
            _counts(found),
            *_shipped(shipped),
            *_section(
                "Found, and saving operations",
                "From left to right they save operations; none of them is shipped.",
                [f"{_law(law)} (saves {saved(law)})" for law in gains],
            ),
            *_section(
                "Found, at the same cost",
                "Useful only if what they lead to is.",
                [_law(law) for law in same],
            ),
            *_section(
                "Neither proved nor refuted",
                "Equal at all points; the prover's word stands beside each.",
                [
                    f"{_sides(o.pair.left, o.pair.right)} for {o.domain} values: {o.why}"
                    for o in found.open
                ],
            ),
        ]
    )


def _counts(found: Discovery) -> str:
    end = "" if found.complete else f"\nInterrupted in: {found.where}.\n"
    return (
        f"{found.terms} terms, {found.pairs} pairs up to names of holes: {found.derived} derived "
        f"by known laws,\n{len(found.laws)} proved and kept, {found.refuted} refuted, "
        f"{len(found.open)} open;\n{found.loose} were not tried, because each side has a hole that "
        f"the other lacks.\n{end}"
    )


def _shipped(shipped: Sequence[Standing]) -> list[str]:
    wrong = [s for s in shipped if not accepted(s.verdict)]
    reached = [s.law.name for s in shipped if s.reach == REACHED]
    others = [s for s in shipped if s.reach != REACHED]
    lines = [f"{s.law.name}: {spoken(s.verdict)}" for s in wrong]
    return [
        *_section(
            "Shipped laws that do not hold",
            f"{len(shipped)} shipped laws were proved again.",
            lines or ["none"],
        ),
        *_section(
            "Shipped laws that the search meets",
            "Both sides are among its terms, with equal values.",
            [f"`{name}`" for name in reached],
        ),
        *_section(
            "Shipped laws beyond this search",
            "Each with the reason.",
            [f"`{s.law.name}` {s.reach}" for s in others],
        ),
    ]


def _section(title: str, text: str, items: Sequence[str]) -> list[str]:
    return [f"## {title}\n\n{text}\n", *(f"* {item}" for item in items), ""]


def _law(law: Rule) -> str:
    needs = [str(n) for n in law.needs if not isinstance(n, HasAxis)]
    condition = f" if {', '.join(needs)}" if needs else ""
    return _sides(law.left, law.right) + condition


def _sides(left: Pattern, right: Pattern) -> str:
    return f"`{pattern_text(left)} = {pattern_text(right)}`"


def cheaper(law: Rule) -> Rule:
    """The law with its cheaper side to the right."""
    if operations(law.left) >= operations(law.right):
        return law
    return replace(law, left=law.right, right=law.left)


def saved(law: Rule) -> int:
    """The operations that a law saves from left to right."""
    return operations(law.left) - operations(law.right)


def operations(pattern: Pattern) -> int:
    """Operations of a term; a fold counts as one."""
    match pattern:
        case App(fn=fn, args=args):
            return fn.value.plain + fn.value.special + sum(map(operations, args))
        case Fold(arg=arg):
            return 1 + operations(arg)
        case _:
            return 0
