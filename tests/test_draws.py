from __future__ import annotations

import numpy as np
import pytest

from superopt.draws import draws
from superopt.loading import load
from tests import samples
from tests.specs.test_specs import FURTHER


def spec_of(name: str):
    return next(s for f in FURTHER for s in load(str(f)) if s.name == name)


def test_sizes_are_pairwise_different_and_shapes_follow_memory_order():
    program = samples.attention()
    for draw in draws(program, ("b", "h", "m", "d", "n", "e"), {}, seed=0):
        assert len(set(draw.sizes.values())) == 6
        for param in program.params:
            assert draw.arrays[param.name].shape == tuple(draw.sizes[a] for a in param.order)


def test_the_seed_alone_decides():
    axes = ("b", "h", "m", "d", "n", "e")

    def shown(seed):
        found = draws(samples.attention(), axes, {}, seed)
        return [(d.what, d.sizes, {k: v.tobytes() for k, v in d.arrays.items()}) for d in found]

    assert shown(3) == shown(3)
    assert shown(3) != shown(4)


@pytest.mark.parametrize(("name", "longest"), [("window", 128), ("band", 64)])
def test_a_mask_by_distance_is_reached(name, longest):
    spec = spec_of(name)
    given = spec.cases[0].scalars
    sizes = [d.sizes for d in draws(spec.program, spec.axes, given, 0)]
    assert any(s["m"] > longest and s["n"] > longest for s in sizes)
    assert all(s["m"] != s["n"] for s in sizes)


def test_integers_are_valid_positions_and_sorted_in_some_draws():
    spec = spec_of("cross_entropy")
    labels = [(d, d.arrays["labels"]) for d in draws(spec.program, spec.axes, {}, 0)]
    assert all(v.min() >= 0 and v.max() < min(d.sizes.values()) for d, v in labels)
    assert any((np.diff(v) >= 0).all() for _, v in labels)
    assert any((np.diff(v) < 0).any() for _, v in labels)
