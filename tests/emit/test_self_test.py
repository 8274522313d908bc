"""The printed self-test judges results in the dtype in which they are stored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from superopt.emit.self_test import BODY


@pytest.mark.parametrize(
    ("exact", "wrong", "good"),
    [
        (1.0, 0.0, True),
        (1e-9, 0.0, True),  # rounds to 0 in fp16
        (1e6, 0.0, True),  # and to infinity
        (1.0, 0.5, False),
        (1e-3, 1e-3, False),
    ],
)
def test_what_the_dtype_cannot_hold_is_no_error(exact: float, wrong: float, good: bool) -> None:
    text = BODY.replace("@MAKE@", "    x = torch.ones(3).to(real)").replace("@NAMES@", "(x,)")
    known: dict[str, Any] = {
        "__name__": "printed",
        "torch": torch,
        "TEST_PLANS": (SimpleNamespace(name="graph 0"),),
        "operator": lambda x, plan: torch.full((3,), exact + wrong).to(x.dtype),
        "reference": lambda x, dtype: torch.full((3,), exact, dtype=dtype),
    }
    exec(text.replace("@NAME@", "operator"), known)
    assert known["self_test"]() is good
