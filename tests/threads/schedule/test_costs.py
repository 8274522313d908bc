"""What instructions cost."""

from __future__ import annotations

import pytest

from superopt.device import target
from superopt.errors import NotEmittable
from superopt.threads.body import Products
from superopt.threads.body import instructions
from superopt.threads.schedule.costs import Cost
from superopt.threads.schedule.costs import Costs
from superopt.threads.schedule.costs import rates_of
from tests.threads.schedule.cases import NARROW
from tests.threads.schedule.cases import RATES
from tests.threads.schedule.cases import SQUARE
from tests.threads.schedule.cases import WIDE
from tests.threads.schedule.cases import graph


def costs(name, **tiles):
    made = graph(name, 2, **tiles)
    products = Products(made.block)
    instructions(made.block.walks[0], products)
    found = Costs(made, made.bodies[0], products, "bf16", RATES)
    return found, made.bodies[0].by_name, made


def test_rates_are_those_of_a_data_sheet():
    assert (RATES.matrix, RATES.special, RATES.plain, RATES.copied) == (2048, 16, 128, 60)
    assert 600 <= RATES.latency <= 1000  # cycles until a tile is there


def test_a_device_without_a_thread_level_has_no_rates():
    with pytest.raises(NotEmittable, match="matrix unit of sm_80"):
        rates_of(target("a100"))


def test_products_take_the_cycles_of_their_matrix_instructions():
    found, names, _ = costs("plain", **WIDE)
    assert found.of(names["product_1"]) == Cost(32, "matrix", 512)  # 8 of m64n128k16
    found, names, _ = costs("matmul", **SQUARE)
    assert found.of(names["sum0"]).span == 4 * 128  # of m64n256k16


def test_exponentials_bind_their_unit_and_folds_exchange():
    found, names, _ = costs("plain", **WIDE)
    exponentials, fold = found.of(names["exp2_6"]), found.of(names["max_2"])
    assert (exponentials.unit, exponentials.span) == ("special", 64 * 128 // 16)
    assert fold == Cost(64 + 2 * RATES.exchange, "plain", 64)
    assert found.of(names["operand_7"]) == Cost(64, "plain", 64)  # its value is another's
    assert found.of(names["max0"]).busy < 10


def test_what_is_loaded_by_the_consumers_themselves_is_waited_for():
    found, names, _ = costs("biased", **NARROW)
    (load,) = (name for name in names if name.startswith("column_tile"))
    assert found.of(names[load]).busy > RATES.latency


def test_registers_follow_from_axes():
    found, names, _ = costs("plain", **WIDE)
    sizes = {n: found.size(names[n]) for n in ("product_1", "operand_7", "sum0", "max0")}
    assert sizes == {"product_1": 64, "operand_7": 32, "sum0": 64, "max0": 2}


def test_copies_bring_the_rows_of_all_consumers():
    found, _, made = costs("matmul", **SQUARE)
    (pipe,) = made.pipes
    assert found.copy(pipe) == -(-2 * (2 * 64 * 64 + 64 * 256) // 60)
