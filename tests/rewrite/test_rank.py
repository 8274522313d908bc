from __future__ import annotations

from superopt.rewrite.rank import MATRIX
from superopt.rewrite.rank import Sizes
from superopt.rewrite.rank import contraction
from superopt.rewrite.rank import rank
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from tests import samples
from tests.samples import mul
from tests.samples import total

SIZES = Sizes({"m": 8, "n": 16, "k": 32})
X = Input("x", ("m", "k"))
W = Input("w", ("k", "n"))


def program(value: Node) -> Program:
    return Program("p", (X, W), (Store("out", value.axes, None, value),))


def test_passes_are_the_depth_of_folds_over_one_axis() -> None:
    elements = Sizes({})
    assert rank(samples.attention(), elements).passes == 3  # max, sum, weighted sum
    assert rank(samples.attention_delayed(), elements).passes == 2
    assert rank(samples.row_softmax(), elements).passes == 3  # max, sum, the stores
    assert rank(samples.rms_linear(), elements).passes == 2
    assert rank(samples.lora(), elements).passes == 1


def test_a_matrix_product_is_a_fold_of_a_product() -> None:
    assert contraction(total("k", mul(X, W))) == (X, W)
    assert contraction(total("k", mul(X, X))) is None
    assert rank(program(total("k", mul(X, W))), SIZES).work == MATRIX * 8 * 16 * 32


def test_inputs_are_read_once_a_pass() -> None:
    x = 1024 * 1024
    assert rank(samples.row_softmax(), Sizes({})).read == 3 * x


def test_shared_nodes_cost_once() -> None:
    square = mul(X, X)
    once = rank(program(square), SIZES).work
    twice = rank(program(mul(square, square)), SIZES).work
    assert twice == 2 * once
