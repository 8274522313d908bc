from __future__ import annotations

from superopt.search.bounds import Case
from superopt.search.cuts import axes_in_order
from superopt.search.kernel import Kernels
from superopt.search.kernel import Made
from superopt.search.kernel import Refused
from superopt.search.kernel import longest_first
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL


def made(program, sizes):
    kernels = Kernels(Case(sizes, "bf16", H200), axes_in_order(program))
    stores = program.outputs
    return [kernels.make(stores, i) for i in range(len(kernels.choices(stores)))]


def test_choices_come_by_bound():
    program = samples.attention()
    kernels = Kernels(Case(PREFILL, "bf16", H200), axes_in_order(program))
    bounds = [round(c.bound, 6) for c in kernels.choices(program.outputs)]
    assert bounds == sorted(bounds)
    assert round(kernels.bound(program.outputs), 6) <= bounds[0]


def test_a_mapping_is_made_once():
    program = samples.row_softmax()
    kernels = Kernels(Case({"m": 64, "n": 4096}, "bf16", H200), axes_in_order(program))
    assert not kernels.known(program.outputs, 0)
    first = kernels.make(program.outputs, 0)
    assert kernels.known(program.outputs, 0)
    assert kernels.make(program.outputs, 0) is first


def test_a_fold_that_no_repair_can_save_is_refused_with_a_reason_and_two_walks_remain():
    x = samples.X
    peak = samples.largest("k", x)
    value = samples.total("k", Map(Fn.TANH, (samples.mul(x, peak),)))
    program = samples.Program("p", (x,), (Store("out", ("m",), None, value),))
    found = made(program, {"m": 64, "k": 1 << 20})
    refused = [f for f in found if isinstance(f, Refused)]
    assert {f.stage for f in refused} == {"repair"}
    assert all("tanh" in f.why for f in refused)
    assert any(isinstance(f, Made) and len(f.block.walks) == 2 for f in found)


def test_rows_that_walk_longest_come_first():
    (causal,) = samples.online_attention(causal=True).kernels
    assert [(t.axis, t.reverse) for t in longest_first(causal).order] == [
        ("b", False),
        ("h", False),
        ("m", True),
    ]
    (plain,) = samples.online_attention().kernels
    assert longest_first(plain) == plain
