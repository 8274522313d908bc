from __future__ import annotations

import importlib.util
import sys

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.verify.run import stand_in
from superopt.verify.run.compile_kernel import facts_of
from superopt.verify.run.run_kernel import load
from tests import samples

# Two files of one operator are loaded here.
pytestmark = pytest.mark.filterwarnings("ignore:torch.ops.superopt.softmax remains")

GRAPH = samples.two_pass_softmax()
CONFIG = Config((("m", 4), ("n", 256)))
SIZES = {"m": 64, "n": 4096}


def written(folder, dialect):
    file = folder / f"softmax_{dialect.value}.py"
    rows = [Row("case", 0, (CONFIG,), tuple(SIZES.items()))]
    file.write_text(emit(samples.row_softmax(), [GRAPH], rows, Header(), dialect=dialect))
    return str(file)


def test_it_is_there_while_a_file_is_loaded():
    assert not stand_in.flagtree()
    with stand_in.in_place() as stands_in:
        import triton.experimental.tle.language as tle

        assert stands_in
        assert tle.load.fn.__name__ == "load"
    assert stand_in.LANGUAGE not in sys.modules
    assert importlib.util.find_spec(stand_in.PACKAGE) is None


def test_a_file_is_loaded_with_it_only_if_that_is_asked_for(tmp_path):
    file = written(tmp_path, Dialect.FLAGTREE)
    assert load(file, upstream=True).tle
    with pytest.raises(ImportError, match="needs FlagTree"):
        load(file)


def test_upstream_compiles_the_same_kernel_from_both_texts(tmp_path):
    (spec,) = launch_specs(GRAPH, (CONFIG,), SIZES, "bf16")
    ours, theirs = (
        facts_of(load(written(tmp_path, d), upstream=True), spec, "sm_90") for d in Dialect
    )
    assert ours == theirs
