"""Which reading finds a fault: the seeded ones, each by name."""

from __future__ import annotations

import pytest

from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import ORDER
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import SYMBOLIC
from superopt.mutate.outcome import VOCABULARY
from tests.mutate.subjects import subject

SOME = "programs = h_size * n_parts\n    if programs > 0"

# (fault, subject, what stands in the text, what instead, the reading that finds it)
SEEDED = [
    ("mask bound off by one", "softmax", 0, "n_at < n_size", "n_at <= n_size", FIELD),
    ("tile index swapped", "rms", 0, "m_tile * TILE_M", "n_tile * TILE_M", FIELD),
    ("wrong stride", "rms", 0, "k_first * w_stride_k", "k_first * x_stride_m", FIELD),
    ("written twice", "softmax", 0, "m_tile = pid", "m_tile = pid // 2", FIELD),
    ("never written", "softmax", 0, "programs = triton", "programs = -1 + triton", FIELD),
    ("missing guard", "attention", 0, "tl.where(l == 0.0, 1.0, l)", "l", FIELD),
    ("begins at 0", "softmax", 0, "float(\"-inf\"), tl.float32)", "0.0, tl.float32)", ORDER),
    ("scale twice", "attention", 0, "sum_1 * rsqrt_d", "sum_1 * rsqrt_d * rsqrt_d", FIELD),
    ("wrong weight", "attention", 1, "part0_l * where_3", "part0_l", FIELD),
    ("narrow state", "softmax", 0, "0.0, tl.float32)", "0.0, tl.float16)", FIELD),
    ("narrow offsets", "softmax", 0, "x_stride_m: tl.int64", "x_stride_m", SYMBOLIC),
    ("an axis that is none", "decode", 0, "0, _max)", "2, _max)", FIELD),
    ("a tile of another axis", "softmax", 0, "TILE_N=n_tile", "TILE_N=m_tile", FIELD),
    ("evenness of another tile", "softmax", 0, "n_size, n_tile)", "n_size, m_tile)", FIELD),
    ("the width of another axis", "attention", 0, "d_tile = _whole(d", "d_tile = _whole(m", FIELD),
    ("launched without programs", "decode", 0, SOME, SOME.replace(">", ">="), SYMBOLIC),
    ("unknown function", "softmax", 0, "tl.exp2(", "tl.atan(", VOCABULARY),
    ("no Python", "softmax", 0, "tl.exp2(", "tl.exp2((", VOCABULARY),
    ("nothing", "softmax", 0, "# ", "#  ", SURVIVED),
]  # fmt: skip


@pytest.mark.parametrize("seeded", SEEDED, ids=lambda s: s[0])
def test_a_seeded_fault_is_found_by(seeded):
    _, name, graph, old, new, by = seeded
    one = subject(name, graph)
    assert old in one.text.text
    found = one.judged(one.text.text.replace(old, new))
    assert found.by == by, found


def test_claims_that_do_not_hold_for_the_text_itself_are_not_asked():
    one = subject("softmax", 0)
    assert one.ordered
    assert "softmax_g0_k0: loads of x in bounds" in one.proved
