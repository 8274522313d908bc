"""What is claimed of kernels with roles for all sizes, and what takes the claim away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.ugraph.masks import cleared
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.roles import has_roles
from superopt.verify.source.symbolic.roles import role_claims
from tests import samples

ROLES = "attention_g0_k0_roles2"
BOUNDS = f"{ROLES}: copies and stores in bounds"


def text() -> str:
    graph = samples.online_attention()
    graph = replace(graph, kernels=tuple(map(cleared, graph.kernels)))
    config = Config((("m", 64), ("d", 64), ("n", 64), ("e", 64)), stages=2, consumers=2)
    return emit(samples.attention(), [graph], [Row("one", 0, (config,), (("m", 1),))], Header(""))


def wanting(changed: str) -> list[str]:
    return dict(role_claims(read_text(changed, "attention"), ROLES))[BOUNDS]


def test_the_printed_launcher_describes_whole_tensors():
    assert wanting(text()) == []
    read = read_text(text(), "attention")
    assert has_roles(read, ROLES)
    assert not has_roles(read, "attention_g0_k0")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps, list(box), layout))", "steps[::-1], list(box), layout))"),
        ("list(tensor.shape), steps", "[n + 1 for n in tensor.shape], steps"),
        ("steps[-1] = 1", "steps[-1] = 2"),
        ("def _shared_descriptors(boxes):", "def _shared_descriptors(boxes, more=0):"),
    ],
)
def test_other_descriptors_are_not_known(old, new):
    assert text().count(old) == 1
    assert wanting(text().replace(old, new)) == ["_shared_descriptors is not known in this form"]


def test_an_access_by_pointer_is_named():
    old = "    mbarrier.wait(q_full.index(0), 0)\n"
    changed = text().replace(old, f"{old}    gl.store(q_full, 0)\n", 1)
    (said,) = wanting(changed)
    assert said.endswith("an access without descriptor")
