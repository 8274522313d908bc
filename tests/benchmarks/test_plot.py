from __future__ import annotations

import json

from benchmarks import plot


def row(name, mode="graph", ratio=None, **more):
    found = {"name": name, "mode": mode, "failed": "", "wrong": "", "checked": True, **more}
    if ratio is not None:
        found |= {"ratio": ratio, "ratio_low": ratio - 0.01, "ratio_high": ratio + 0.02}
    return found


BENCH = {
    "tool": "superopt bench",
    "function": "rows",
    "cases": [
        {
            "case": "square",
            "rows": [
                row("superopt", ratio=1.0),
                row("eager", ratio=3.5),
                row("eager", "eager", ratio=4.5),
                row("copy", ratio=0.8, checked=False),
                row("wild", ratio=0.9, wrong="element 3"),
                row("broken", failed="out of memory"),
            ],
        },
        {"case": "long", "problem": "a hang"},
    ],
}
TABLE = {
    "tool": "superopt table",
    "workloads": [
        {"name": "rows 8192", "required": {"eager": 3.0}, "problem": "", "bench": BENCH},
        {"name": "lost", "required": {"eager": 1.0}, "problem": "a hang", "bench": None},
    ],
}


def test_every_comparison_is_a_line():
    found = plot.rows(BENCH)
    assert [(r.workload, r.peer, r.mode, r.ratio) for r in found] == [
        ("rows square", "eager", "graph", 3.5),
        ("rows square", "eager", "eager", 4.5),
        ("rows square", "copy", "graph", 0.8),
        ("rows square", "wild WRONG OUTPUT", "graph", 0.9),
    ]
    assert [r.peer for r in found if r.yardstick] == ["copy"]
    assert plot.without(BENCH) == ["rows square: broken (graph)", "rows long"]


def test_a_table_has_names_and_aims():
    found = plot.rows(TABLE, "eager")
    assert [(r.workload, r.ratio, r.aim) for r in found] == [("rows 8192", 4.5, 3.0)]
    assert [r.aim for r in plot.rows(TABLE)] == [3.0, 3.0, None, None]
    assert plot.without(TABLE) == ["rows 8192: broken (graph)", "lost"]


def test_a_figure_is_written_and_what_is_missing_is_said(tmp_path, capsys):
    (tmp_path / "r.json").write_text(json.dumps(TABLE))
    assert plot.main([str(tmp_path / "r.json"), "--out", str(tmp_path / "s.svg")]) == 0
    assert "<svg" in (tmp_path / "s.svg").read_text()
    said = capsys.readouterr().out
    assert "s.svg: 4 lines\n" in said
    assert "not in it, for it has no ratio: lost\n" in said


def test_what_cannot_be_plotted_is_said(tmp_path, capsys):
    file = tmp_path / "r.json"
    arguments = [str(file), "--out", str(tmp_path / "s.svg")]
    for text, code, words in (
        ("{}", 2, "neither of superopt bench nor of table.py"),
        ("{", 2, "no results to plot: JSONDecodeError"),
        ('{"tool": "superopt table", "workloads": []}', 1, "no contender has a ratio to ours"),
    ):
        file.write_text(text)
        assert plot.main(arguments) == code
        assert words in capsys.readouterr().err
