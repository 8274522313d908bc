from __future__ import annotations

from pathlib import Path

from superopt.rewrite.document import laws_markdown
from superopt.rewrite.rule import RULES

PAGE = Path(__file__).parents[2] / "docs" / "laws.md"


def test_the_page_of_laws_is_fresh() -> None:
    assert PAGE.read_text() == laws_markdown(), "run: python -m superopt.rewrite.document"


def test_every_law_is_on_the_page() -> None:
    text = laws_markdown()
    assert [name for name in RULES if f"### {name}\n" not in text] == []
