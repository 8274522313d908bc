"""What a check may conclude. A verdict is never stronger than its evidence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Proved:
    """Holds for all values that meet ``facts``: a solver found no counterexample."""

    by: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sampled:
    """Equal at ``points`` random points; ``log2_bound``: the binary logarithm of the chance of
    a wrong accept (below -60 by default), as computed for this very pair."""

    points: int
    log2_bound: float
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refuted:
    """Differs at ``at`` (name, value), which was evaluated again; ``what`` says how."""

    at: tuple[tuple[str, str], ...]
    what: str = ""


@dataclass(frozen=True)
class Unknown:
    """Nothing can be concluded, because of ``why``."""

    why: str


Verdict = Proved | Sampled | Refuted | Unknown


def accepted(verdict: Verdict, log2_limit: float = -60.0) -> bool:
    """Whether the verdict suffices to ship: proved, or sampled below the limit."""
    match verdict:
        case Proved():
            return True
        case Sampled(log2_bound=bound):
            return bound < log2_limit
        case Refuted() | Unknown():
            return False


def spoken(verdict: Verdict) -> str:
    """A verdict in words, as strong as it is and no stronger."""
    match verdict:
        case Proved(by=by, facts=facts):
            return f"proved by {by}" + (f", assuming {'; '.join(facts)}" if facts else "")
        case Sampled(points=points, log2_bound=bound):
            return f"sampled at {points} points; a wrong accept has probability below 2^{bound:.0f}"
        case Refuted(at=at, what=what):
            where = ", ".join(f"{n} = {v}" for n, v in at)
            return f"REFUTED {what} at {where}"
        case Unknown(why=why):
            return f"unknown: {why}"


def objection(claim: str, verdict: Verdict) -> str:
    """Why a claim is not accepted, in words; empty if it is."""
    return "" if accepted(verdict) else f"{claim}: {spoken(verdict)}"
