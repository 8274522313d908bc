from __future__ import annotations

from pathlib import Path

import pytest

from superopt.errors import NotEmittable
from superopt.loading import load
from superopt.spec_text import spec_text
from superopt.ugraph.names import ordered
from superopt.ugraph.node import Best
from superopt.ugraph.walk import topo

SPECS = sorted((Path(__file__).parents[1] / "specs").glob("*.py"))


def case_of(spec):
    case = spec.cases[0]
    numbers = {**case.sizes, **case.scalars}
    words = [f"{a}={n!r}" for a, n in numbers.items()]
    return f'Case("one", {", ".join([*words, *(f"{n}={r!r}" for n, r in case.integers.items())])})'


@pytest.mark.parametrize("file", SPECS, ids=lambda p: p.stem)
def test_the_text_is_traced_to_the_same_nodes(file, tmp_path):
    for spec in load(str(file)):
        nodes = topo(s.value for s in spec.program.outputs)
        if any(isinstance(n, Best) for n in nodes):
            with pytest.raises(NotEmittable, match="no word for Best"):
                spec_text(spec.program, [], spec.dtype, "", "")
            continue
        text = spec_text(spec.program, [case_of(spec)], spec.dtype, "A file.", "A function.")
        written = tmp_path / f"{spec.name}.py"
        written.write_text(text)
        (again,) = load(str(written))
        assert again.program.params == spec.program.params
        for new, old in zip(again.program.outputs, spec.program.outputs, strict=True):
            assert (new.name, new.order, new.dtype) == (old.name, old.order, old.dtype)
            assert ordered(new.value) is ordered(old.value)
