"""What becomes of mutants, counted: by kind, and by who finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from superopt.mutate.judge import EQUIVALENT
from superopt.mutate.judge import EXECUTION
from superopt.mutate.judge import NOT_JUDGED
from superopt.mutate.judge import Outcome
from superopt.mutate.outcome import FIELD
from superopt.mutate.outcome import GRAPH
from superopt.mutate.outcome import ORDER
from superopt.mutate.outcome import ROLES
from superopt.mutate.outcome import SURVIVED
from superopt.mutate.outcome import SYMBOLIC
from superopt.mutate.outcome import VOCABULARY

COLUMNS = (
    VOCABULARY,
    GRAPH,
    FIELD,
    ROLES,
    ORDER,
    SYMBOLIC,
    EXECUTION,
    EQUIVALENT,
    NOT_JUDGED,
    SURVIVED,
)


def counted(outcomes: Iterable[tuple[str, Outcome]]) -> dict[str, Counter[str]]:
    """By a name (a kernel's, say, or a kind's) how many were found by whom."""
    found: dict[str, Counter[str]] = {}
    for name, outcome in outcomes:
        found.setdefault(name, Counter())[outcome.by] += 1
    return found


def lines(what: str, counts: dict[str, Counter[str]]) -> list[str]:
    """The counts as a table of Markdown, with a row of sums."""
    used = [c for c in COLUMNS if any(row[c] for row in counts.values())]
    used += sorted({c for row in counts.values() for c in row} - set(COLUMNS))
    total: Counter[str] = sum(counts.values(), Counter())
    head = ["| " + " | ".join([what, "mutants", *used]) + " |", "|---" * (len(used) + 2) + "|"]
    rows = [*counts.items(), ("all", total)]
    return head + [
        "| " + " | ".join([name, str(row.total()), *(str(row[c]) for c in used)]) + " |"
        for name, row in rows
    ]
