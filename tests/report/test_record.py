from __future__ import annotations

import gzip

import pytest

from superopt.errors import UserError
from superopt.report.record import read
from superopt.report.record import verdict_record
from superopt.report.record import write
from superopt.run import Run
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.parse import parse_as
from superopt.ugraph.text import digest
from superopt.verify.verdict import Sampled


def test_a_verdict_is_a_word_and_its_fields():
    word, fields = verdict_record(Sampled(3, -61.0, ("a",)))
    assert (word, fields) == ("Sampled", {"points": 3, "log2_bound": -61.0, "facts": ("a",)})


def test_a_run_without_cases_is_written_and_read(tmp_path):
    run = Run("f", "h200", 0, "400", (), tmp_path, seconds=(("total", float("inf")),))
    found = read(write(run, {"spec": {"file": "f.py"}}, ["report.md"]))
    assert found["spec"] == {"file": "f.py"}
    assert found["files"] == ["report.md"]
    assert found["kernel"] is None
    assert found["timing"]["seconds"] == {"total": "inf"}  # JSON has no infinity


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON"),
        ("[]", "is no run.json of superopt"),
        ('{"tool": "superopt", "schema": 99}', "schema 99, this superopt reads"),
    ],
)
def test_what_is_no_run_is_said(tmp_path, text, words):
    file = tmp_path / "run.json"
    with pytest.raises(UserError, match="holds no run of superopt"):
        read(file)
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path)
    file.write_text(text)
    with pytest.raises(UserError, match=words):
        read(file)


def test_the_record_of_a_search(searched):
    record = searched.record
    for case in record["cases"]:
        counts = case["counts"]
        gone = sum(counts["rejected"].values()) + sum(counts["pruned"].values())
        assert counts["seen"] == counts["built"] + counts["duplicates"] + gone
        assert len(case["candidates"]) == counts["built"]
        assert case["winner"]["kernel"] == record["kernel"]
        winner = next(c for c in case["candidates"] if c["digest"] == case["winner"]["digest"])
        assert winner["stage"] == "verified"
        assert winner["configs"] == case["winner"]["configs"]
        for candidate in case["candidates"]:
            graph = parse_as(KernelGraph, candidate["graph"])
            assert digest(graph) == candidate["digest"]


def test_a_fact_is_computed_from_the_graph_in_the_record(searched):
    """The row of this case is too long for one tile: one walk carries both folds, repaired."""
    (case,) = searched.record["cases"]
    winner = next(c for c in case["candidates"] if c["digest"] == case["winner"]["digest"])
    graph = parse_as(KernelGraph, winner["graph"])
    first = graph.kernels[0].walks[0]
    assert first.axis == "n"
    assert [c.fold.symbol for c in first.carries] == ["max", "add"]
    assert first.carries[1].moves


def test_every_file_is_listed_and_none_names_this_machine(searched):
    found = sorted(
        p.relative_to(searched.directory).as_posix()
        for p in searched.directory.rglob("*")
        if p.is_file() and p.name != "run.json"
    )
    assert found == searched.record["files"]
    for name in [*found, "run.json"]:
        data = (searched.directory / name).read_bytes()
        data = gzip.decompress(data) if name.endswith(".gz") else data
        assert str(searched.directory.parent).encode() not in data
