from __future__ import annotations

from itertools import permutations

import pytest

from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import matrix_axes
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.contraction import tile_axes
from superopt.ugraph.contraction import vectors
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


def test_between_computed_sides_they_go_to_what_they_are_multiplied_with() -> None:
    left, right, h = s.exp(A), s.exp(B), Input("h", ("k",))
    apart = s.mul(s.mul(left, G), s.mul(h, right))
    found = matrix_product(Fn.ADD, "k", apart, TILED)
    assert found is not None
    assert (set(factors(found.left)), set(factors(found.right))) == ({left, G}, {h, right})
    together = s.mul(s.mul(left, s.mul(G, h)), right)
    found = matrix_product(Fn.ADD, "k", together, TILED)
    assert found is not None
    assert (set(factors(found.left)), found.right) == ({left, G, h}, right)
    twice = s.mul(s.mul(left, G), s.mul(G, right))
    found = matrix_product(Fn.ADD, "k", twice, TILED)
    assert found is not None
    assert (factors(found.left), factors(found.right)) == ([left, G], [right, G])


def test_a_scale_stays_with_what_is_computed_anyway_and_comes_after_a_plain_tensor() -> None:
    rows = s.mul(s.mul(R, A), G)
    found = matrix_product(Fn.ADD, "k", s.mul(rows, s.mul(B, C)), TILED)
    assert found is not None
    assert set(factors(found.left)) == {A, R, G}
    assert (found.right, found.after) == (B, C)
    both = matrix_product(Fn.ADD, "k", s.mul(s.mul(s.exp(A), R), s.mul(s.exp(B), C)), TILED)
    assert both is not None
    assert set(factors(both.left)) == {s.exp(A), R}
    assert set(factors(both.right)) == {s.exp(B), C}
    assert both.after is None
    plain = matrix_product(Fn.ADD, "k", s.mul(s.mul(A, R), s.mul(B, s.num(2))), TILED)
    assert plain is not None
    assert (plain.left, plain.right) == (A, B)
    assert plain.after is s.mul(R, s.num(2))


@pytest.mark.parametrize("order", list(permutations((s.exp(A), R, B, C, G))))
def test_every_factor_of_any_product_is_somewhere_once(order: tuple[Node, ...]) -> None:
    for term in (product_of(order), s.mul(product_of(order[:2]), product_of(order[2:]))):
        found = matrix_product(Fn.ADD, "k", term, TILED)
        assert found is not None
        parts = [found.left, found.right, *([found.after] if found.after else [])]
        every = [f for part in parts for f in factors(part)]
        assert sorted(map(repr, every)) == sorted(map(repr, order))
        assert found.right is B


def test_where_vectors_stand_in_a_folded_product() -> None:
    left, right, h = s.exp(A), s.exp(B), Input("h", ("k",))
    apart = s.total("k", s.mul(s.mul(left, G), s.mul(h, right)))
    together = s.total("k", s.mul(right, s.mul(s.mul(G, h), left)))
    assert vectors(apart) == (("g",), ("h",))
    assert vectors(together) == ((), ("g", "h"))
    assert vectors(s.largest("k", apart.arg)) == ()
    assert vectors(s.total("k", A)) == ()


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
