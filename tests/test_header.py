from __future__ import annotations

from dataclasses import replace

from superopt.commands.doctor_kernel import PLAIN
from superopt.commands.doctor_kernel import SIZES
from superopt.commands.doctor_kernel import parsed
from superopt.emit.module import MARKER
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.header import launch_words
from superopt.header import wrapped
from superopt.header import written
from superopt.ugraph.levels import Config


def test_lines_are_broken_and_indented():
    text = wrapped(["  a: " + "word " * 30, "b"], width=40)
    lines = text.splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("      word")
    assert lines[-1] == "b"
    assert wrapped([]) == ""


def test_the_header_of_a_kernel(searched):
    head = searched.kernel.read_text().partition(MARKER)[0]
    assert all(len(i) <= 100 for i in head.splitlines() if not i.startswith("# sha256 of"))
    assert all(line.startswith("#") for line in head.splitlines())
    for word in ("Spec:", "def softmax(", "Derivation:", "Verdict:", "Tuning:", "reads max0 too"):
        assert word in head
    assert "Not executed: bf16" in head
    assert head.count("graph 0 (") == 2


def test_what_is_printed_is_read_back():
    spec = "@spec()\ndef f(x):\n\n    return x  # Verdict: fine"
    header = Header(spec, "as written", "graph 0:\n  it holds", "case: n=1")
    rows = [Row("case", 0, (PLAIN,), SIZES)]
    program, graph = parsed()
    assert written(emit(program, [graph], rows, header)) == header
    assert written(emit(program, [graph], rows, Header(spec))) == Header(spec)


def test_a_launch_in_words_names_what_is_unusual():
    plain = Config((("m", 16),), 1, 8, 3)
    assert launch_words(plain) == "tiles m=16, 8 warps, 3 stages"
    unusual = replace(plain, parts=4, descriptors=True, group=8, dependent=True)
    assert launch_words(unusual) == (
        "tiles m=16, 4 parts, 8 warps, 3 stages, descriptors, groups of 8, dependent"
    )
    roles = replace(plain, consumers=2, stages=4, ring=True)
    assert launch_words(roles).startswith("tiles m=16 of each of 2 consumers beside a producer, ")
    assert launch_words(roles).endswith(", 4 slots, ring; else the plain function")
