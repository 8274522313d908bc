from __future__ import annotations

import subprocess
import sys
from itertools import islice

import pytest

from superopt.rewrite.forms import forms
from superopt.search.outcome import Built
from superopt.search.outcome import Pruned
from superopt.search.outcome import Rejected
from superopt.search.space import Search
from superopt.ugraph.check import check
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Whole
from superopt.ugraph.names import canonical
from superopt.ugraph.text import digest
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL
from tests.search.forms import decode
from tests.search.forms import rms_deferred
from tests.search.forms import run
from tests.search.forms import shape


def best(found: list[object]) -> Built:
    return min((o for o in found if isinstance(o, Built)), key=lambda o: o.estimate.us)


def test_attention_ends_as_one_kernel_with_one_walk_and_two_repaired_carries():
    found = list(run(samples.attention(), samples.attention_delayed(), sizes=PREFILL))
    winner = best(found)
    assert len(winner.graph.kernels) == 1
    assert shape(winner.graph.kernels[0]).endswith("n:Loop e:Whole | n(3 carries, 2 moved)")
    assert len(winner.repairs) == 2
    assert winner.form == 1  # the delayed division


def test_the_whole_way_from_what_a_user_writes():
    program, names = canonical(samples.attention())
    sizes = {a: PREFILL[user] for a, user in names.axes.items()}
    winner = best(list(Search(forms(program, 8), sizes, "bf16", H200)))
    (block,) = winner.graph.kernels
    assert [len(w.carries) for w in block.walks] == [3]
    assert winner.derivation
    assert winner.estimate.share_of_roofline > 0.7


def test_causal_attention_stops_at_the_diagonal_and_starts_with_the_longest_rows():
    found = list(run(samples.attention_delayed(causal=True), sizes=PREFILL, budget=12))
    (block,) = best(found).graph.kernels
    assert block.walks[0].stop[0].terms == (("m", 1),)
    assert [t.reverse for t in block.order if t.axis == "m"] == [True]
    plain = best(list(run(samples.attention_delayed(), sizes=PREFILL, budget=12)))
    assert best(found).estimate.us < 0.65 * plain.estimate.us


def test_decode_is_split_because_its_heads_do_not_fill_the_device():
    sizes = {"b": 1, "h": 32, "n": 131072, "d": 128, "e": 128}
    winner = best(list(run(decode(), sizes=sizes)))
    (block,) = winner.graph.kernels
    assert block.place["n"] == Split()
    assert winner.configs[0].parts >= 4
    assert len(winner.configs) == 2
    many = best(list(run(decode(), sizes={**sizes, "b": 64, "n": 4096}, budget=20)))
    assert not any(p == Split() for _, p in many.graph.kernels[0].places)


@pytest.mark.parametrize("m", [16, 4096])
def test_rms_norm_and_linear_end_in_one_walk(m):
    found = list(run(samples.rms_linear(), rms_deferred(), sizes={"m": m, "k": 4096, "n": 4096}))
    walks = {
        shape(o.graph.kernels[0]).split("| ")[1]
        for o in found
        if isinstance(o, Built) and len(o.graph.kernels) == 1
    }
    assert {"k(2 carries, 0 moved)", "k(2 carries, 1 moved)"} <= walks


def test_softmax_keeps_short_rows_whole_and_walks_long_ones_twice():
    short = best(list(run(samples.row_softmax(), sizes={"m": 8192, "n": 8192})))
    assert short.graph.kernels[0].place["n"] == Whole()
    long = best(list(run(samples.row_softmax(), sizes={"m": 8192, "n": 131072})))
    assert [w.axis for w in long.graph.kernels[0].walks] == ["n", "n"]
    assert any(c.moves for c in long.graph.kernels[0].walks[0].carries)


def test_counts_add_up_after_every_outcome():
    both = (samples.attention(), samples.attention_delayed())
    run_ = run(*both, sizes=PREFILL, slack=2.0, budget=40)
    built = rejected = pruned = 0
    for outcome in run_:
        built += isinstance(outcome, Built)
        rejected += isinstance(outcome, Rejected)
        pruned += outcome.n if isinstance(outcome, Pruned) else 0
        counts = run_.counts
        assert counts.adds_up
        assert (built, rejected) == (counts.built, counts.rejected.total())
    assert pruned == run_.counts.pruned.total()
    assert run_.counts.open == 0 or built + rejected == run_.budget
    assert run_.counts.built > 20


def test_equal_forms_are_duplicates():
    one = run(samples.row_softmax(), sizes={"m": 64, "n": 64})
    two = run(samples.row_softmax(), samples.row_softmax(), sizes={"m": 64, "n": 64})
    assert len(list(one)) == len(list(two))
    assert two.counts.duplicates > 0
    assert two.counts.seen == one.counts.seen + two.counts.duplicates


def test_a_budget_ends_the_search_between_candidates_and_the_rest_is_counted_as_open():
    full = list(run(samples.attention_delayed(), sizes=PREFILL))
    cut = run(samples.attention_delayed(), sizes=PREFILL, budget=3)
    found = list(cut)
    assert [type(o) for o in found] == [type(o) for o in full[:3]]
    assert cut.counts.open > 0
    assert cut.counts.adds_up


def test_a_finished_search_with_no_slack_has_pruned_nothing_better():
    sizes = {"m": 512, "k": 512, "n": 512}
    everything = list(run(samples.rms_linear(), sizes=sizes, slack=1e9, budget=10**6))
    strict = list(run(samples.rms_linear(), sizes=sizes, slack=1.0, budget=10**6))
    assert len(strict) < len(everything)
    assert best(strict).estimate.us == best(everything).estimate.us


def test_built_graphs_are_well_formed_and_have_a_config_per_launch():
    for outcome in islice(run(samples.lora(), sizes=dict.fromkeys("mknr", 256)), 12):
        if isinstance(outcome, Built):
            assert check(outcome.graph) == []
            first = [ladder[0] for ladder in outcome.ladders]
            assert tuple(c for configs in first for c in configs) == outcome.configs


def test_a_rejected_candidate_says_where_and_why():
    found = list(run(samples.attention(causal=True), sizes=PREFILL, slack=2.0, budget=40))
    reasons = {(o.stage, o.why) for o in found if isinstance(o, Rejected)}
    assert all(stage and why for stage, why in reasons)


_PROGRAM = """
from superopt.ugraph.text import digest
from superopt.search.outcome import Built
from tests import samples
from tests.search.forms import PREFILL, run
for o in run(samples.attention(), sizes=PREFILL, budget=10):
    print(digest(o.graph), o.configs, o.estimate.us) if isinstance(o, Built) else print(o)
"""


def test_the_sequence_does_not_depend_on_the_hash_seed():
    def output(seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert output("1") == output("2") != ""


def test_candidates_are_distinct():
    found = [o for o in run(samples.attention_delayed(), sizes=PREFILL) if isinstance(o, Built)]
    assert len({digest(o.graph) for o in found}) == len(found)
