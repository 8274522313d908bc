"""What the markdown page says of measured times, beside what the model said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from superopt.report.summary import Funnel
from superopt.report.summary import correlation
from superopt.report.summary import measured_share
from superopt.report.summary import winning
from superopt.run import CaseRun
from superopt.run import Run
from superopt.tune.timing import MeasuredTime
from superopt.tune.timing import PeerTime
from superopt.tune.timing import Timing
from superopt.ugraph.levels import Config
from superopt.ugraph.text import show

SHOWN = 10  # measurements, and reasons of failures, a case


def winner_words(result: CaseRun, timing: Timing) -> str:
    """The time of the winner: by the clock if it has one, and by the model."""
    winner = result.winner
    if winner is None:
        return "no verified kernel"
    by_model = f"{winner.model_us:.1f} us by the model"
    if (found := winning(result, timing)) is None:
        return f"{by_model}, {winner.share:.0%} of the roofline"
    return f"{spread(found)} measured, {_percent(result, found)} of the roofline; {by_model}"


def untimed_words(result: CaseRun, timing: Timing) -> str:
    """Why the winner of a case has no time."""
    if result.untimed:
        return result.untimed
    if timing.measured:
        return "it has no time with its Configs"
    return "no GPU was used" if timing.machine is None else "it was not tried on the device"


def spread(found: MeasuredTime | PeerTime) -> str:
    """``12.5 us (12.3 to 13.0)``: median and quartiles."""
    return f"{found.us:.1f} us ({found.low:.1f} to {found.high:.1f})"


def ratio_words(peer: PeerTime) -> str:
    """``1.03x (1.02 to 1.05)``: the peer's time over ours, with quartiles; or why none."""
    if peer.ratio is None:
        return peer.why or "no time"
    return f"{peer.ratio:.2f}x ({peer.ratio_low:.2f} to {peer.ratio_high:.2f})"


def peer_words(peer: PeerTime) -> str:
    """The peer's name, and whether it is none that computes the operator."""
    return f"{peer.name} (yardstick)" if peer.yardstick else peer.name


def tried(found: Funnel) -> Iterator[str]:
    """Rows of the funnel's table: what went to the device."""
    if found.tried:
        yield f"| tried on the device (a graph with its Configs) | {found.tried} |"
        for stage, number in found.failed:
            yield f"| of these, failed: {stage} | {number} |"
        yield f"| of these, timed | {found.timed} |"


def measured(result: CaseRun, timing: Timing) -> Iterator[str]:
    """The section of one case on its measurements, or the line that there are none."""
    if not timing.measured:
        if result.winner is not None:
            yield f"Not timed: {cell(untimed_words(result, timing))}; ranked by the model."
            yield ""
        return
    assert timing.machine
    yield f"### Measured on {timing.machine.gpu}"
    yield ""
    yield (
        f"Driver {timing.machine.driver}, torch {timing.machine.torch}, triton "
        f"{timing.machine.triton}, superopt {timing.machine.superopt}."
    )
    yield ""
    yield from _times(result, timing)
    yield from _failures(timing)
    yield from _peers(timing)


def _times(result: CaseRun, timing: Timing) -> Iterator[str]:
    ranked = sorted((m for m in timing.last if m.us is not None), key=lambda m: (m.us, m.order))
    if not ranked:
        yield "No candidate has a time."
        yield ""
        return
    rho = correlation(timing)
    yield (
        f"{len(ranked)} have a time. Rank correlation of model and measurement: "
        + ("none (too few, or all alike)." if rho is None else f"{rho:.2f} (Spearman).")
    )
    yield ""
    yield "| candidate | configs | measured (quartiles) | rounds | of roofline | by the model |"
    yield "|---|---|---|---|---|---|"
    won = winning(result, timing)
    for m in ranked[:SHOWN]:
        word = " (winner)" if m is won else ""
        yield (
            f"| `{m.digest[:12]}`{word} | {cell(configs_words(m.configs))} | {spread(m)} "
            f"| {m.rounds} | {_percent(result, m)} | {m.model_us:.1f} us |"
        )
    if len(ranked) > SHOWN:
        yield ""
        yield f"And {len(ranked) - SHOWN} more; run.json holds them all."
    yield ""


def _percent(result: CaseRun, found: MeasuredTime) -> str:
    share = measured_share(result, found)
    return "" if share is None else f"{share:.0%}"


def _failures(timing: Timing) -> Iterator[str]:
    counted = Counter((m.stage, m.why) for m in timing.last if not m.timed)
    if not counted:
        return
    yield "| failed | why | number |"
    yield "|---|---|---|"
    for (stage, why), number in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[
        :SHOWN
    ]:
        yield f"| {stage} | {cell(why)} | {number} |"
    if len(counted) > SHOWN:
        yield ""
        yield f"And {len(counted) - SHOWN} more reasons; run.json holds them all."
    yield ""


def _peers(timing: Timing) -> Iterator[str]:
    if not timing.peers:
        return
    yield "| peer | mode | time (quartiles) | its time over ours (quartiles) |"
    yield "|---|---|---|---|"
    for p in timing.peers:
        time = "" if p.us is None else spread(p)
        yield f"| {cell(peer_words(p))} | {p.mode} | {time} | {cell(ratio_words(p))} |"
    yield ""


def configs_words(configs: tuple[Config, ...]) -> str:
    """The Configs of a candidate on one line."""
    return "; ".join(show(c).strip().removeprefix("config ") for c in configs)


def executed(run: Run) -> Iterator[str]:
    """What the page must say of where kernels ran, and of where its times come from."""
    timing = run.timing
    timed = [c.case.dtype or "" for c in run.cases if winning(c, timing.of(c.case.name))]
    if not timed or timing.machine is None:
        yield "Executed on the CPU by Triton's interpreter. bf16 on this GPU: not executed."
        yield "Times are the roofline model's; nothing was timed."
        return
    dtypes = ", ".join(sorted(set(timed)))
    yield (
        "Executed on the CPU by Triton's interpreter, and winners that have a time on "
        f"{timing.machine.gpu} at their own sizes ({dtypes}), compared at sampled positions."
    )
    yield (
        'Times are medians of rounds on that GPU; times "by the model" are the roofline model\'s. '
        "A candidate that failed its check has no time."
    )


def cell(text: str) -> str:
    """``text`` as it may stand in a table."""
    return text.replace("|", "\\|").replace("\n", " ")
