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

# Modules that no test imports, by the tests that cover them.
COVERED_BY = {
    "tests/test_tensor.py": ("functions",),
    "tests/test_bad_expressions.py": ("location",),
    "tests/test_cli.py": ("__main__", "commands.bug"),
    "tests/emit/test_module.py": (  # printed files are run as a whole
        *("emit.host", "emit.launcher", "emit.operator", "emit.runner"),
    ),
    "tests/emit/struct/test_kernel.py": (  # printed roles are executed
        *("emit.struct.consumer", "emit.struct.loops", "emit.struct.names"),
        *("emit.struct.producer", "emit.struct.values"),
    ),
    "tests/emit/flagtree/test_kernel.py": ("emit.flagtree.pipes", "emit.flagtree.roles"),
    "tests/emit/test_payload.py": ("emit.sides",),
    "tests/ugraph/test_parse.py": ("ugraph.parse_nodes",),
    "tests/rewrite/test_saturate.py": ("rewrite.algebra", "rewrite.folds"),  # laws as data
    "tests/verify/reals/test_laws.py": ("verify.field.scalarpoint",),
    "tests/verify/field/test_domain.py": (
        *("verify.field.choice", "verify.field.functions", "verify.field.opaque"),
    ),
    "tests/verify/field/test_bound.py": (
        *("verify.field.degree", "verify.field.residues", "verify.field.roots"),
    ),
    "tests/verify/field/test_must_accept.py": ("verify.field.logarithms",),
    "tests/verify/field/test_must_refute.py": ("verify.field.refute",),
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


def imported_by_tests():
    """The modules of superopt that test files import."""
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.ImportFrom(module=str(module), names=names):
                    found |= {module, *(f"{module}.{n.name}" for n in names)}
                case ast.Import(names=names):
                    found |= {n.name for n in names}
    return found


def test_every_module_has_a_test_or_a_reason():
    """A test file that mirrors it, or at least one that imports it."""
    imported = imported_by_tests()
    missing = []
    for path in PACKAGE:
        inner = path.relative_to(ROOT / "superopt")
        mirrored = ROOT / "tests" / inner.parent / f"test_{inner.name}"
        module = ".".join(inner.with_suffix("").parts)
        tested = mirrored.exists() or f"superopt.{module}" in imported
        if inner.name != "__init__.py" and not tested:
            missing.append(module)
    assert sorted(missing) == sorted(m for modules in COVERED_BY.values() for m in modules)
    assert all((ROOT / file).exists() for file in COVERED_BY)


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
