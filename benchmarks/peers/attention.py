"""Peers of plain attention, causal or not, and of one query a sequence."""

from __future__ import annotations

import torch
from scaled_dot_product import CUDNN
from scaled_dot_product import FLASH
from scaled_dot_product import by_backend
from scaled_dot_product import causal
from scaled_dot_product import flex
from scaled_dot_product import flexed
from scaled_dot_product import sdpa
from scaled_dot_product import tuned_flex

EPS = 1e-6


def of_one_query(call, *fixed):
    """q has no axis of positions: it gets one."""

    def make(tensors, case):
        q, k, v = tensors["q"].unsqueeze(2), tensors["k"], tensors["v"]
        return lambda: call(*fixed, q, k, v).squeeze(2)

    return make


def normalised(q, k, q_weight, k_weight):
    d = q.shape[-1:]
    norm = torch.nn.functional.rms_norm
    return norm(q, d, q_weight, EPS), norm(k, d, k_weight, EPS)


compiled_norms = torch.compile(normalised, dynamic=False)


def norms_then(backend):
    """Queries and keys normalised by one compiled kernel each, then SDPA."""

    def make(tensors, case):
        q, k, v = (tensors[n] for n in "qkv")
        weights = tensors["q_weight"], tensors["k_weight"]

        def call():
            new_q, new_k = compiled_norms(q, k, *weights)
            return by_backend(backend, new_q, new_k, v, is_causal=True)

        return call

    return make


PEERS = {
    "attention": {
        "sdpa-flash": sdpa(FLASH),
        "sdpa-cudnn": sdpa(CUDNN),
        "flex": flexed(),
        "flex-tuned": flexed(call=tuned_flex),
    },
    "causal": {
        "sdpa-flash": sdpa(FLASH, is_causal=True),
        "sdpa-cudnn": sdpa(CUDNN, is_causal=True),
        "flex": flexed(mask=lambda t: causal),
        "flex-tuned": flexed(mask=lambda t: causal, call=tuned_flex),
    },
    "decode": {
        "sdpa-flash": of_one_query(by_backend, FLASH),
        "sdpa-cudnn": of_one_query(by_backend, CUDNN),
        "flex": of_one_query(flex),
    },
    "qk_norm_attention": {
        "norms-then-cudnn": norms_then(CUDNN),
        "norms-then-flash": norms_then(FLASH),
    },
}
