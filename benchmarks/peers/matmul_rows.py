"""What matrix products are measured with: torch's, and the rate of a large one."""

from __future__ import annotations

import torch

from superopt.tune.peers import yardstick

LARGE = 8192


def large_product(tensors, case):
    """A product of 8192 in each dimension: what the chip gives in these rounds."""
    device = next(iter(tensors.values())).device
    made = torch.Generator(device=device).manual_seed(0)
    a, b = (
        torch.randn((LARGE, LARGE), generator=made, device=device, dtype=torch.bfloat16)
        for _ in "ab"
    )
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=out)


RATE = {"matmul-8192": yardstick(large_product)}


def product(tensors, case):
    """The library's product, into an output that is there."""
    x, w = tensors["x"], tensors["w"]
    out = x.new_empty(x.shape[0], w.shape[1])

    def call():
        return torch.mm(x, w, out=out)

    return call


def residual(tensors, case):
    """The library's product onto a copy of the residual."""
    return lambda: torch.addmm(tensors["rest"], tensors["x"], tensors["w"])


PEERS = {
    "matmul": {"cublas": product, **RATE},
    "linear_residual": {"cublas-addmm": residual, **RATE},
}
