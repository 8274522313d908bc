from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.search.bounds import Case
from superopt.search.configs import options
from superopt.search.cuts import axes_in_order
from superopt.search.kernel import Kernels
from superopt.search.kernel import Made
from superopt.search.turned import revisits
from superopt.search.turned import turned
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

LONG = {"m": 8192, "n": 131072}
(TWO,) = samples.two_pass_softmax().kernels


def directions(block):
    return [w.reverse for w in block.walks]


def made(program, sizes):
    kernels = Kernels(Case(sizes, "bf16", H200), axes_in_order(program))
    stores = program.outputs
    found = [kernels.make(stores, i) for i in range(len(kernels.choices(stores)))]
    return kernels.choices(stores), [f for f in found if isinstance(f, Made)]


def test_the_second_walk_goes_back_and_a_third_one_forth():
    assert directions(TWO) == [False, False]
    assert directions(turned(TWO)) == [False, True]
    assert turned(turned(TWO)) == turned(TWO)
    three = replace(TWO, walks=(*TWO.walks, TWO.walks[1]))
    assert directions(turned(three)) == [False, True, False]
    first = replace(TWO.walks[0], reverse=True)
    assert directions(turned(replace(TWO, walks=(first, TWO.walks[1])))) == [True, False]


def test_walks_of_other_axes_or_tensors_keep_their_direction():
    (one,) = samples.online_attention().kernels
    assert turned(one) == one
    x = samples.X
    other = replace(TWO.walks[1], stores=(Store("o", ("m", "n"), None, samples.num(1)),))
    assert directions(turned(replace(TWO, walks=(TWO.walks[0], other)))) == [False, False]
    fixed = replace(TWO.walks[1], axis="k")
    assert directions(turned(replace(TWO, walks=(TWO.walks[0], fixed)))) == [False, False]
    assert x.order == ("m", "k")


def test_only_a_repeated_axis_is_revisited():
    assert not revisits(())
    assert not revisits((("n", ()), ("k", ())))
    assert revisits((("n", ()), ("k", ()), ("n", ())))


def test_both_directions_of_long_rows_are_candidates_and_the_model_prefers_going_back():
    choices, found = made(samples.row_softmax(), LONG)
    blocks = [f.block for f in found]
    back = [b for b in blocks if any(w.reverse for w in b.walks)]
    assert back
    for block in back:
        straight = replace(block, walks=tuple(replace(w, reverse=False) for w in block.walks))
        assert straight in blocks
    assert sum(c.turned for c in choices) == len(back)
    best = min(found, key=lambda f: f.us)
    if len(best.block.walks) > 1:
        assert directions(best.block) == [False, True]


def test_going_back_reads_less_only_where_rows_do_not_stay_in_the_cache():
    for sizes, less in ((LONG, True), ({"m": 64, "n": 4096}, False)):
        straight, back = (options(b, sizes, "bf16", H200)[0][0].us for b in (TWO, turned(TWO)))
        assert (back < straight) == less
        assert back == pytest.approx(straight) or less


def test_a_kernel_with_a_product_has_no_more_candidates():
    program = samples.attention()
    kernels = Kernels(Case(PREFILL, "bf16", H200), axes_in_order(program))
    assert not any(c.turned for c in kernels.choices(program.outputs))
    assert any(revisits(c.passes) for c in kernels.choices(program.outputs))


def test_a_fold_that_no_repair_can_save_is_read_again_from_the_end():
    x = samples.X
    peak = samples.largest("k", x)
    value = samples.total("k", Map(Fn.TANH, (samples.mul(x, peak),)))
    _, found = made(
        samples.Program("p", (x,), (Store("out", ("m",), None, value),)), {"m": 64, "k": 1 << 20}
    )
    assert {tuple(directions(f.block)) for f in found if len(f.block.walks) == 2} == {
        (False, False),
        (False, True),
    }
