"""Peers of attention with masks and changes of the scores: FlexAttention, with block masks."""

from __future__ import annotations

import torch
from scaled_dot_product import block_mask
from scaled_dot_product import cap_score
from scaled_dot_product import causal
from scaled_dot_product import flex_attention
from scaled_dot_product import flexed
from scaled_dot_product import tuned_flex

WINDOW = 1024


def window_mask(tensors):
    return lambda b, h, m, n: (n <= m) & (n > m - WINDOW)


def causal_mask(tensors):
    return causal


def document_mask(tensors):
    first = tensors["first"]
    return lambda b, h, m, n: (n <= m) & (n >= first[b, m])


def alibi_score(tensors):
    slope = tensors["slope"]
    return lambda score, b, h, m, n: score + slope[h] * (n - m)


def with_sink(q, k, v, sink, blocks):
    """The sink takes its share of the weights afterwards, by the logarithm of their sum."""
    out, lse = flex_attention(q, k, v, block_mask=blocks, return_lse=True)
    share = torch.sigmoid(lse - sink[None, :, None])
    return (out * share[..., None]).to(out.dtype)


compiled_sink = torch.compile(with_sink, dynamic=False)


def sink(tensors, case):
    q, k, v = (tensors[n] for n in "qkv")
    blocks = block_mask(causal, q, k)
    return lambda: compiled_sink(q, k, v, tensors["sink"], blocks)


def both(**options):
    """FlexAttention compiled as usual, and with its own tuning."""
    return {"flex": flexed(**options), "flex-tuned": flexed(**options, call=tuned_flex)}


PEERS = {
    "sliding_window": both(mask=window_mask),
    "alibi": both(score=alibi_score, mask=causal_mask),
    "softcap": both(score=cap_score, mask=causal_mask),
    "document": both(mask=document_mask, by_batch=True),
    "sink": {"flex": sink},
}
