from __future__ import annotations

from fractions import Fraction

import numpy as np
import torch

from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.scalar import Fn
from superopt.verify.run.domains import ShakenDomain
from superopt.verify.run.domains import StorageDomain
from superopt.verify.run.domains import is_matrix_product
from superopt.verify.run.torch_domain import TorchDomain


def test_only_matrix_products_round_their_operands():
    domain = StorageDomain("bf16")
    third = np.full((4, 8, 1), 1 / 3, np.float32)  # rows x k x columns
    ones = np.ones((1, 8, 5), np.float32)
    assert is_matrix_product(third, ones, 1)
    product = domain.contract(third, ones, 1)
    assert np.allclose(product, 8 * np.float32(0.333984375), rtol=1e-7)
    row = domain.contract(third, third, 1)
    assert np.allclose(row, 8 / 9, rtol=1e-6)


def test_an_axis_of_one_position_may_be_a_row():
    assert is_matrix_product(np.ones((1, 8, 1)), np.ones((1, 8, 5)), 1)
    assert not is_matrix_product(np.ones((3, 8, 1)), np.ones((3, 8, 5)), 1)


def test_shaking_keeps_exact_values_and_moves_others_by_a_neighbour():
    domain = ShakenDomain("fp32", 0)
    exact = np.array([1.0, 2.5, -3.0])
    assert np.array_equal(domain.apply(Fn.ADD, (exact, exact)), exact + exact)
    thirds = domain.apply(Fn.DIV, (np.ones(1000), np.full(1000, 3.0)))
    assert len(set(thirds.tolist())) == 2
    assert np.abs(thirds * 3 - 1).max() < 2.0**-23


def test_shaken_sums_have_the_error_of_a_sequential_sum():
    random = np.random.default_rng(1)
    value = random.standard_normal((200, 1000)).astype(np.float32).astype(np.float64)
    want = FloatDomain().fold(Fn.ADD, value, 1)
    shaken = np.abs(ShakenDomain("fp32", 0).fold(Fn.ADD, value, 1) - want).mean()
    running = np.zeros(200, np.float32)
    for k in range(1000):
        running = running + value[:, k].astype(np.float32)
    sequential = np.abs(running - want).mean()
    assert 0.2 * sequential < shaken < 3 * sequential


def test_shaken_products_have_the_relative_error_of_a_sequential_product():
    random = np.random.default_rng(1)
    value = random.uniform(0.3, 1.6, (200, 300)).astype(np.float32).astype(np.float64)
    want = FloatDomain().fold(Fn.MUL, value, 1)
    shaken = np.abs(ShakenDomain("fp32", 0).fold(Fn.MUL, value, 1) / want - 1).mean()
    on_torch = TorchDomain("cpu", operand="fp32", seed=0).fold(Fn.MUL, torch.tensor(value), 1)
    running = np.ones(200, np.float32)
    for k in range(300):
        running = running * value[:, k].astype(np.float32)
    sequential = np.abs(running / want - 1).mean()
    assert 0.2 * sequential < shaken < 3 * sequential
    assert 0.2 * sequential < np.abs(on_torch.numpy() / want - 1).mean() < 3 * sequential


def test_a_rounding_of_almost_a_tie_goes_both_ways_and_a_tie_one():
    given = np.array([17.0, 17.0000001, 16.9999999, 16.3, np.inf])  # e4m3 has 16 and 18
    for shaken in (
        [ShakenDomain("fp32", s).apply(Fn.ROUND_E4M3, (given,)) for s in (0, 1)],
        [
            TorchDomain("cpu", operand="fp32", seed=s)
            .apply(Fn.ROUND_E4M3, (torch.tensor(given),))
            .numpy()
            for s in (0, 1)
        ],
    ):
        assert sorted(run.tolist() for run in shaken) == [
            [16, 16, 16, 16, np.inf],
            [16, 18, 18, 16, np.inf],
        ]


def test_special_values_pass_through():
    domain = ShakenDomain("fp16", 0)
    value = np.array([-np.inf, 0.0, np.nan])
    found = domain.apply(Fn.EXP, (value,))
    assert found[0] == 0
    assert found[1] == 1
    assert np.isnan(found[2])
    assert np.isinf(domain.fold(Fn.ADD, np.array([[np.inf, 1.0]]), 1)[0])
    assert domain.fold(Fn.MAX, np.zeros((2, 0)), 1).tolist() == [-np.inf, -np.inf]
    assert domain.constant(Fraction(1, 2)) == 0.5
