"""Texts are parsed from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from superopt.syntax import parsed


def test_many_threads_parse_at_once():
    text = "\n".join(f"x{i} = {'(' * 40}{i}{')' * 40} + f(y{i}[{i}])" for i in range(200))
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(parsed, [text] * 24))
    assert all(len(tree.body) == 200 for tree in trees)


def test_an_error_names_its_file():
    with pytest.raises(SyntaxError) as error:
        parsed("x = (", "kernel.py")
    assert error.value.filename == "kernel.py"
