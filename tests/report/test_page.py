from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from superopt.errors import UserError
from superopt.report.page import page
from superopt.tune.timing import Timing
from tests.report.sample import KERNEL
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
    """Roofline and peers, then the funnel of two cases, progress and scatter of the timed one."""
    titles = [
        w for w in read.words if w.startswith(("What was", "Ours", "Funnel", "Cand", "Model"))
    ]
    assert titles == [
        "What was reached of the h200",
        "Ours against the peers",
        "Funnel of large",
        "Candidates of large over time",
        "Model against measurement, large",
        "Funnel of later",
    ]
    assert read.figures == 6


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
    assert "Case large: not timed: no GPU was used." in found.words
    assert found.figures == 2  # the funnels
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
    assert found.figures == 2


def test_a_lost_certificate_is_said(tmp_path):
    run = sample(written(tmp_path / "run"))
    (run.directory / KERNEL).with_suffix(".cert.json").unlink()
    with pytest.raises(UserError, match=r"product\.cert\.json: no such file"):
        page(run)
