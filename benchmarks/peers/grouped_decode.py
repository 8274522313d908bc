"""Peers of few queries to a cache whose heads are shared: SDPA and FlexAttention.

Without a mask the heads of a group can be rows of one query matrix (``-rows``); else they are
heads, and the callee is told that keys are shared (``enable_gqa``).
"""

from __future__ import annotations

from scaled_dot_product import CUDNN
from scaled_dot_product import FLASH
from scaled_dot_product import block_mask
from scaled_dot_product import by_backend
from scaled_dot_product import cap_score
from scaled_dot_product import flex
from scaled_dot_product import sdpa


def as_heads(tensors):
    """Queries [b, g r, m, d] (m is 1 where there is no such axis), keys and values [b, g, n, d]."""
    q, k, v = (tensors[n] for n in "qkv")
    batch, groups = q.shape[:2]
    rows = 1 if q.dim() == 4 else q.shape[3]
    return q.reshape(batch, groups * q.shape[2], rows, q.shape[-1]), k, v


def grouped(call, *fixed, **options):
    """A peer that is given heads, and whose result takes the shape of the spec's."""

    def make(tensors, case):
        q, k, v = as_heads(tensors)
        shape = tensors["out"].shape
        made = {n: o(tensors) if callable(o) else o for n, o in options.items()}
        return lambda: call(*fixed, q, k, v, enable_gqa=True, **made).reshape(shape)

    return make


def alibi_score(tensors):
    slope, last = tensors["slope"].reshape(-1), tensors["k"].shape[-2] - 1
    return lambda score, b, h, m, n: score + slope[h] * (n - last)


def step_blocks(tensors):
    queries, keys = tensors["q"].shape[3], tensors["k"].shape[-2]
    return block_mask(lambda b, h, m, n: n <= m + (keys - queries), tensors["q"], tensors["k"])


def capped_rows(tensors, case):
    q, k, v = (tensors[n] for n in "qkv")
    score = cap_score(tensors)
    return lambda: flex(q, k, v, score_mod=score)


PEERS = {
    "grouped_decode": {
        "sdpa-cudnn": grouped(by_backend, CUDNN),
        "sdpa-flash": grouped(by_backend, FLASH),
        "sdpa-cudnn-rows": sdpa(CUDNN),
        "sdpa-flash-rows": sdpa(FLASH),
        "flex": grouped(flex),
    },
    "softcap_decode": {"flex": grouped(flex, score_mod=cap_score), "flex-rows": capped_rows},
    "alibi_decode": {"flex": grouped(flex, score_mod=alibi_score)},
    "grouped_step": {"flex": grouped(flex, block_mask=step_blocks)},
}
