from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.report.claims import Claim
from superopt.report.claims import claims
from superopt.report.claims import sorted_out
from superopt.report.restore import run_from
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests.report.sample import judged

TEXTS = st.sampled_from(["graph equals spec", "k: loads", "repair 0, range", "text equals spec"])
VERDICTS = st.one_of(
    st.builds(Proved, st.sampled_from(["z3", "structure"])),
    st.builds(Sampled, st.integers(1, 9), st.floats(-200, -1)),
    st.builds(Unknown, st.sampled_from(["gave up"])),
    st.builds(Refuted, st.just((("x", "1"),))),
)


@given(st.lists(st.tuples(TEXTS, VERDICTS), max_size=8))
def test_each_claim_is_in_one_list_and_in_the_right_one(pairs):
    found = [Claim("d", text, verdict, ("case",), True) for text, verdict in pairs]
    lists = sorted_out(found)
    assert Counter((*lists.proved, *lists.sampled, *lists.still_open)) == Counter(found)
    assert all(isinstance(c.verdict, Proved) for c in lists.proved)
    assert all(isinstance(c.verdict, Sampled) for c in lists.sampled)
    assert not any(isinstance(c.verdict, Proved | Sampled) for c in lists.still_open)


def said(run):
    return {
        (c.digest, text, verdict)
        for case in run.cases
        for c in case.candidates
        for text, verdict in c.evidence
    }


def test_every_verdict_of_a_run_is_there_once(tmp_path):
    run = judged(tmp_path)
    found = claims(run)
    assert len(found) == len(said(run)) == 5 + 2 + 2
    assert {(c.digest, c.text, c.verdict) for c in found} == said(run)
    assert all(c.cases == ("large", "later") for c in found)
    assert sum(c.won for c in found) == 5


def test_every_verdict_of_a_search_is_there_once(searched):
    run = run_from(searched.record, searched.directory)
    found = claims(run)
    assert Counter((c.digest, c.text, c.verdict) for c in found) == Counter(said(run))


def test_verdicts_on_one_graph_that_differ_by_case_are_both_there(tmp_path):
    run = judged(tmp_path)
    other = replace(run.cases[1].winner, evidence=(("ranges", Unknown("why")),))
    cases = (run.cases[0], replace(run.cases[1], candidates=(other,), winner=other))
    found = [c for c in claims(replace(run, cases=cases)) if c.text == "ranges" and c.won]
    assert [(type(c.verdict), c.cases) for c in found] == [
        (Proved, ("large",)),
        (Unknown, ("later",)),
    ]


@pytest.mark.parametrize(
    ("text", "reading", "short"),
    [
        ("graph equals spec", "kernel graph", "graph equals spec"),
        ("loop limits of n", "kernel graph", "loop limits of n"),
        ("repair 1, scope", "repair 1", "scope"),
        ("f_g0_k0: loads of q in bounds", "printed text of f_g0_k0", "loads of q in bounds"),
        ("text equals spec", "printed text", "text equals spec"),
        (
            "text equals spec, with descriptors",
            "printed text",
            "text equals spec, with descriptors",
        ),
        ("f, graph 1: sizes are checked", "printed text of f, graph 1", "sizes are checked"),
        ("repair 0", "kernel graph", "repair 0"),
    ],
)
def test_a_claim_says_what_was_read(text, reading, short):
    claim = Claim("d", text, Proved("z3"), (), True)
    assert (claim.reading, claim.short) == (reading, short)


def test_words_are_no_stronger_than_the_evidence():
    found = [
        Claim("d", "a", Sampled(2, -70.0), (), True),
        Claim("d", "b", Sampled(2, -90.0), (), True),
        Claim("d", "c", Refuted((("n", "3"),), "differs"), (), True),
        Claim("d", "d", Unknown("gave up"), (), True),
    ]
    assert sorted_out(found).words == (
        "0 proved, 2 sampled (a wrong accept has probability below 2^-70 each), 1 refuted, "
        "1 unknown"
    )
    assert found[2].evidence == "REFUTED differs at n = 3"
    assert found[3].evidence == "unknown: gave up"
