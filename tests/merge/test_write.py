from __future__ import annotations

import pytest
from rich.console import Console

from superopt.budget import Budget
from superopt.device import target
from superopt.loading import load
from superopt.merge.derive import splitting
from superopt.merge.pair import paired
from superopt.merge.write import merge_text
from superopt.pipeline import search_function
from superopt.report.live import Progress
from tests.merge import specs


def written(spec, folder, parts):
    merging = next(splitting(spec.program, "n").mergings())
    program = merging.program if parts is not None else paired(merging.program, merging.along)
    file = folder / "merge.py"
    file.write_text(merge_text(spec, merging, program, parts, ()))
    (found,) = load(str(file))
    return program, found


@pytest.mark.parametrize("parts", [4, None], ids=["along an axis", "a pair"])
@pytest.mark.parametrize("name", ["normalised", "spread", "extremes", "decayed"])
def test_the_file_holds_the_program(name, parts, tmp_path):
    program, spec = written(getattr(specs, name), tmp_path, parts)
    assert spec.name == program.name
    assert spec.program == program
    assert [c.dtype for c in spec.cases] == ["fp32"]
    assert spec.cases[0].sizes.get("p") == parts


def test_the_printed_kernel_is_verified(tmp_path):
    """From derivation to execution in fp32 and fp16: the only search in this folder."""
    _, spec = written(specs.normalised, tmp_path, 4)
    run = search_function(
        spec,
        spec.cases,
        target("h200"),
        Budget(candidates=2, text="2"),
        0,
        tmp_path,
        Progress(Console(), quiet=True),
    )
    assert run.verified
    winner = run.cases[0].winner
    assert {f.dtype for f in winner.figures} == {"fp32", "fp16"}
    assert all(f.ok for f in winner.figures)
