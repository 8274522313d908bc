from __future__ import annotations

from dataclasses import replace

import pytest

from superopt.device import target
from superopt.search.configs import ladders
from superopt.search.configs import options
from superopt.search.descriptors import described_configs
from superopt.ugraph.levels import Config
from superopt.ugraph.split import launches
from tests import samples
from tests.search.forms import H200
from tests.search.forms import PREFILL

GRAPH = samples.online_attention(split=True)
CONFIGS = (Config(()), Config((), warps=8))


def of(sizes: dict[str, int], dtype: str = "bf16", chip: str = "h200", tf32: bool = False):
    return described_configs(launches(GRAPH), CONFIGS, sizes, dtype, target(chip), tf32)


def test_launches_with_operands_get_descriptors():
    wanted = (replace(CONFIGS[0], descriptors=True), CONFIGS[1])
    assert of(PREFILL) == of(PREFILL, chip="b200") == of(PREFILL, "fp32", tf32=True) == wanted


@pytest.mark.parametrize(
    "asked",
    [
        {"chip": "a100"},
        {"dtype": "fp32"},  # computed on ordinary units
        {"sizes": PREFILL | {"d": 100}},
        {"sizes": PREFILL | {"n": 0}},
    ],
)
def test_none_where_there_can_be_none(asked):
    assert of(**{"sizes": PREFILL, **asked}) is None


def test_the_top_of_a_list_appears_with_descriptors_after_its_equals_without():
    (block,) = samples.online_attention().kernels
    found, _ = options(block, PREFILL, "bf16", H200, keep=12)
    asked = [o for o in found if o.configs[0].descriptors]
    assert len(found) == 12
    assert 1 <= len(asked) <= 3
    for option in asked:
        (config,) = option.configs
        (plain,) = [o for o in found if o.configs == (replace(config, descriptors=False),)]
        assert option.us <= plain.us
        assert option.uses[0].registers < plain.uses[0].registers
        assert option.uses[0].shared == plain.uses[0].shared
    assert found == options(block, PREFILL, "bf16", H200, keep=12)[0]


@pytest.mark.parametrize("chip", ["a100", "h200"])
def test_what_is_not_measured_has_pointers(chip):
    for graph in (samples.online_attention(), GRAPH):
        for ladder in ladders(graph, PREFILL, "bf16", target(chip)):
            assert not any(c.descriptors for rung in ladder for c in rung)
