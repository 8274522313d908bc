from __future__ import annotations

import copy
import gc
import pickle
from fractions import Fraction

from hypothesis import given

from superopt.ugraph.intern import _table
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.scalar import Fn
from tests.ugraph.strategies import nodes


def test_equal_nodes_are_one_object():
    x = Input("x", ("m",))
    assert Map(Fn.ADD, (x, x)) is Map(Fn.ADD, (Input("x", ("m",)), x))
    assert Input("x", ("m",)) is not Input("x", ("m",), "fp32")


@given(nodes())
def test_pickle_and_copy_are_the_identity(node):
    assert pickle.loads(pickle.dumps(node)) is node
    assert copy.deepcopy(node) is node


def test_unused_nodes_are_forgotten():
    node = Const(Fraction(987654321))
    key = next(k for k, v in _table.items() if v is node)
    del node
    gc.collect()
    assert key not in _table
