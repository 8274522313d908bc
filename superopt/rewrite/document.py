"""The page ``docs/laws.md``, generated from the laws: ``python -m superopt.rewrite.document``."""

from __future__ import annotations

from superopt.rewrite import algebra
from superopt.rewrite import folds
from superopt.rewrite import lowering
from superopt.rewrite.rule import RULES
from superopt.rewrite.rule import HasAxis
from superopt.rewrite.rule import Rule
from superopt.rewrite.show import pattern_text

HEAD = """# Laws

Generated from the laws in `superopt/rewrite/` by `python -m superopt.rewrite.document`; a test
fails when this page is stale. Every law is proved by `superopt prove`: both sides are one value,
infinities and undefined values included, wherever the conditions hold. No condition can be left
out: without it there is a counterexample (a test checks that too).

A fold over no elements is its unit. `unless n is empty` means that the condition need not hold
where axis `n` has no positions.
"""
SECTIONS = (
    ("Laws of the reals", algebra, "Applied from left to right in the search for forms."),
    ("Laws of folds", folds, "Applied from left to right in the search for forms."),
    ("Laws for the machine", lowering, "Applied once, to a form that was chosen."),
)
STRUCTURAL = "Embodied by the representation: terms that differ only in this are one term."


def laws_markdown() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, module, how in SECTIONS:
        found = (v if isinstance(v, tuple) else (v,) for v in vars(module).values())
        laws = [law for one in found for law in one if isinstance(law, Rule)]
        parts.append(f"## {title}\n\n{how}\n")
        parts += [_entry(law) for law in laws if not law.structural]
    parts.append(f"## Structure\n\n{STRUCTURAL}\n")
    parts += [_entry(law) for law in RULES.values() if law.structural]
    return "\n".join(parts)


def _entry(law: Rule) -> str:
    needs = [str(n) for n in law.needs if not isinstance(n, HasAxis)]
    lines = [
        f"### {law.name}",
        "",
        "    " + pattern_text(law.left),
        "    = " + pattern_text(law.right),
        "",
        *([f"If {', '.join(needs)}.", ""] if needs else []),
        " ".join(law.reason.split()),
        *([f"Used where `{law.fallback}` does not apply."] if law.fallback else []),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(laws_markdown(), end="")
