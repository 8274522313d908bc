"""What the HTML page shows of one winning graph: picture, derivation, repairs, errors, numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from superopt.report import tables
from superopt.report.errors import errors
from superopt.report.evidence import winners
from superopt.report.figure import Shown
from superopt.report.figure import shown
from superopt.report.picture import drawn
from superopt.report.picture import picture
from superopt.report.roles import roles_of
from superopt.report.roles import thread_boxes
from superopt.report.told import Law
from superopt.report.told import Told
from superopt.report.told import repairs_of
from superopt.report.told import step
from superopt.run import Candidate
from superopt.run import Run
from superopt.ugraph.text import show

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Winner:
    """One graph that won ``cases``. ``repairs``: in the order in which claims number them."""

    digest: str
    cases: str
    picture: Shown
    roles: tuple[Shown, ...]
    laws: tuple[Law, ...]
    repairs: tuple[Told, ...]
    errors: Shown | None
    tables: tuple[tables.Table, ...]
    text: str


def shown_winners(run: Run) -> list[Winner]:
    """All graphs that won, in the order of cases."""
    return [_winner(run, candidate, names) for candidate, names in winners(run)]


def _winner(run: Run, winner: Candidate, names: tuple[str, ...]) -> Winner:
    short = winner.digest[:12]
    own = [(c.case.name, c.winner) for c in run.cases if c.winner and c.case.name in names]
    return Winner(
        short,
        ", ".join(names),
        Shown(
            f"Picture of {short}",
            "Kernels, and walks in them; arrows are tensors read and stored. Choices at single "
            "values of states (guards) are left out here; the text of the graph has them.",
            _markup(picture(winner.graph)),
        ),
        tuple(_roles(run, names)),
        tuple(map(step, winner.derivation)),
        repairs_of(winner),
        _errors(winner),
        (tables.compared(winner), tables.compiled(own)),
        show(winner.graph).rstrip(),
    )


def _roles(run: Run, names: tuple[str, ...]) -> Iterator[Shown]:
    """Pictures of the launches with roles."""
    known: dict[str, None] = {}
    for one in run.cases:
        for roles in (
            roles_of(one.winner, one.case) if one.winner and one.case.name in names else ()
        ):
            title = f"Roles of launch {roles.launch} ({one.case.name})"
            svg = drawn(thread_boxes(roles), title)
            if svg.partition(title)[2] in known:
                continue
            known[svg.partition(title)[2]] = None
            yield Shown(
                title,
                "The warps of one program: the producer fills rings of slots, consumers do what "
                "stands in their box in this order; [-1] is for the iteration before.",
                _markup(svg),
            )


def _errors(winner: Candidate) -> Shown | None:
    if not any(f.rel_limit for f in winner.figures):
        return None
    caption = (
        "Each point is one output of one execution, against the float64 meaning of the spec; the "
        "nearer one of its two limits counts."
    )
    title = f"Errors of {winner.digest[:12]} by family of inputs"
    return shown(title, caption, errors(winner.figures))


def _markup(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)
