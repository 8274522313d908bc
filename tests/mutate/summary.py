"""``python -m tests.mutate.summary FILE ...``: the page of a run of ``tests.mutate.offline``."""

from __future__ import annotations

import sys
from pathlib import Path

from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.table import counted
from superopt.mutate.table import lines
from tests.mutate.offline import Rows
from tests.mutate.offline import rows
from tests.mutate.subjects import SUBJECTS

INTRO = """# Mutants

Printed by `python -m tests.mutate.summary`, of what `python -m tests.mutate.offline` wrote: texts
of kernels with one thing changed, and which reading found each
([why and how](decisions/0035-mutants-put-the-verifier-to-the-test.md)). *vocabulary*: the text is
no Python, or uses a word in a way that the readings have no meaning for; it is refused.
*execution*: found by no reading, but in Triton's interpreter. *equivalent*: shown by machine to
compute the same; *open*: it survived the readings, and no reason was looked for yet.
"""
LONGEST = 160  # characters of a diff's line


def page(known: Rows) -> str:
    """Mutants by kernel and by kind, reasons of equivalents, and what survived."""
    found = [
        (r["subject"], Outcome(r["kind"], r["by"], r["said"], r["diff"])) for r in known.values()
    ]
    found.sort(key=lambda pair: (pair[0], pair[1].kind, pair[1].diff))
    what = {f"{n} {g}": said for (n, g), said in SUBJECTS.items()}
    kernels = counted((f"{name} ({what[name]})", o) for name, o in found)
    kinds = counted((o.kind, o) for _, o in found)
    reasons = counted((o.said, o) for _, o in found if o.by == EQUIVALENT)
    out = [INTRO, "## By kernel", "", *lines("kernel", kernels)]
    out += ["", "## By kind of change", "", *lines("kind", kinds)]
    out += ["", "## Why equivalent mutants are", "", *lines("reason", reasons)]
    left = [(name, o) for name, o in found if o.by == SURVIVED]
    out += ["", "## Not found, and not explained", ""]
    for name, outcome in left:
        changed = [line[:LONGEST] for line in outcome.diff.splitlines()]
        out += [f"{name}, {outcome.kind}:", "", "```diff", *changed, "```", ""]
    return "\n".join(out if left else [*out, "None."]).rstrip() + "\n"


if __name__ == "__main__":
    merged: Rows = {}
    for argument in sys.argv[1:]:
        merged |= rows(Path(argument))
    print(page(merged), end="")
