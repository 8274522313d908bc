"""Texts with barriers, executed: what is right is right, and each fault is seen by its engines."""

from __future__ import annotations

import re

import pytest

from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS
from tests.verify.source.concurrent.faults import FAULTS
from tests.verify.source.concurrent.texts import COPY
from tests.verify.source.concurrent.texts import DIFFERS
from tests.verify.source.concurrent.texts import MATMUL
from tests.verify.source.concurrent.texts import Seen
from tests.verify.source.concurrent.texts import copied
from tests.verify.source.concurrent.texts import multiplied


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_right_texts_are_right():
    assert copied() == Seen({}, "")
    assert multiplied() == Seen({}, "")


@pytest.mark.parametrize("slots", [2, 4, 7])
def test_more_slots_change_nothing(slots):
    assert multiplied(changed(MATMUL, "SLOTS=3", f"SLOTS={slots}")) == Seen({}, "")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_each_fault_is_seen_by_its_engines(fault):
    seen = multiplied(changed(MATMUL, fault.old, fault.new))
    assert frozenset(seen.engines) == fault.engines
    assert any(fault.says in said for said in seen.engines.values())


def test_both_engines_are_needed():
    only = {name for fault in FAULTS if len(fault.engines) == 1 for name in fault.engines}
    assert only == {CLOCKS, ORDERS}


def test_what_is_wrong_with_values_alone_shows_in_the_result():
    assert multiplied(changed(MATMUL, "[step * 8, 0]", "[step * 8 - 8, 0]")) == Seen({}, DIFFERS)


def test_a_slot_that_is_still_stored_from_may_not_be_filled():
    text = changed(
        COPY, "            tma.store_wait(pendings=0)\n            slot", "            slot"
    )
    said = copied(text).engines[CLOCKS]
    assert re.search(r"writes tiles\[\d\] while a store to \w+ of the entry may still read", said)


def test_the_line_of_a_fault_is_named():
    text = changed(MATMUL, "    fence_async_shared()\n", "")
    (line,) = [n for n, s in enumerate(text.splitlines(), 1) if "copy_shared_to_global" in s]
    assert f"(line {line})" in multiplied(text).said


def test_a_copy_that_nobody_waits_for_is_under_way_at_the_exit():
    text = changed(COPY, "    for step in range(COUNT):\n", "    for step in range(0):\n")
    assert "ends while a copy may be under way" in copied(text).engines[CLOCKS]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[HALF * 2, 0], out_tiles", "[0, 0], out_tiles", "stores an element of t2 again"),
        ("[2, 8], layout)\n    y_desc", "[2, 16], layout)\n    y_desc", "a copy of fp16[2, 16]"),
        ("y_tiles.index(0), acc", "y_tiles.index(3), acc", "none is number 3"),
        ("[4, 1],\n        [240", "[4],\n        [240", "numbers of warps"),
        ("[4, 1],\n        [240", "[4, 3],\n        [240", "roles of [4, 3] warps"),
        ("[4, 1],\n        [240", "[1, 4],\n        [240", "a matrix product of 1 warps"),
        ("[240, 24]", "[240, 20]", "roles of [240, 20] registers"),
        ("[240, 24]", "[500, 24]", "roles of [500, 24] registers"),
        ("init(full.index(slot), count=1)", "init(full.index(0), count=1)", "made twice"),
        ("init(full.index(slot), count=1)", "init(full.index(slot), count=0)", "0 arrivals"),
        ("empty.index(slot), count=2)\n", "empty.index(0), count=2) if slot == 0 else 0\n",
         "before it is made"),
        ("acc.to(out_desc.dtype)", "acc", "a tile of fp16 gets fp32"),
        ("SLOTS) & 1) ^ 1)", "SLOTS) & 1) ^ 1, foo=1)", "foo"),
        ("SLOTS) & 1) ^ 1)", "SLOTS) & 1) ^ 3)", "is awaited for the parity 3"),
        ("slot = step % SLOTS\n        mbarrier.wait(empty",
         "slot = [i for i in [step % SLOTS]][0]\n        mbarrier.wait(empty", "ListComp in"),
        ("gl.full([2, 8]", "gl.inline_asm([2, 8]", "gl.inline_asm"),
    ],
    ids=lambda x: "",
)  # fmt: skip
def test_other_faults_are_named(old, new, says):
    assert says in multiplied(changed(MATMUL, old, new)).said


def test_the_first_fault_is_kept_if_the_text_cannot_go_on():
    text = changed(MATMUL, "    fence_async_shared()\n", "")
    text = changed(text, "tma.store_wait(pendings=0)", "out_tiles.index(9)")
    seen = multiplied(text)
    assert "without a fence" in seen.said
    assert set(seen.engines) == {CLOCKS}
