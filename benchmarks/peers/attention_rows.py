"""Peers of attention at the sizes of ``benchmarks/specs/attention_rows.py``, and those of all."""

from __future__ import annotations

import attention
from matmul_rows import RATE
from scaled_dot_product import CUDNN
from scaled_dot_product import FLASH
from scaled_dot_product import block_mask
from scaled_dot_product import by_backend
from scaled_dot_product import causal
from scaled_dot_product import flex


def grouped(call):
    """``call`` with the heads of a group beside one another, and keys and values once a group."""

    def make(tensors, case):
        q, k, v = tensors["q"].flatten(1, 2), tensors["k"], tensors["v"]
        blocks, heads = block_mask(causal, q, k), tensors["q"].shape[1:3]
        return lambda: call(q, k, v, blocks).unflatten(1, heads)

    return make


def by_sdpa(backend):
    options = {"is_causal": True, "enable_gqa": True}
    return grouped(lambda q, k, v, blocks: by_backend(backend, q, k, v, **options))


by_flex = grouped(lambda q, k, v, blocks: flex(q, k, v, block_mask=blocks, enable_gqa=True))


PEERS = {
    "attention": attention.PEERS["attention"] | RATE,
    "causal": attention.PEERS["causal"] | RATE,
    "attention_sizes": attention.PEERS["attention"] | RATE,
    "grouped_causal": {
        "sdpa-flash": by_sdpa(FLASH),
        "sdpa-cudnn": by_sdpa(CUDNN),
        "flex": by_flex,
    },
}
