"""Rules about the files themselves: their size, their tests, and words that they must not hold."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "superopt").rglob("*.py"))
SOURCES = [
    p for d in ("superopt", "tests", "specs", "benchmarks") for p in (ROOT / d).rglob("*.py")
]
LONGEST = 400

# Modules without a test file of their own, and where their behaviour is tested instead.
TESTED_ELSEWHERE = {
    "errors": "exceptions and exit codes; tests/test_cli.py",
    "functions": "the words of the language; tests/test_tensor.py and tests/test_library.py",
    "location": "messages with file and line; tests/test_bad_expressions.py",
    "source": "a dataclass; tests/emit/test_ahead.py",
    "run": "dataclasses; tests/report/test_record.py",
    "examine": "one candidate to its end; tests/test_pipeline.py and the searched fixture",
    "assemble": "the whole file; tests/test_certificate.py checks what it writes",
    "fitting": "compilers at work; the searched fixture",
}

# Folders of modules whose behaviour is tested together with the module that uses them.
TESTED_TOGETHER = {
    "emit": "printed text is run and compared as a whole: tests/emit/test_module.py",
    "verify": "readings and provers are tested by what they must accept and refute",
    "rewrite": "the e-graph is tested by the forms that it finds",
    "search": "mappings, bounds and the model are tested through the space",
    "ugraph": "text and lines, values and domains are tested in pairs",
    "repair": "records and expressions are tested through derivations",
    "commands": "what commands print is tested through the command line",
}

# Words of operators. They stand in specs/, in library.py and in examples of docstrings only.
OPERATORS = re.compile(
    r"attention|softmax|flash|layer_?norm|rms_?norm|group_?norm|batch_?norm|logsumexp|\blora\b"
    r"|gelu|silu|swiglu|rope\b|\bmlp\b|decode_step|prefill",
    re.IGNORECASE,
)
NAMES_OPERATORS = {"library.py", "__init__.py"}


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_file_is_long(path):
    assert len(path.read_text().splitlines()) <= LONGEST


def test_every_module_has_a_test_or_a_reason():
    missing = []
    for path in PACKAGE:
        inner = path.relative_to(ROOT / "superopt")
        if inner.name == "__init__.py":
            continue
        mirrored = ROOT / "tests" / inner.parent / f"test_{inner.name}"
        known = inner.stem if len(inner.parts) == 1 else inner.parts[0]
        if not mirrored.exists() and known not in {**TESTED_ELSEWHERE, **TESTED_TOGETHER}:
            missing.append(inner.as_posix())
    assert missing == []


def test_the_reasons_are_still_needed():
    for module in TESTED_ELSEWHERE:
        assert (ROOT / "superopt" / f"{module}.py").exists(), module
        assert not (ROOT / "tests" / f"test_{module}.py").exists(), module
    for folder in TESTED_TOGETHER:
        assert list((ROOT / "tests" / folder).glob("test_*.py")), folder


def code_words(text):
    """The text of every token that is neither a comment nor a docstring."""
    docs = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            docs.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.STRING) and token.start[0] not in docs:
            yield token.start[0], token.string


@pytest.mark.parametrize(
    "path",
    [p for p in PACKAGE if p.relative_to(ROOT / "superopt").as_posix() not in NAMES_OPERATORS],
    ids=name,
)
def test_no_operator_is_known_by_name(path):
    found = [(line, word) for line, word in code_words(path.read_text()) if OPERATORS.search(word)]
    assert found == []


def test_the_search_for_operator_names_finds_one():
    text = '"""softmax"""\n# softmax\ndef f():\n    """An attention."""\n    return "softmax"\n'
    assert [w for _, w in code_words(text) if OPERATORS.search(w)] == ['"softmax"']


def test_no_golden_file_is_an_orphan():
    """Every stored expectation is named by a test beside its folder."""
    for folder in (ROOT / "tests").rglob("golden"):
        tests = "".join(p.read_text() for p in folder.parent.glob("*.py"))
        for file in folder.iterdir():
            assert file.stem.rpartition(".")[2] in tests or file.stem in tests, file


@pytest.mark.parametrize("module", ["superopt", "superopt.cli", "superopt.search.space"])
def test_heavy_libraries_are_imported_where_they_are_used(module):
    heavy = {"superopt.search.space": "{'torch', 'triton', 'z3'}"}
    names = heavy.get(module, "{'torch', 'triton', 'z3', 'sympy', 'numpy'}")
    code = f"import sys, {module}\nfound = {names} & set(sys.modules)\nassert not found, found"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
