# ruff: noqa: N803, N806
"""A printed-style kernel written by hand: softmax over n in two walks."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
EMPTY = tl.constexpr(float("-inf"))


@triton.jit
def largest(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def row_softmax_0(x, out, M, N, x_m, x_n, out_m, out_n, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    m = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    row = m.to(tl.int64)[:, None]
    top = tl.full([TILE_M], EMPTY, tl.float32)
    total = tl.full([TILE_M], 0.0, tl.float32)
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        mask = (m < M)[:, None] & (n < N)[None, :]
        v = tl.load(x + row * x_m + n[None, :] * x_n, mask=mask, other=0.0).to(tl.float32)
        v = tl.where((n < N)[None, :], v, EMPTY)
        new = largest(top, tl.reduce(v, 1, largest))
        safe = tl.where(new == EMPTY, 0.0, new)
        kept = tl.exp2((top - safe) * LOG2E)
        kept = tl.where(top == EMPTY, 1.0, kept)
        e = tl.exp2((v - safe[:, None]) * LOG2E)
        total = total * kept + tl.sum(e, 1)
        top = new
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        mask = (m < M)[:, None] & (n < N)[None, :]
        v = tl.load(x + row * x_m + n[None, :] * x_n, mask=mask, other=0.0).to(tl.float32)
        e = tl.exp2((v - tl.where(top == EMPTY, 0.0, top)[:, None]) * LOG2E)
        y = e / tl.where(total == 0.0, 1.0, total)[:, None]
        tl.store(out + row * out_m + n[None, :] * out_n, y.to(out.dtype.element_ty), mask=mask)


class Launch(NamedTuple):
    tiles: dict
    parts: int
    warps: int
    stages: int


class Plan(NamedTuple):
    name: str
    graph: int
    launches: tuple
    sizes: dict
    dtype: str = ""
    tf32: bool = False


LAUNCH = Launch({"m": 16, "n": 64}, 1, 4, 2)
PLANS = (
    Plan("wide", 0, (LAUNCH,), {"m": 4096, "n": 4096}, "bf16"),
    Plan("wide", 0, (LAUNCH,), {"m": 4096, "n": 4096}, "fp32"),
)


def row_softmax(x, *, out=None, plan=None):
    """Softmax over the last axis of ``x`` [m, n]."""
    M, N = x.shape
    if x.stride(1) != 1 and N > 1:
        raise ValueError("x: the innermost stride must be 1")
    if out is None:
        out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    (launch,) = (plan or PLANS[0]).launches
    tile_m, tile_n = launch.tiles["m"], launch.tiles["n"]
    if M and N:
        row_softmax_0[(triton.cdiv(M, tile_m),)](
            x,
            out,
            M,
            N,
            *x.stride(),
            *out.stride(),
            tile_m,
            tile_n,
            num_warps=launch.warps,
            num_stages=launch.stages,
        )
    return out
