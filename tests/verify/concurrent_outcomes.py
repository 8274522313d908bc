"""What becomes of mutants of concurrency: which engine sees each, or why none does.

``python -m tests.verify.concurrent_outcomes --count 1000`` reads so many mutants of all subjects
and prints how many each engine sees. One that is accepted must agree with its spec under schedules
drawn by an adversary, which knows nothing of clocks and lets every effect come as early or as late
as it may; one that does not is a hole in the reading, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from functools import partial

from superopt.verify.source.concurrent.machine import RolesMachine
from tests.verify.source.concurrent.adversary import ChanceMachine
from tests.verify.source.concurrent.mutants import Mutant
from tests.verify.source.concurrent.mutants import mutants
from tests.verify.source.concurrent.subjects import UNKNOWN
from tests.verify.source.concurrent.subjects import Reading
from tests.verify.source.concurrent.subjects import subjects

SCHEDULES = 6
VALUES, TEXT, EQUIVALENT, SURVIVED = "values", "the text itself", "equivalent", "survived"
NOT_READ = "not read"


def every() -> list[tuple[str, Mutant, Reading]]:
    """All mutants of all subjects."""
    return [
        (name, mutant, read)
        for name, (text, read) in subjects().items()
        for mutant in mutants(text)
    ]


def sample(count: int, seed: int = 0) -> list[tuple[str, Mutant, Reading]]:
    """Some of them, drawn without repetition."""
    found = every()
    return random.Random(seed).sample(found, min(count, len(found)))


def outcome(text: str, read: Reading, schedules: int = SCHEDULES) -> str:
    """Who sees the mutant; or that none does, and whether the adversary agrees."""
    seen = read(text, RolesMachine)
    if seen.engines:
        return " and ".join(sorted(seen.engines))
    if seen.said:
        if seen.said.startswith(UNKNOWN):  # a variable without a value compiles nowhere
            return TEXT if "UnboundLocalError" in seen.said else NOT_READ
        return VALUES if "differs" in seen.said or "should be" in seen.said else TEXT
    for seed in range(schedules):
        if read(text, partial(ChanceMachine, seed=seed)).said:
            return SURVIVED
    return EQUIVALENT


def main(count: int, seed: int) -> int:
    """Prints the outcomes."""
    begin, found = time.monotonic(), Counter[str]()
    kinds: Counter[tuple[str, str]] = Counter()
    for name, mutant, read in sample(count, seed):
        what = outcome(mutant.text, read)
        found[what] += 1
        if not found.total() % 100:
            print(f"{found.total()}: {dict(found)}", flush=True)
        kinds[mutant.what, what] += 1
        if what in (SURVIVED, NOT_READ):
            print(f"{what}: {name}: {mutant.what}: {mutant.at}", flush=True)
    print(f"{found.total()} mutants in {time.monotonic() - begin:.0f} s")
    for what, number in found.most_common():
        print(f"{number:6} {what}")
    for (kind, what), number in sorted(kinds.items()):
        if what == EQUIVALENT:
            print(f"{number:6} equivalent, of kind {kind!r}")
    return int(found[SURVIVED] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(main(given.count, given.seed))
