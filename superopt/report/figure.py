"""How figures look, and how they become text: the same data gives the same bytes.

Colours are those of Okabe and Ito, which people tell apart whatever their colour vision; what a
colour says, a shape or a word says too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
GREY = "#7F7F7F"
PALE = "#DDDDDD"
INK = "#222222"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY)
SHAPES = ("o", "s", "^", "D", "v")

_STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "svg.hashsalt": "superopt",
    "svg.fonttype": "path",
    "figure.facecolor": "white",
}


@dataclass(frozen=True)
class Shown:
    """A figure of the page."""

    title: str
    caption: str
    svg: Markup


def shown(title: str, caption: str, figure: Figure) -> Shown:
    """``figure`` as it stands in the page."""
    from markupsafe import Markup

    return Shown(title, caption, Markup(svg(figure)))


@contextmanager
def styled() -> Iterator[None]:
    """Within it, figures are made and saved in this style, whatever the user's settings are."""
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def new(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of ``width`` by ``height`` inches with ``columns`` axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def svg(figure: Figure) -> str:
    """The figure as one ``<svg>`` element, to stand in a page."""
    with styled(), io.StringIO() as out:
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        text = out.getvalue()
    found = re.search(r"<svg.*</svg>", text, re.DOTALL)
    assert found
    element = re.sub(r"\s*<metadata>.*?</metadata>", "", found[0], flags=re.DOTALL)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', element))
    element = re.sub(  # several figures stand in one page, where an id may be there only once
        r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", element
    )
    return re.sub(r"[ \t]+$", "", element, flags=re.MULTILINE)


def save(figure: Figure, file: Path) -> None:
    """Writes the figure; the file's name says in which format."""
    options: dict[str, Any] = {"metadata": {"Date": None}} if file.suffix == ".svg" else {}
    with styled():
        figure.savefig(file, dpi=110, **options)
