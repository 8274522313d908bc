"""Peers of linear layers with something in front or behind, and the products alone."""

from __future__ import annotations

import torch

from superopt.tune.peers import yardstick


def product_of(left, *rights):
    """The products with ``rights``, without what the operator does around them."""

    def make(tensors, case):
        x = tensors[left]
        pairs = [(w, x.new_empty(x.shape[0], w.shape[1])) for w in (tensors[r] for r in rights)]

        def call():
            for w, out in pairs:
                torch.mm(x, w, out=out)

        return call

    return yardstick(make)


def low_rank(x, w, a, b):
    return torch.addmm(x @ w, x @ a, b)


def gated(x, both, width):
    found = x @ both
    return torch.nn.functional.silu(found[:, :width]) * found[:, width:]


MODES = {"": None, "compile-": "default", "max-autotune-": "max-autotune-no-cudagraphs"}


def in_modes(name, function, inputs):
    """``function`` of ``inputs(tensors)`` as it is, compiled, and compiled with tuning."""

    def made(call):
        def make(tensors, case):
            arguments = inputs(tensors)
            return lambda: call(*arguments)

        return make

    return {
        prefix + name: made(torch.compile(function, dynamic=False, mode=mode) if mode else function)
        for prefix, mode in MODES.items()
    }


def lora_inputs(tensors):
    return [tensors[n] for n in ("x", "w", "a", "b")]


def gated_inputs(tensors):
    """Both weights side by side, as a model would keep them."""
    return [
        tensors["x"],
        torch.cat([tensors["gate"], tensors["up"]], dim=1),
        tensors["gate"].shape[1],
    ]


PEERS = {
    "rms_norm_linear": {"matmul": product_of("x", "w")},
    "layer_norm_linear": {"matmul": product_of("x", "w")},
    "affine_norm_linear": {"matmul": product_of("x", "w")},
    "linear_gelu": {"matmul": product_of("x", "w")},
    "linear_gelu_tanh": {"matmul": product_of("x", "w")},
    "lora": {"matmul": product_of("x", "w"), **in_modes("low-rank", low_rank, lora_inputs)},
    "gated_mlp": {
        "matmuls": product_of("x", "gate", "up"),
        **in_modes("one-product", gated, gated_inputs),
    },
}
