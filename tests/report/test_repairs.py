"""The page of repairs: what it says of shipped specs, and that it is not stale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from superopt.loading import load
from superopt.report.repairs import fusions
from superopt.report.repairs import page
from superopt.report.repairs import rows
from superopt.report.repairs import table

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "specs").glob("*.py"))
PAGE = ROOT / "docs" / "repairs.md"
EVIDENCE = re.compile(r" (proved \d[^|]*)? \| (rolling)")


def ranks(name: str) -> list[tuple[str, str, int | None]]:
    """The folds of the spec along axis ``n`` or ``k``, with their ranks."""
    (spec,) = load(f"{ROOT / 'specs' / name}")
    return [(r.axis, r.consumer, r.rank) for r in rows(spec.program, proofs=False)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("losses.py:cross_entropy", [1]),
        ("losses.py:z_loss", [1]),
        ("losses.py:label_smoothing", [1]),
        ("losses.py:entropy", [1, 2]),
        ("losses.py:entropy_and_normaliser", [1, 2]),
        ("losses.py:kl_divergence", [1, 1, 2]),
        ("losses.py:linear_cross_entropy_gradient", [1, 2]),
        ("statistics.py:variance", [3]),
        ("statistics.py:stable_norm", [1]),
        ("statistics.py:cosine_similarity", [1]),
        ("statistics.py:rms_norm_amax", [1]),
        ("statistics.py:centred_amax", [2]),
        ("statistics.py:layer_norm_amax", [3, 2]),
        ("statistics.py:affine_norm_amax", [None, 3]),
        ("scaled_linear.py:layer_norm_linear", [3, 2]),
        ("scaled_linear.py:affine_norm_linear", [3, 3]),
        ("scaled_linear.py:amax_linear", [1]),
        ("scaled_linear.py:quantised_linear", [None]),
        ("partials.py:merged", [1, 1]),
        ("weighting.py:differential", [1, 1, 2]),
        ("weighting.py:sigmoid_attention", []),
        ("weighting.py:random_features", [2, 2]),
        ("weighting.py:softmax_twice", [None, 1, 1]),
        ("semirings.py:max_plus", []),
        ("semirings.py:forward_step", [1]),
        ("masked_attention.py:sink", [1, 1]),
        ("attention.py:with_lse", [1, 1]),
    ],
)
def test_ranks_of_the_catalogue(name, expected):
    assert [rank for _, _, rank in ranks(name)] == expected


def test_the_page_is_not_stale():
    """All but the verdicts; those are judged again for a few specs below."""

    def without(text: str) -> list[str]:
        return EVIDENCE.sub(r" | \2", text).splitlines()

    assert without(PAGE.read_text()) == without(page([str(f) for f in FILES], proofs=False))


@pytest.mark.parametrize(
    "name", ["attention.py:causal", "losses.py:cross_entropy", "weighting.py:random_features"]
)
def test_verdicts_of_the_page_are_reached_again(name):
    said = PAGE.read_text().splitlines()
    _, _, *lines = table(load(f"{ROOT / 'specs' / name}"))
    assert lines
    assert [line for line in lines if line not in said] == []


def test_every_obligation_has_its_evidence():
    """Lists of the best, which are merged, and states of recurrences need no repair."""
    lines = PAGE.read_text().splitlines()
    alone = ("| merge |", "| steps |")
    lines = [x for x in lines if "| rolling" in x and not any(word in x for word in alone)]
    assert len(lines) > 40
    assert [x for x in lines if "not proved" in x or "proved " not in x] == []


def test_a_refusal_names_the_fold_and_the_term():
    (spec,) = load(f"{ROOT / 'specs' / 'statistics.py'}:affine_norm_amax")
    first, *_ = rows(spec.program, proofs=False)
    assert (first.consumer, first.rank, first.modes) == ("max0", None, "")
    assert first.law[0].startswith("refused: no finite rank found: abs(")


def test_a_law_is_readable():
    (spec,) = load(f"{ROOT / 'specs' / 'logsumexp.py'}")
    (row,) = rows(spec.program, proofs=False)
    assert row.law == (
        "sum0' = sum0 * exp(max0 - max0') + sum_n(exp(x - max0'))",
        "with max0 = max_n(x)",
    )
    assert row.guards == ("max0 == -inf",)
    assert row.modes == "rolling, split"


def test_a_store_along_the_axis_takes_a_walk_that_is_not_split():
    (spec,) = load(f"{ROOT / 'specs' / 'softmax.py'}:softmax")
    (found,) = fusions(spec.program)
    assert (len(found.passes), found.split) == (2, None)
