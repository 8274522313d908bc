from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.ugraph.levels import Config
from superopt.ugraph.stored import config_from
from superopt.ugraph.stored import config_record

tiles = st.dictionaries(st.sampled_from("mndehb"), st.sampled_from([1, 16, 128]))
numbers = st.integers(1, 64)


@given(tiles, numbers, numbers, numbers, st.booleans())
def test_a_config_comes_back(tiles, parts, warps, stages, dependent):
    config = Config(tuple(tiles.items()), parts, warps, stages, dependent=dependent)
    assert config_from(json.loads(json.dumps(config_record(config)))) == config


def test_every_field_is_in_the_record():
    assert set(config_record(Config(()))) == {f.name for f in fields(Config)}


def test_a_record_of_an_earlier_version_is_read():
    old = {"tiles": [["n", 64], ["m", 16]], "parts": 2, "warps": 8, "stages": 3}
    assert config_from(old) == Config((("n", 64), ("m", 16)), 2, 8, 3)
    assert config_from({"tiles": {}}) == Config(())


@pytest.mark.parametrize("value", [None, "x", [], -1, 1.0])
@pytest.mark.parametrize("name", [f.name for f in fields(Config)])
def test_what_is_no_number_of_a_launch_is_refused(name, value):
    """It was found where it was printed, as a fault of ours."""
    if type(value) is type(getattr(Config(()), name)) and value != -1:
        return
    with pytest.raises((TypeError, ValueError)):
        config_from({"tiles": {"m": 16}, name: {"m": value} if name == "tiles" else value})


@pytest.mark.parametrize("record", [{}, {"tiles": 3}, {"tiles": [["n"]]}, {"tiles": {}, "x": 1}])
def test_what_is_no_config_is_refused(record):
    with pytest.raises((KeyError, TypeError, ValueError)):
        config_from(record)
