from __future__ import annotations

from itertools import permutations

import pytest

from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import matrix_axes
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Fn
from tests import samples as s

A, B = Input("a", ("m", "k")), Input("b", ("k", "n"))
G, R, C = Input("g", ("k",)), Input("r", ("m",)), Input("c", ("n",))
TILED = ("m", "k", "n")


def product_of(nodes: tuple[Node, ...]) -> Node:
    term = nodes[0]
    for node in nodes[1:]:
        term = s.mul(term, node)
    return term


def test_plain_product() -> None:
    assert matrix_product(Fn.ADD, "k", s.mul(A, B), TILED) == MatrixProduct(A, B, "m", "n")
    assert matrix_product(Fn.ADD, "k", s.mul(B, A), TILED) == MatrixProduct(A, B, "m", "n")


def test_row_is_the_first_tile_dimension() -> None:
    turned = matrix_product(Fn.ADD, "k", s.mul(A, B), ("n", "k", "m"))
    assert turned == MatrixProduct(B, A, "n", "m")
    assert matrix_product(Fn.ADD, "k", s.mul(A, B), frozenset(TILED)) is not None


@pytest.mark.parametrize("order", list(permutations((A, B, G))))
def test_factors_of_the_folded_axis_alone_go_left(order: tuple[Node, ...]) -> None:
    found = matrix_product(Fn.ADD, "k", product_of(order), TILED)
    assert found is not None
    assert set(factors(found.left)) == {A, G}
    assert found.right is B


def test_they_go_to_the_side_that_is_computed_anyway() -> None:
    computed = s.exp(B)
    found = matrix_product(Fn.ADD, "k", product_of((A, G, computed)), TILED)
    assert found is not None
    assert found.left is A
    assert set(factors(found.right)) == {computed, G}


def test_factors_without_the_folded_axis_come_after() -> None:
    found = matrix_product(Fn.ADD, "k", product_of((R, A, B, C)), TILED)
    assert found is not None
    assert (found.left, found.right) == (A, B)
    assert found.after is s.mul(R, C)


@pytest.mark.parametrize(
    ("fold", "term", "tiled"),
    [
        (Fn.MAX, s.mul(A, B), TILED),
        (Fn.ADD, s.add(A, B), TILED),
        (Fn.ADD, s.mul(A, A), TILED),
        (Fn.ADD, s.mul(A, G), TILED),
        (Fn.ADD, s.mul(R, B), TILED),  # nothing of the left side varies over k
        (Fn.ADD, s.mul(A, B), ("m", "k")),  # one program per column
        (Fn.ADD, s.mul(A, B), ("m", "n")),
        (Fn.ADD, s.mul(s.add(A, B), B), TILED),
        (Fn.ADD, s.mul(Input("a", ("z", "m", "k")), B), ("z", *TILED)),  # a batch in the tile
        (Fn.ADD, s.mul(s.add(Index("m"), Index("k")), s.add(Index("k"), Index("n"))), TILED),
    ],
)
def test_no_product(fold: Fn, term: Node, tiled: tuple[str, ...]) -> None:
    assert matrix_product(fold, "k", term, tiled) is None


def test_axes_of_products_in_a_block() -> None:
    (block,) = s.online_attention().kernels
    assert tile_axes(block) == ("m", "d", "n", "e")
    assert matrix_axes(block) == {"m", "d", "n", "e"}
    (block,) = s.two_pass_softmax().kernels
    assert matrix_axes(block) == frozenset()


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (None, None, None),
        ("fp32", None, None),
        ("bf16", "fp32", "bf16"),
        ("fp32", "fp32", "fp32"),
        ("bf16", "fp16", None),
        ("int8", "bf16", "bf16"),
        ("int8", None, None),
    ],
)
def test_operand_dtype(left: str | None, right: str | None, expected: str | None) -> None:
    a, b = Input("a", ("m", "k"), left), Input("b", ("k", "n"), right)
    assert operand_dtype(MatrixProduct(a, b, "m", "n")) == expected
    assert operand_dtype(MatrixProduct(s.exp(a), s.exp(b), "m", "n")) is None
    assert operand_dtype(MatrixProduct(s.exp(a), b, "m", "n")) == (
        right if right in ("fp32", "fp16", "bf16") else None
    )
