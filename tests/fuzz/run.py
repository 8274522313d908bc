"""Many random specs through the whole line: ``python -m tests.fuzz.run --count 500 --seed 0``.

Prints a line for every spec, and a table at the end. With ``--keep`` the texts of those that are
not verified go to a folder; with ``--log`` outcomes go to a file, and a run goes on where the one
before ended. ``--part 2/8`` takes every eighth spec from the second on, for runs side by side.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import seed as seeded
from hypothesis import settings

from tests.fuzz.generate import specs
from tests.fuzz.line import Outcome
from tests.fuzz.line import follow
from tests.fuzz.line import shared_processes
from tests.parts import Part


def drawn(count: int, seed: int) -> list[str]:
    """``count`` different texts, the same for the same seed."""
    found: dict[str, None] = {}
    for part in range(20):
        wanted = settings(
            max_examples=count,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )

        @seeded(seed * 1000 + part)
        @wanted
        @given(specs())
        def collect(text: str) -> None:
            found.setdefault(text)

        collect()
        if len(found) >= count:
            break
    return list(found)[:count]


def shape(why: str) -> str:
    """A reason without its names and numbers, so that like reasons are counted together."""
    last = why.strip().splitlines()[-1] if why.strip() else "no reason"
    return re.sub(r"\d+(\.\d+)?(e[-+]\d+)?", "#", re.sub(r"'[^']*'", "'_'", last))[:150]


def main() -> int:
    """0 if nothing crashed, nothing was found wrong, and every refusal has a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--part", type=Part.parse, default=Part(), metavar="K/N")
    options = parser.parse_args()
    outcomes = logged(options.log)
    with shared_processes(options.compile), tempfile.TemporaryDirectory() as scratch:
        for number, text in options.part.chosen(enumerate(drawn(options.count, options.seed))):
            if text in outcomes:
                continue
            folder = Path(scratch) / str(number)
            folder.mkdir()
            file = folder / f"fuzzed_{number}.py"
            file.write_text(text)
            try:
                outcome = follow(file, folder)
            except KeyboardInterrupt:
                break
            outcomes[text] = outcome
            why = shape(outcome.why) if outcome.why else ""
            print(f"{number}: {outcome.end} ({outcome.seconds} s) {why}", flush=True)
            if outcome.suspect:
                print(text, outcome.why, *outcome.doubts, sep="\n", flush=True)
            if options.keep and outcome.end != "verified":
                options.keep.mkdir(exist_ok=True, parents=True)
                (options.keep / file.name).write_text(text)
            if options.log:
                with options.log.open("a") as log:
                    log.write(json.dumps({"text": text, "outcome": asdict(outcome)}) + "\n")
    table = Counter((o.end, shape(o.why) if o.why else "") for o in outcomes.values())
    for (end, why), times in table.most_common():
        print(f"{times:5} {end}: {why}")
    seconds = sum(o.seconds for o in outcomes.values())
    bad = sum(o.suspect for o in outcomes.values())
    print(f"{len(outcomes)} specs, {bad} to be looked at, {seconds:.0f} s")
    return 1 if bad else 0


def logged(file: Path | None) -> dict[str, Outcome]:
    """The outcome of each text in a log; the last line about a text counts."""
    if file is None or not file.exists():
        return {}
    rows = map(json.loads, file.read_text().splitlines())
    held = ((r["text"], r["outcome"]) for r in rows)
    return {t: Outcome(o["end"], o["why"], tuple(o["doubts"]), o["seconds"]) for t, o in held}


if __name__ == "__main__":
    raise SystemExit(main())
