"""Seeded faults of printed texts: each is refuted at sizes and a program that were executed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.concrete import faults
from superopt.verify.source.symbolic.concrete import small_sizes
from superopt.verify.source.symbolic.launcher import plans
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from tests.emit.cases import CASES


def printed(name, *graphs):
    """The text of some graphs of a case."""
    case = CASES[name]()
    return replace(case, graphs=tuple(case.graphs[g] for g in graphs)).text()


ATTENTION = printed("attention", 0)
SOFTMAX = printed("softmax", 0)
RMS = printed("rms", 0, 2)
LAST = "+ m_lane[:, None] * out_stride_m + e_lane[None, :]"

FAULTS = {
    "mask bound off by one": (
        *(ATTENTION, "m_in = (m_at < m_size)", "m_in = (m_at <= m_size)"),
        "stores of out in bounds",
    ),
    "a missing mask": (
        *(ATTENTION, "mask=d_in[:, None] & n_in[None, :]", "mask=d_in[:, None]"),
        "loads of k in bounds",
    ),
    "a mask without its rows": (  # beyond the last row is the address of another one
        *(ATTENTION, "mask=m_in[:, None] & e_in[None, :]", "mask=e_in[None, :]"),
        "no element of out is stored twice",
    ),
    "tile index swapped": (
        *(ATTENTION, "m_first = m_tile * TILE_M", "m_first = h_at * TILE_M"),
        "every element of out is stored",
    ),
    "wrong stride": (
        *(ATTENTION, "h_at * q_stride_h", "h_at * k_stride_h"),
        "loads of q in bounds",
    ),
    "two rows at one place": (
        *(ATTENTION, LAST, "+ m_lane[:, None] * 0 + e_lane[None, :]"),
        "no element of out is stored twice",
    ),
    "an output tile written twice": (
        *(ATTENTION, "pid = pid // h_size", "pid = pid // h_size * 0"),
        "no element of out is stored twice",
    ),
    "too many programs": (
        *(ATTENTION, "* triton.cdiv(m_size, m_tile)", "* (triton.cdiv(m_size, m_tile) + 1)"),
        "stores of out in bounds",
    ),
    "a tile never written": (
        *(ATTENTION, "* triton.cdiv(m_size, m_tile)", "* (triton.cdiv(m_size, m_tile) - 1)"),
        "every element of out is stored",
    ),
    "a loop that ends late": (
        *(ATTENTION, "in range(0, n_size, TILE_N)", "in range(0, n_size + 1, TILE_N)"),
        "loads of k in bounds",
    ),
    "a loop with stores that ends early": (
        *(SOFTMAX, "range(0, n_size, TILE_N)", "range(0, n_size - 1, TILE_N)"),
        "every element of out is stored",
    ),
    "a loop with stores that begins late": (
        *(SOFTMAX, "for n_first_2 in range(0,", "for n_first_2 in range(TILE_N,"),
        "every element of out is stored",
    ),
    "offsets of 32 bits": (
        *(ATTENTION, "out_stride_h: tl.int64", "out_stride_h"),
        "numbers fit their width",
    ),
    "sizes of 31 bits": (
        *(SOFTMAX, "LARGEST = 2**31 - 2**16", "LARGEST = 2**31"),
        "numbers fit their width",
    ),
    "tiles of a group swapped": (
        *(RMS, "tl.swizzle2d(m_tile, n_tile,", "tl.swizzle2d(n_tile, m_tile,"),
        "every element of out is stored",
    ),
}


def changed(text, old, new):
    assert old in text
    return text.replace(old, new)


def function(text):
    return {ATTENTION: "attention", SOFTMAX: "softmax", RMS: "rms_linear"}[text]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refuted_by_execution(name):
    text, old, new, claim = FAULTS[name]
    reading = read_symbolic(changed(text, old, new), function(text))
    verdicts = [v for c, v in reading.claims if c.endswith(f": {claim}")]
    refuted = [v for v in verdicts if isinstance(v, Refuted)]
    assert refuted
    names = [n for n, _ in refuted[0].at]
    assert any(n.startswith("size of ") for n in names)


@pytest.mark.parametrize("name", [n for n, f in FAULTS.items() if f[0] == SOFTMAX])
def test_nothing_that_is_proved_fails_in_execution(name):
    text, old, new, _ = FAULTS[name]
    changed_text = read_text(changed(text, old, new))
    proved = {c for c, v in read_symbolic(changed_text.text, "softmax").claims if _is(v)}
    for plan in plans(changed_text):
        for sizes in small_sizes(("m", "n"), plan):
            found = {f.claim for f in faults(changed_text, "softmax", plan, sizes, 0)}
            assert not found & proved


def _is(verdict):
    return isinstance(verdict, Proved)


def test_a_launcher_that_lets_outputs_overlap_proves_nothing_of_them():
    text = changed(SOFTMAX, "if stride <= reach and", "if stride < reach and")
    verdicts = [v for c, v in read_symbolic(text, "softmax").claims if "stored twice" in c]
    assert verdicts
    assert all(isinstance(v, Unknown) and "apart" in v.why for v in verdicts)


def test_an_output_that_no_kernel_stores():
    text = changed(SOFTMAX, "tl.store(", "print(")
    verdicts = dict(read_symbolic(text, "softmax").claims)
    assert not any(isinstance(v, Proved) and "launches" in c for c, v in verdicts.items())


def test_an_early_launch_that_does_not_wait():
    text = changed(RMS, "tl.extra.cuda.gdc_wait()", "pass")
    claims = dict(read_symbolic(text, "rms_linear").claims)
    wanting = [v for c, v in claims.items() if "after the launch before" in c]
    assert wanting
    assert all(isinstance(v, Unknown) and "no wait" in v.why for v in wanting)


def test_a_workspace_that_is_read_before_it_is_stored():
    first, second = (
        "if programs > 0:\n        rms_linear_g2_k0",
        "if programs < 0:\n        rms_linear_g2_k0",
    )
    del first, second
    old = "part0_ss_ptr + k_part_at"
    text = changed(RMS, old, "part0_ss_ptr + 0 * k_part_at")
    claims = dict(read_symbolic(text, "rms_linear").claims)
    name = "rms_linear_g1_k1: part0_ss is read after it is stored"
    assert not isinstance(claims[name], Proved)
