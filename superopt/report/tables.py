"""The tables of the HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.report.claims import Claim
from superopt.report.claims import Lists
from superopt.report.measured import SHOWN
from superopt.report.measured import configs_words
from superopt.report.measured import peer_words
from superopt.report.measured import ratio_words
from superopt.report.measured import spread
from superopt.report.summary import correlation
from superopt.report.summary import measured_share
from superopt.report.summary import winning
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Run
from superopt.tune.timing import Timing


@dataclass(frozen=True)
class Table:
    """A table of the page. ``numbers``: columns of numbers; ``won``: the row of the winner."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    won: int | None = None


def trimmed(table: Table) -> Table:
    """``table`` without columns that are empty in every row."""
    kept = [i for i in range(len(table.heads)) if any(row[i] for row in table.rows)]
    return Table(
        table.title,
        tuple(table.heads[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in table.rows),
        tuple(new for new, i in enumerate(kept) if i in table.numbers),
        table.won,
    )


def overview(run: Run) -> Table:
    """One row a case: the winner, its times, and the nearest peer."""
    rows = []
    for c in run.cases:
        timing = run.timing.of(c.case.name)
        found = winning(c, timing)
        share = measured_share(c, found) if found else None
        rho = correlation(timing)
        ratios = [p for p in timing.peers if p.ratio is not None and not p.yardstick]
        nearest = min(ratios, key=lambda p: p.ratio or 0.0, default=None)
        rows.append(
            (
                c.case.name,
                c.winner.digest[:12] if c.winner else "none",
                spread(found) if found else "not timed" if c.winner else "",
                "" if share is None else f"{share:.0%}",
                f"{c.winner.model_us:.1f} us" if c.winner else "",
                "" if rho is None else f"{rho:.2f}",
                f"{nearest.name}: {ratio_words(nearest)}" if nearest else "",
            )
        )
    heads = (
        *("case", "winner", "measured (quartiles)", "of roofline", "by the model"),
        *("rank correlation", "best peer's time over ours"),
    )
    return Table("Winners", heads, tuple(rows), (2, 3, 4, 5))


def peers(run: Run) -> Table:
    """One row a peer and mode."""
    rows = tuple(
        (p.case, peer_words(p), p.mode, "" if p.us is None else spread(p), ratio_words(p))
        for p in run.timing.peers
    )
    return Table(
        "Peers",
        ("case", "peer", "mode", "time (quartiles)", "its time over ours (quartiles)"),
        rows,
        (3, 4),
    )


def gone(result: CaseRun) -> Table:
    """Why candidates of a case were not built, and how many."""
    counts = result.counts
    rejected = tuple((f"rejected: {why}", str(n)) for why, n in counts.rejected)
    pruned = tuple((f"pruned: {bound}", str(n)) for bound, n in counts.pruned)
    return Table("Why candidates were not built", ("reason", "number"), rejected + pruned, (1,))


def fastest(result: CaseRun, timing: Timing) -> Table:
    """The fastest measurements of a case."""
    ranked = sorted((m for m in timing.last if m.us is not None), key=lambda m: (m.us, m.order))
    won = winning(result, timing)
    rows = []
    for m in ranked[:SHOWN]:
        share = measured_share(result, m)
        rows.append(
            (
                m.digest[:12],
                configs_words(m.configs),
                spread(m),
                str(m.rounds),
                "" if share is None else f"{share:.0%}",
                f"{m.model_us:.1f} us",
            )
        )
    heads = (
        "candidate",
        "configs",
        "measured (quartiles)",
        "rounds",
        "of roofline",
        "by the model",
    )
    index = next((i for i, m in enumerate(ranked[:SHOWN]) if m is won), None)
    return Table(f"The fastest of {len(ranked)}", heads, tuple(rows), (2, 3, 4, 5), index)


def failures(timing: Timing) -> Table:
    """What failed on the device, and how often."""
    counted = Counter((m.stage, m.why) for m in timing.last if not m.timed)
    order = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = tuple((stage, why, str(n)) for (stage, why), n in order)
    return Table("What failed on the device", ("stage", "why", "number"), rows, (2,))


def of_claims(title: str, found: Sequence[Claim]) -> Table:
    """The claims; ``title`` with their number. Those that were reached in the same way share a row.
    Cases are named where a graph was judged in others, too."""
    judged = {c.digest: {name for o in found if o.digest == c.digest for name in o.cases}
              for c in found}  # fmt: skip
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for c in found:
        only = f" ({', '.join(c.cases)})" if len(c.cases) < len(judged[c.digest]) else ""
        row = (c.reading, c.evidence, "; ".join(c.facts), c.digest[:6] + only)
        alike.setdefault(row, []).append(c.short)
    rows = tuple((row[0], "; ".join(texts), *row[1:]) for row, texts in alike.items())
    heads = ("read", "claim", "evidence", "given", "graph")
    return Table(f"{title}: {len(found)}", heads, rows)


def of_lists(lists: Lists) -> tuple[Table, Table, Table]:
    """Proved, sampled, and what is neither."""
    return (
        of_claims("Proved", lists.proved),
        of_claims("Sampled", lists.sampled),
        of_claims("Neither proved nor sampled", lists.still_open),
    )


def compared(winner: Candidate) -> Table:
    """Every output of every execution beside its limits."""
    rows = tuple(
        (
            f.dtype,
            f.label,
            " ".join(f"{a}={n}" for a, n in f.sizes),
            f.output,
            f"{f.rel:.1e} ({f.rel_limit:.1e})",
            f"{f.worst:.1e} ({f.worst_limit:.1e})",
            f"{f.used:.0%}" if f.ok else f"FAILED {f.message}",
        )
        for f in winner.figures
    )
    heads = ("dtype", "inputs", "sizes", "output", "error (limit)", "element (limit)", "used")
    return Table(f"Outputs compared: {len(rows)}", heads, rows, (4, 5, 6))


def compiled(found: Sequence[tuple[str, Candidate]]) -> Table:
    """What the compiler said of (name of a case, its winner): of the launches of its Configs first,
    then of those that other devices get, whose Configs are in the kernel file."""
    rows = tuple(
        (
            case,
            configs_words(winner.configs) if number < len(winner.configs) else "of its own row",
            fact.target,
            fact.function,
            f"{fact.shared_bytes} B",
            str(fact.registers),
            f"{fact.spill_bytes} B",
        )
        for case, winner in found
        for number, fact in enumerate(winner.facts)
    )
    heads = ("case", "configs", "for", "function", "shared memory", "registers", "spills")
    return Table("Compiled", heads, rows, (4, 5, 6))
