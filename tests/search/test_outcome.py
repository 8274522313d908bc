from __future__ import annotations

from superopt.search.outcome import Counts


def test_counts_add_up_only_if_nothing_is_lost():
    counts = Counts(seen=7, built=1, duplicates=1, open=2)
    counts.rejected["repair", "because"] += 1
    counts.pruned["cut"] += 2
    assert counts.adds_up
    counts.seen += 1
    assert not counts.adds_up
