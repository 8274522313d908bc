from __future__ import annotations

from dataclasses import replace

from superopt.report.evidence import ASSUMED
from superopt.report.evidence import assumed
from superopt.report.evidence import measured
from superopt.report.evidence import summary
from superopt.report.evidence import verdict_words
from superopt.report.evidence import winners
from superopt.report.evidence import without
from superopt.verify.run.checks import Figure
from superopt.verify.verdict import Sampled
from tests.report.sample import judged
from tests.report.sample import sample


def figure(label, dtype="fp32", ok=True):
    used = 0.5 if ok else 2.0
    sizes = (("m", 3),)
    return Figure(label, dtype, 0, sizes, "out", used * 1e-3, 0.0, 1e-3, 1e-2, ok, "")


def with_figures(run, *per_case):
    cases = []
    for case, figures in zip(run.cases, per_case, strict=True):
        winner = replace(case.winner, figures=figures)
        cases.append(replace(case, winner=winner, candidates=(winner, *case.candidates[1:])))
    return replace(run, cases=tuple(cases))


def test_the_summary_counts_what_is_there(tmp_path):
    run = with_figures(judged(tmp_path), (figure("a"), figure("b", "fp16")), (figure("a"),))
    assert summary(run) == (
        "Claims: 2 proved, 2 sampled (a wrong accept has probability below 2^-70 each), "
        "0 refuted, 1 unknown. Executions: 2 outputs compared (fp32, fp16), all within their "
        "limits. Times: nothing timed."
    )
    assert "Times: 1 of 2 cases timed on a GPU." in summary(sample(tmp_path))


def test_a_failed_execution_is_not_glossed_over(tmp_path):
    run = with_figures(judged(tmp_path), (figure("a", ok=False),), ())
    assert "1 outputs compared (fp32), 1 not within their limits" in summary(run)
    assert any("1 NOT within their limits; the nearest used 200%" in x for x in measured(run))


def test_a_graph_that_won_twice_has_the_executions_of_both(tmp_path):
    run = with_figures(judged(tmp_path), (figure("a"),), (figure("a"), figure("other scale")))
    ((winner, names),) = winners(run)
    assert names == ("large", "later")
    assert [f.label for f in winner.figures] == ["a", "other scale"]


def test_every_fact_is_assumed_once(tmp_path):
    found = list(assumed(judged(tmp_path)))
    assert found[: len(ASSUMED)] == list(ASSUMED)
    assert found[len(ASSUMED) :] == [
        "graph equals spec, given that: at sizes m=2",
        "ranges and 1 more, given that: 0 < size(k)",
    ]


def test_facts_of_the_same_claims_are_one_line(tmp_path):
    run = judged(tmp_path)
    more = (
        ("graph equals spec", Sampled(3, -90.0, ("at sizes m=2", "roots are positive"))),
        ("text equals spec", Sampled(5, -70.0, ("roots are positive", "casts", "drawn"))),
    )
    (first, *others), winner = run.cases, run.cases[0].winner
    changed = replace(winner, evidence=more)
    candidates = tuple(changed if c.digest == winner.digest else c for c in first.candidates)
    case = replace(first, candidates=candidates, winner=changed)
    lost = [replace(c, winner=None, candidates=()) for c in others]
    assert list(assumed(replace(run, cases=(case, *lost))))[len(ASSUMED) :] == [
        "graph equals spec, given that: at sizes m=2",
        "graph equals spec and 1 more, given that: roots are positive",
        "text equals spec, given that: casts; drawn",
    ]


def test_cases_without_a_time_are_said_by_reason(tmp_path):
    run = sample(tmp_path, timed=False)
    assert list(without(run)) == ["Cases large, later: not timed: no GPU was used."]
    lost = replace(run, cases=(replace(run.cases[0], winner=None), run.cases[1]))
    assert list(without(lost)) == [
        "Case large: no verified kernel.",
        "Case later: not timed: no GPU was used.",
    ]


def test_the_verdict_of_a_run(tmp_path):
    run = sample(tmp_path)
    assert verdict_words(run) == "verified"
    half = replace(run, cases=(replace(run.cases[0], winner=None), run.cases[1]))
    assert verdict_words(half) == "verified for 1 of 2 cases"
    assert verdict_words(replace(run, kernel=None)) == "no verified kernel"
    none = replace(half, cases=half.cases[:1], kernel=None)
    assert summary(none) == "There is no winner, so nothing is claimed."


def test_times_are_of_the_device(tmp_path):
    found = list(measured(sample(tmp_path)))
    assert "Case large: 250.0 us (249.0 to 252.0) in 7 rounds; error on the device 1.0e-03 " in (
        " ".join(found)
    )
    assert "Case later: not timed: it was not tried on the device." in found
