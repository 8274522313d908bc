"""The first way to join results of parts that holds, or what the outputs fail to tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from itertools import islice

from superopt.errors import NoRepair
from superopt.merge.derive import Merging
from superopt.merge.derive import Splitting
from superopt.merge.derive import splitting
from superopt.merge.judge import Claim
from superopt.merge.judge import differs
from superopt.merge.judge import judged
from superopt.repair.record import words
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import topo
from superopt.verify.verdict import accepted

MOST_TRIED = 12
MOST_TOLD = 2  # states that a refusal asks for
MOST_ASKED = 12  # ways to choose them

Found = tuple[Merging, tuple[Claim, ...]]


def merge(program: Program, axis: str, seed: int = 0) -> Found:
    """How results of parts of ``axis`` are joined, with what was judged of it.

    Raises:
        NoRepair: no way is known, or none that holds; the message names the term, or the states
            that the outputs do not tell.
    """
    split = splitting(program, axis)
    for merging in _likely(split, seed):
        claims = judged(program, merging, seed)
        if all(accepted(verdict) for _, verdict in claims):
            return merging, claims
    for told in islice(_more(split), MOST_ASKED):
        more = replace(split, told=tuple(c.name for c in told))
        if next(_likely(more, seed), None) is not None:
            states = " and ".join(f"{c.fold.symbol}[{axis}] of {words(c.term)}" for c in told)
            raise NoRepair(
                f"the outputs do not tell enough of a part; they do with {states} beside them"
            )
    raise NoRepair("the outputs do not tell enough of a part to join it to others")


def folded(program: Program) -> tuple[str, ...]:
    """The axes over which something is folded, in the order of first use."""
    made = {a for a, _ in program.fixed}
    nodes = topo(s.value for s in program.outputs)
    folds = (n for n in nodes if isinstance(n, Reduce | Recur))
    return tuple(dict.fromkeys(n.axis for n in folds if n.axis not in made))


def _likely(split: Splitting, seed: int) -> Iterator[Merging]:
    """The ways that no point in float64 speaks against."""
    ways = islice(split.mergings(), MOST_TRIED)
    return (merging for merging in ways if not differs(split.program, merging, seed))


def _more(split: Splitting) -> Iterator[tuple[Carry, ...]]:
    """Few states that might be outputs, too."""
    for count in range(1, MOST_TOLD + 1):
        yield from combinations([c for c in split.carries if c is not split.count], count)
