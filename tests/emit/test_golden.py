"""The exact text of a few kernels, so that a change of the printer is seen and reviewed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from superopt.emit.module import print_graph
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.masks import cleared
from tests import nested
from tests import samples as s
from tests.emit.cases import layer_norm_case

DIRECTORY = Path(__file__).parent / "golden"
CAUSAL = s.online_attention(causal=True)
GRAPHS: dict[str, KernelGraph] = {
    "causal": CAUSAL,
    "clear": replace(CAUSAL, kernels=tuple(map(cleared, CAUSAL.kernels))),
    "two_walks": s.two_pass_softmax(),
    "rank_two": layer_norm_case().graphs[0],
    "nested": nested.graph(nested.normaliser(), nested.ROWS),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_text(name: str, request: pytest.FixtureRequest) -> None:
    text = "\n\n".join(k.text for k in print_graph(GRAPHS[name]))
    path = DIRECTORY / f"{name}.txt"
    if request.config.getoption("--update-golden", default=False):
        path.write_text(text)
    assert text == path.read_text()


def test_no_golden_is_an_orphan() -> None:
    assert sorted(p.stem for p in DIRECTORY.iterdir()) == sorted(GRAPHS)
