from __future__ import annotations

import json
from dataclasses import fields
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superopt.tune.record import Key
from superopt.tune.record import Machine
from superopt.tune.record import Outcome
from superopt.tune.record import Record
from superopt.tune.record import from_text
from superopt.tune.record import now
from superopt.tune.record import to_text
from superopt.ugraph.levels import Config
from tests.tune.records import FAILED
from tests.tune.records import KEY
from tests.tune.records import MACHINE
from tests.tune.records import TIMED

text = st.text(max_size=8)
axes = st.sampled_from("mndeh")
configs = st.builds(
    Config,
    st.dictionaries(axes, st.integers(1, 256)).map(lambda d: tuple(d.items())),
    st.integers(1, 64),
    st.integers(1, 16),
    st.integers(1, 5),
)
keys = st.builds(
    Key,
    configs=st.lists(configs, max_size=3).map(tuple),
    sizes=st.dictionaries(axes, st.integers(0, 2**40)).map(lambda d: tuple(d.items())),
    scalars=st.dictionaries(text, st.floats(allow_nan=False)).map(lambda d: tuple(d.items())),
    tf32=st.booleans(),
    machine=st.builds(Machine, text, text, text, text, text),
    **dict.fromkeys(
        ("program", "graph", "text", "dialect", "strides", "dtype", "tolerance", "mode"), text
    ),
)


@given(keys, st.sampled_from([TIMED, replace(TIMED, error=None, facts=())]))
def test_a_record_comes_back(key, outcome):
    record = Record(key, outcome, now())
    assert from_text(to_text(record)) == record


def test_what_is_not_finite_comes_back():
    assert "NaN" not in to_text(Record(KEY, replace(FAILED, why=""), ""))
    found = from_text(to_text(Record(KEY, FAILED, ""))).outcome
    assert str(found) == str(FAILED)  # NaN is not equal to itself


OTHER = {
    "configs": KEY.configs[:1],
    "sizes": (("m", 4096), ("n", 513)),
    "tf32": True,
    "scalars": (("scale", 0.25),),
    "machine": replace(MACHINE, driver="581.1"),
    "integers": (("first", "segments 8"),),
}


@pytest.mark.parametrize("name", [f.name for f in fields(Key)])
def test_a_key_depends_on_every_field(name):
    other = replace(KEY, **{name: OTHER.get(name, "other")})
    assert other.digest != KEY.digest


def test_the_order_of_axes_is_not_part_of_a_key():
    tiles = Config(KEY.configs[0].tiles[::-1], 2, 8, 3)
    other = replace(KEY, sizes=KEY.sizes[::-1], configs=(tiles, KEY.configs[1]))
    assert other.digest == KEY.digest
    assert replace(KEY, configs=KEY.configs[::-1]).digest != KEY.digest


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "done"},
        {"status": "failed"},
        {"status": "failed", "figures": None},
        {"status": "failed", "stage": "run"},
        {"stage": "run"},
        {"figures": None},
    ],
)
def test_an_outcome_is_a_time_or_a_failure(changes):
    with pytest.raises(ValueError, match="an outcome is 'timed' with figures"):
        replace(TIMED, **changes)


@pytest.mark.parametrize("drop", ["key", "outcome", "when", "key.sizes", "outcome.figures"])
def test_a_damaged_text_is_no_record(drop):
    found = json.loads(to_text(Record(KEY, TIMED, "")))
    inner = found
    *path, last = drop.split(".")
    for name in path:
        inner = inner[name]
    del inner[last]
    with pytest.raises(ValueError, match="no record of a time: KeyError"):
        from_text(json.dumps(found))
    inner[last] = 3
    with pytest.raises(ValueError, match="no record of a time: "):
        from_text(json.dumps(found))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"x"', "{}"])
def test_other_text_is_no_record(text):
    with pytest.raises(ValueError, match=r"no record|Expecting"):
        from_text(text)


def test_an_outcome_has_every_argument():
    with pytest.raises(TypeError):
        Outcome("timed")
