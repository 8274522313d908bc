from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from superopt.errors import UserError
from superopt.report.evidence import winners
from superopt.report.page import page
from superopt.report.restore import run_from
from superopt.tune.timing import Timing
from superopt.ugraph.text import digest
from superopt.verify.verdict import Proved
from tests.report.sample import GRAPHS
from tests.report.sample import KERNEL
from tests.report.sample import judged
from tests.report.sample import sample
from tests.report.sample import written

VOID = {"meta", "br", "link", "img"}


class Reader(HTMLParser):
    """Whether every element is closed in order; what is fetched from elsewhere; the words."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elsewhere, self.words, self.figures = [], [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.figures += tag == "svg"
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name.rpartition(":")[2] in ("src", "href") and not value.startswith("#"):
                self.elsewhere.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(" ".join(data.split()))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    return Reader(page(sample(written(tmp_path_factory.mktemp("page") / "run"))))


def test_the_page_stands_alone(read):
    assert read.open == []
    assert read.elsewhere == []


def test_it_has_every_figure(read):
    """The graph, roofline and peers, then for both cases the funnel, and progress and scatter of
    the one that was timed."""
    starts = ("Picture", "What was", "Ours", "Funnel", "Candidates of", "Model against")
    assert [w for w in read.words if w.startswith(starts)] == [
        f"Picture of {digest(GRAPHS[0])[:12]}",
        "What was reached of the h200",
        "Ours against the peers",
        "Funnel of large",
        "Candidates of large over time",
        "Model against measurement, large",
        "Funnel of later",
    ]
    assert read.figures == 7


def test_it_has_the_numbers(read):
    for word in (
        "Target h200, seed 0, budget 9. Measured on NVIDIA H200, driver 580.95.05, torch 2.11.0, "
        "triton 3.6.0, superopt 0.1.0.",
        "250.0 us (249.0 to 252.0)",
        "80%",
        "0.80",
        "eager: 0.96x (0.95 to 0.97)",
        "raised | an error",
        "output 'out': rel 1 | 0",
        "rejected: repair: no rank | found <b>",
        "Case later: not timed: it was not tried on the device.",
    ):
        assert word in read.words, word


def test_a_run_without_times_says_so_and_invents_none(tmp_path):
    found = Reader(page(sample(tmp_path, timed=False)))  # not even a certificate is needed
    assert "Cases large, later: not timed: no GPU was used." in found.words
    assert found.figures == 3  # the graph and the funnels
    assert not any("measured on" in w.lower() and "NVIDIA" in w for w in found.words)
    assert any("nothing was timed" in w for w in found.words)


def test_the_same_run_gives_the_same_page(tmp_path):
    run = sample(written(tmp_path / "run"))
    assert page(run) == page(sample(run.directory))
    assert str(tmp_path) not in page(run)


def test_a_case_in_which_all_fail_has_no_plots_of_times(tmp_path):
    run = sample(tmp_path, timed=False)
    failed = Timing(sample(tmp_path).timing.machine, sample(tmp_path).timing.measured[1:2])
    found = Reader(page(replace(run, timing=failed)))
    assert "Case large: not timed: it has no time with its Configs." in found.words
    assert found.figures == 3


def test_a_lost_certificate_is_said(tmp_path):
    run = sample(written(tmp_path / "run"))
    (run.directory / KERNEL).with_suffix(".cert.json").unlink()
    with pytest.raises(UserError, match=r"product\.cert\.json: no such file"):
        page(run)


def rows_of(text, title):
    """The rows of the first table whose section or summary starts with ``title``."""
    part = re.search(rf"<(?:h3|summary)>{title}.*?</table>", text, re.DOTALL)[0]
    return re.findall(r"<tr>(<td.*?)</tr>", part)


def test_a_verdict_stands_once_and_in_the_list_of_its_strength(tmp_path):
    text = page(judged(tmp_path))
    for title, expected in (
        ("Proved: 2", ["ranges", "loads of x in bounds"]),
        ("Sampled: 2", ["graph equals spec", "text equals spec"]),
        ("Neither proved nor sampled: 1", ["stores apart"]),
    ):
        rows = rows_of(text, title)
        assert len(rows) == len(expected)
        for row, word in zip(rows, expected, strict=True):
            assert f">{word}<" in row
    for word in ("loads of x in bounds", "text equals spec"):
        assert text.count(f">{word}<") == 1
    assert ">printed text of product_g0_k0<" in rows_of(text, "Proved: 2")[1]
    assert "z3 gave up" in rows_of(text, "Neither")[0]
    for name in ("proved", "sampled", "measured", "assumed"):
        assert text.count(f'<section class="list" id="{name}">') == 1


def test_a_long_list_is_folded_and_whole(tmp_path):
    run = judged(tmp_path)
    many = tuple((f"many: claim {i}", Proved("z3", (f"fact {i}",))) for i in range(40))
    text = page(with_evidence(run, many))
    assert "<summary>Show all 40</summary>" in text
    assert len(rows_of(text, "Proved: 40")) == 40


def with_evidence(run, evidence):
    def changed(c):
        return replace(c, evidence=evidence)

    cases = tuple(
        replace(
            c,
            candidates=tuple(map(changed, c.candidates)),
            winner=changed(c.winner) if c.winner else None,
        )
        for c in run.cases
    )
    return replace(run, cases=cases)


def test_the_page_needs_no_script(read, tmp_path):
    text = page(sample(tmp_path, timed=False))
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "prefers-color-scheme: dark" in text


def test_the_page_of_a_search(searched):
    """Of a real run: derivation, a repair in algebra where there is one, errors and the graph."""
    run = run_from(searched.record, searched.directory)
    text = page(run)
    found = Reader(text)
    assert found.open == []
    for candidate, _ in winners(run):
        assert f"Picture of {candidate.digest[:12]}" in found.words
        assert f"Errors of {candidate.digest[:12]} by family of inputs" in found.words
        assert f"Outputs compared: {len(candidate.figures)}" in found.words
    if any(c.records for c, _ in winners(run)):
        assert "finalise" in found.words
    assert sum(w.startswith("Repair ") for w in found.words) == sum(
        len(c.records) for c, _ in winners(run)
    )
