from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.carry import Carry
from superopt.ugraph.extent import extent
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from superopt.ugraph.split import launches
from tests import samples
from tests.ugraph.test_cost import SIZES
from tests.ugraph.test_cost import TILES
from tests.ugraph.test_cost import by_hand

X = Input("x", ("b", "h", "m", "n"))


@given(
    m=st.integers(1, 60),
    n=st.integers(1, 60),
    tiles=st.tuples(st.sampled_from([1, 4, 16, 64]), st.sampled_from([1, 4, 16, 64])),
    parts=st.integers(1, 4),
    causal=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_extents_are_exact(m, n, tiles, parts, causal):
    sizes = {**SIZES, "b": 1, "h": 1, "m": m, "n": n, "n.part": parts}
    config = Config((("m", tiles[0]), ("n", tiles[1]), ("d", 16), ("e", 32)), parts)
    block = launches(samples.online_attention(causal, split=parts > 1))[0]
    found = extent(block.walks[0], block, config, sizes)
    expected = by_hand(sizes, config, causal, parts)
    others = expected.programs // found.choices
    assert expected.programs == found.choices * others
    assert found.tiles * others == expected.tiles
    assert found.positions * others == expected.key_elements
    assert found.longest == expected.most
    assert found.hull == (min(m, n) if causal else n)


def test_a_limit_that_only_the_caller_knows_is_no_limit():
    (block,) = samples.online_attention().kernels
    length = Bound((), Scalar("length", "int32"))
    limited = replace(block.walks[0], stop=(length,))
    config = Config(TILES)
    assert extent(limited, block, config, SIZES) == extent(block.walks[0], block, config, SIZES)
    known = replace(block.walks[0], stop=(Bound((), Size("e")),))
    assert extent(known, block, config, SIZES).positions == 20


@settings(max_examples=60, deadline=None)
@given(
    *(st.integers(0, 60) for _ in range(2)),
    *(st.sampled_from([1, 4, 16]) for _ in range(2)),
    st.sampled_from([1, 3]),
    st.integers(-5, 40),
)
def test_clear_tiles_are_those_in_which_no_position_is_masked(m, n, rows, step, parts, width):
    """Of a causal window, counted one by one; the condition is true on every position of them."""
    (block,) = samples.online_attention(causal=True, split=parts > 1).kernels
    position, back = Index("n"), samples.sub(Index("m"), Index("n"))
    late = Map(Fn.LE, (position, Index("m")))
    window = Map(Fn.AND, (late, Map(Fn.LT, (back, samples.num(width)))))
    term = samples.where(window, X, samples.num(0))
    carry = Carry("c", ("b", "h", "m"), Fn.ADD, term)
    stores = (Store("out", ("b", "h", "m"), None, carry.state),)
    block = replace(block, walks=(Walk("n", (carry,)),), stores=stores)
    block = cleared(narrow(block))
    (launch, *_) = launches(KernelGraph("k", (), ("out",), (block,)))
    (walk,) = launch.walks
    config = Config((("m", rows), ("n", step)), parts)
    sizes = {"b": 1, "h": 1, "m": m, "n": n, "n.part": parts}
    found = extent(walk, launch, config, sizes)
    by_one = 0
    for first in range(0, m, rows):
        at = range(first, min(first + rows, m))
        for begin in range(0, n - step + 1, step):
            tile = range(begin, begin + step)
            by_one += all(k <= q < k + width for q in at for k in tile)
    assert found.clear == (by_one if walk.clear is not None else 0)
    assert found.clear <= found.tiles
