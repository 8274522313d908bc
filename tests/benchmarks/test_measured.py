"""The tables of measured times say what the results say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks.table import ratios
from benchmarks.table import rows_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "benchmarks" / "README.md").read_text()
ROW = re.compile(r"^\| ([\w, /]+) \| ([\d.]+) \| (\d+%) \| (.+) \| (.*) ?\|$", re.M)
SHORT = re.compile(r"^\| .+ \| ([\d.]+) \| (\d+%) \| (.+) \|$", re.M)
FILES = (  # of what two have, the later one is in the table
    "attention_2026-11-30_h200_paced",
    "attention_2026-11-30_h200_long",
    "attention_2026-11-30_h200_masked",
    "attention_2026-11-30_h200_softcap",
    "matmul_2026-11-30_h200_pingpong-longer",
    "matmul_2026-11-30_h200_pingpong",
    "matmul_2026-11-30_h200_8192",
)
BEFORE = ("table_2026-11-29_h200", "table_2026-11-29_h200_two-more")
ELSEWHERE = "matmul-8192"  # a yardstick that is said in words


def measured(names=FILES):
    """By workload: our time, our share of the roofline, and the time of each peer over ours."""
    found = {}
    for name in names:
        text = (ROOT / "benchmarks" / "results" / f"{name}.json").read_text()
        for entry in json.loads(text)["workloads"]:
            for ours in rows_of(entry)[:1]:
                by = {n: f"{r:.3f}" for n, r in ratios(entry).items() if n != ELSEWHERE}
                found[entry["name"]] = f"{ours['us']:.1f}", f"{ours['share']:.0%}", by
    return found


def test_every_measured_workload_is_in_the_table_as_it_was_measured():
    said = {}
    for name, us, share, first, others in ROW.findall(PAGE):
        peers = [p.strip(" *") for p in f"{first}, {others}".split(", ")]
        by = dict(p.replace("*", "").split(" ") for p in peers if p)
        said[name] = us, share, by
    today, before = measured(), measured(BEFORE)
    assert {n: r for n, r in said.items() if n in today} == today
    assert all(r == before[n] for n, r in said.items() if n not in today)


def test_the_fastest_peer_comes_first():
    for _, _, _, first, others in ROW.findall(PAGE):
        rivals = [float(p.split(" ")[1]) for p in others.split(", ") if p.strip() and "*" not in p]
        assert float(first.split(" ")[1]) <= min(rivals, default=float("inf"))


def test_the_short_table_has_figures_of_the_long_one():
    section = (ROOT / "README.md").read_text().split("## How it compares")[1]
    rows = SHORT.findall(section)
    assert len(rows) >= 5
    known = {(us, share): by for us, share, by in measured(BEFORE + FILES).values()}
    for us, share, peers in rows:
        assert set(re.findall(r"\d+\.\d{3}", peers)) <= set(known[us, share].values())
