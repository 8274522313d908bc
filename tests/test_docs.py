"""What README and docs say is so: snippets, commands, lists, names of files, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from superopt.cli import app
from superopt.commands.doctor import NOT_SUPPORTED
from superopt.loading import load
from superopt.reference import check_reference
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
)
README = (ROOT / "README.md").read_text()
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
SPECS = [c for page in PAGES for c in CODE.findall(page.read_text()) if "@spec(" in c]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


@pytest.mark.parametrize("code", SPECS, ids=lambda c: re.findall(r"^def (\w+)", c, re.M)[-1])
def test_specs_in_documents_load_and_agree_with_their_references(code, tmp_path):
    (tmp_path / "snippet.py").write_text(code)
    found = load(str(tmp_path / "snippet.py"))
    assert len(found) == code.count("@spec(")
    for spec in found:
        check_reference(spec)


def test_readme_shows_specs():
    assert sum(c.count("@spec(") for c in CODE.findall(README)) >= 4


def commands():
    return typer.main.get_command(app).commands


@pages
def test_commands_exist(page):
    named = set(re.findall(r"`superopt (\w+)|^ {4,}superopt (\w+)", page.read_text(), re.M))
    named = {a or b for a, b in named}
    assert named <= set(commands())


def test_readme_has_every_command_and_option_of_search():
    listed = set(re.findall(r"^\| `superopt (\w+)", README, re.M))
    assert listed == set(commands())
    options = {o for p in commands()["search"].params for o in p.opts if o.startswith("--")}
    assert options <= set(re.findall(r"--[\w-]+", README))


@pages
def test_make_targets_exist(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:^    |`)make ([\w-]+)", page.read_text(), re.M))
    assert named <= targets


def test_the_demo_searches_as_many_operators_as_the_readme_says():
    searched = (ROOT / "specs" / "attention.py").read_text().count("\n@spec(")
    assert f"specs/attention.py ({searched} operators, " in README


def test_not_supported_is_what_doctor_says():
    section = README.split("## Not supported yet")[1].split("\n## ")[0]
    items = [" ".join(i.split()) for i in section.split("\n* ")[1:]]
    assert items == [f"**{what}**: {why}" for what, why in NOT_SUPPORTED]


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in heads}


@pages
def test_relative_links_resolve(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pages
def test_files_that_are_named_exist(page):
    # NAME is a placeholder.
    named = re.findall(r"`((?:superopt|tests|specs|docs|benchmarks)/[\w/.-]+)`", page.read_text())
    assert [n for n in named if not (ROOT / n).exists() and "NAME" not in n] == []


def test_short_module_names_exist():
    """Pages about the code leave out ``superopt/`` (``ugraph/node.py``)."""
    for page in [ROOT / "docs" / "architecture.md", *(ROOT / "docs" / "decisions").glob("*.md")]:
        for name in re.findall(r"`([a-z_]+/[a-z_]+\.py)`", page.read_text()):
            assert any((folder / name).exists() for folder in (ROOT / "superopt", ROOT)), name


def test_modules_in_the_picture_exist():
    picture = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    for names in re.findall(r"<br>([\w., ]+)\"", picture):
        for name in names.split(", "):
            path = ROOT / "superopt" / name.replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").exists(), name


@pages
def test_upper_case_constants_exist(page):
    """A decision that names ``FINALISTS`` goes stale when the constant is renamed."""
    source = "\n".join(p.read_text() for p in sorted((ROOT / "superopt").rglob("*.py")))
    source += "PYTHONHASHSEED"  # of Python itself
    for name in re.findall(r"`([A-Z][A-Z_0-9]{3,})`", page.read_text()):
        assert re.search(rf"\b{name}\b", source), name


def test_every_decision_is_listed_once_and_short():
    listed = re.findall(r"\(decisions/([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text())
    files = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert listed == [f.name for f in files]
    for file in files:
        lines = file.read_text().splitlines()
        assert lines[0].startswith(f"# {file.name[:4]}: "), file.name
        assert len(lines) <= 50, file.name


def test_glossary_names_what_the_code_names():
    """Each word in backticks or with a capital is a class or a verdict; rows are distinct."""
    rows = re.findall(
        r"^\| ([\w ]+) \| (.*) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.M
    )
    words = [w for w, _ in rows if w != "word"]
    assert len(set(words)) == len(words) >= 20
    source = "\n".join(p.read_text() for p in sorted((ROOT / "superopt").rglob("*.py")))
    named = {n for _, text in rows for n in re.findall(r"`([A-Za-z]+)`", text)}
    named |= {w for w in words if w[0].isupper()}
    for name in named:
        defined = rf"^(class {name}\b|{name}\b.* =)"
        assert re.search(defined, source, re.M), name
    places = {Grid, Loop, Split, Whole}
    assert {p.__name__ for p in places} <= named
    assert "places" in BlockGraph.__dataclass_fields__
    # Each other word is used by the code that the glossary speaks of.
    assert [w for w in words if not re.search(rf"\b{w}", source, re.I)] == []
