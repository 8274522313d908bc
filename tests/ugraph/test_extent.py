from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from superopt.ugraph.extent import extent
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Size
from superopt.ugraph.split import launches
from tests import samples
from tests.ugraph.test_cost import SIZES
from tests.ugraph.test_cost import TILES
from tests.ugraph.test_cost import by_hand


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
