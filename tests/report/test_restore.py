from __future__ import annotations

import json
from dataclasses import replace

import pytest

from superopt.errors import UserError
from superopt.report.record import read
from superopt.report.record import write
from superopt.report.restore import run_from
from superopt.verify.readings import is_open
from tests.report.sample import HEAD
from tests.report.sample import sample
from tests.report.sample import written


def test_what_is_read_is_written_again(searched, tmp_path):
    """Of a real search: nothing of run.json is lost on the way."""
    run = run_from(searched.record, searched.directory)
    head = {name: searched.record[name] for name in ("spec", "versions")}
    again = read(write(replace(run, directory=tmp_path), head, searched.record["files"]))
    assert again == searched.record


def test_why_a_case_has_no_time_is_read(tmp_path):
    run = sample(tmp_path)
    cases = (run.cases[0], replace(run.cases[1], untimed="nothing compiled"))
    record = read(write(replace(run, cases=cases), HEAD))
    assert [c.untimed for c in run_from(record, tmp_path).cases] == ["", "nothing compiled"]


def test_times_are_read_as_well(tmp_path):
    directory = written(tmp_path / "run")
    run = run_from(read(directory / "run.json"), directory)
    assert run.timing == sample(directory).timing
    assert [c.winner.digest for c in run.cases] == [
        c.winner.digest for c in sample(directory).cases
    ]
    before = (directory / "run.json").read_text()
    files = json.loads(before)["files"]
    assert write(run, HEAD, files).read_text() == before


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("seed", "0", "seed: '0' is no int"),
        ("files", None, "files: None is no list"),
        ("files", [None], "None is no text"),
        ("spec", None, "spec: None is no dict"),
        ("cases.0.counts.seen", 10, "case 'large': the counts of its candidates do not add up"),
        ("cases.0.counts.built", 2, "do not add up"),
        ("cases.0.winner.digest", "other", "damaged: KeyError: 'other'"),
        ("cases.0.candidates.0.graph", "kernels", "damaged: ParseError"),
        ("cases.0.candidates.0.stage", "dreamt", "damaged: ValueError"),
        ("cases.0.candidates.0.verdicts", [["x", "Believed", {}]], "damaged: KeyError: 'Believed'"),
        ("cases.0.candidates.0.verdicts", [["x", "Unknown", {"why": "?"}]], "a verdict says no"),
        ("cases.0.candidates.2.digest", "0" * 64, "its graph is not the one that was judged"),
        ("cases.0.candidates.0.reason", None, "None is no text"),
        ("cases.0.candidates.0.stage", "refused", "its winner, .* is refused"),
        ("cases.1.candidates.0.stage", "timed", "is timed, but has no time"),
        ("cases.0.counts.built", None, "damaged: TypeError"),
        ("cases.0.sizes", None, "damaged: TypeError"),
        ("cases.0.sizes", {"m": 1, "k": 1}, "has an axis 'n', the case has not"),
        (
            "timing.measured.1.us",
            "inf",
            "must be a time above 0 with quartiles if timed, else null",
        ),
        ("timing.measured.0.us", -1, r"timing.measured\[0\].us: must be a number from 0 on"),
        ("timing.seconds", {"total": "long"}, "damaged: ValueError"),
    ],
)
def test_a_damaged_run_is_said(tmp_path, path, value, words):
    directory = written(tmp_path / "run")
    record = read(directory / "run.json")
    inner = record
    *before, last = (int(p) if p.isdigit() else p for p in path.split("."))
    for name in before:
        inner = inner[name]
    inner[last] = value
    with pytest.raises(UserError, match=f"run.json: .*({words})"):
        run_from(record, directory)


def test_an_open_claim_about_memory_is_no_damage(tmp_path):
    directory = written(tmp_path / "run")
    record = read(directory / "run.json")
    claim = ["softmax_g0_k0: loads of x in bounds", "Unknown", {"why": "not read"}]
    record["cases"][0]["candidates"][0]["verdicts"].append(claim)
    run = run_from(record, directory)
    assert is_open(run.cases[0].candidates[0].evidence[-1])
