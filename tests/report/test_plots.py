from __future__ import annotations

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from superopt.device import target
from superopt.report import plots
from superopt.report.figure import save
from superopt.report.figure import svg
from superopt.report.roof import Reached
from superopt.report.roof import roofline
from superopt.report.summary import Funnel
from superopt.tune.roofline import Work
from tests.conftest import ROOT

TRIALS = [
    plots.Trial("a", 0.0, 30.0, 20.0),
    plots.Trial("b", 1.0, None, 20.0),
    plots.Trial("b", 2.0, 21.0, 19.0),
]
SPEEDUPS = [
    plots.Speedup("square", "eager", 4.0, 3.9, 4.2, "graph", 1.03),
    plots.Speedup("square", "flash", 0.93, 0.92, 0.95, "eager"),
    plots.Speedup("long", "eager", 2.0, 1.9, 2.2, "graph"),
    plots.Speedup("long", "copy", 0.5, 0.5, 0.5, "graph", yardstick=True),
]
FUNNEL = Funnel(9, 1, 3, 2, 3, (("ranked", 1), ("timed", 2)), 5, (("floats", 1),), 4)
PRODUCT = Reached("prefill", Work(1e12, 2e8, 2e8), "bf16", 2000.0, (2500.0,))
FULL = Reached("fp32", Work(1e11, 2e8, 2e8), "fp32", 2000.0, ())
STREAM = Reached("rows", Work(0.0, 2e8, 2e8), "bf16", 100.0, (150.0,))
FIGURES = {
    "progress": lambda: plots.progress(TRIALS, [(0.0, 30.0), (2.0, 21.0)]),
    "only failures": lambda: plots.progress(TRIALS[1:2], []),
    "scatter": lambda: plots.scatter(TRIALS, 0.5),
    "wide scatter": lambda: plots.scatter([*TRIALS, plots.Trial("c", 3.0, 3e4, 9e3)], None),
    "speedups": lambda: plots.speedups(SPEEDUPS),
    "funnel": lambda: plots.funnel(FUNNEL),
    "empty funnel": lambda: plots.funnel(Funnel(0, 0, 0, 0, 0, (), 0, (), 0)),
    "roof": lambda: roofline([PRODUCT, FULL], target("h200")),
    "bandwidth": lambda: roofline([STREAM], target("h200")),
    "both": lambda: roofline([PRODUCT, STREAM], target("a100")),
}


def texts(figure):
    """Every text of a figure that is seen."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    outside = set()  # labels of ticks that an axis has in store, but does not show
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True):
                outside |= set() if low <= place <= high else {label}
    seen = (t for t in figure.findobj(Text) if t.get_visible() and t not in outside)
    return [t for t in seen if t.get_text().strip()]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_one_svg_element_without_a_clock(name):
    text = svg(FIGURES[name]())
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<dc:date>" not in text
    ids, used = (
        re.findall(r' id="([^"]+)"', text),
        set(re.findall(r'(?:href="|url\()#([^")]+)', text)),
    )
    assert set(ids) == used  # what is left is named by its content
    assert len(ids) == len(set(ids))
    assert svg(FIGURES[name]()) == text


@pytest.mark.parametrize("name", FIGURES)
def test_texts_of_a_figure_are_inside_and_apart(name):
    figure = FIGURES[name]()
    found = texts(figure)
    boxes = [(t.get_text(), t.get_window_extent().shrunk(0.9, 0.8)) for t in found]
    width, height = figure.get_size_inches() * figure.dpi
    for number, (text, box) in enumerate(boxes):
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
        for other, other_box in boxes[:number]:
            assert not box.overlaps(other_box), (text, other)


def test_what_a_figure_says():
    words = {name: {t.get_text() for t in texts(make())} for name, make in FIGURES.items()}
    assert {"a", "b", "failed", "best so far", "21 us"} <= words["progress"]
    assert "Spearman's rank correlation 0.50, 2 timed" in words["scatter"]
    assert "Spearman's rank correlation none, 3 timed" in words["wide scatter"]
    assert {
        "square",
        "long",
        "eager (graph)",
        "copy (graph, yardstick)",
        "flash (eager)",
        "0.93x",
        "4.00x",
    } <= (words["speedups"])
    assert {"seen", "9", "built, timed", "failed: floats", "tried on the device"} <= words["funnel"]
    assert "tried on the device" not in words["empty funnel"]
    assert {"bf16, 702 TFLOP/s", "prefill: 500 TFLOP/s", "fp32: 50 TFLOP/s"} <= words["roof"]
    assert "4000 GB/s, 93%" in words["bandwidth"]


def test_a_settings_file_of_the_user_does_not_matter(tmp_path):
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.hashsalt: other\naxes.grid: True\n")
    code = (
        "from tests.report.test_plots import FIGURES, svg\n"
        "import hashlib\n"
        "print(hashlib.sha256(svg(FIGURES['speedups']()).encode()).hexdigest())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, **extra},
        ).stdout
        for seed, extra in (("1", {}), ("2", {"MATPLOTLIBRC": str(tmp_path)}))
    ]
    assert said[0] == said[1]


def test_a_figure_is_saved_as_its_name_says(tmp_path):
    save(FIGURES["funnel"](), tmp_path / "f.svg")
    save(FIGURES["funnel"](), tmp_path / "f.png")
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
