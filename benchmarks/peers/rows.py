"""Peers of operators on rows: library calls, Liger where it is installed, and bandwidth."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from bandwidth import add_of
from bandwidth import copy_of
from bandwidth import read_of

from superopt.tune.peers import yardstick

COPY_X = {"copy": yardstick(copy_of("x"))}
READ_X = {"read": yardstick(read_of("x"))}


def torch_softmax(tensors, case):
    x, out = tensors["x"], tensors["out"]
    return lambda: torch.softmax(x, -1, out=out)


def torch_log_softmax(tensors, case):
    x, out = tensors["x"], tensors["out"]
    return lambda: torch.log_softmax(x, -1, out=out)


def logsumexp_fp32(x):
    """The spec keeps its result in fp32; torch's own has the dtype of its input."""
    return torch.logsumexp(x.float(), -1)


compiled_logsumexp = torch.compile(logsumexp_fp32, dynamic=False)


def fused_logsumexp(tensors, case):
    x = tensors["x"]
    return lambda: compiled_logsumexp(x)


def torch_rms_norm(tensors, case):
    x, weight = tensors["x"], tensors["weight"]
    return lambda: torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps=1e-6)


def torch_layer_norm(tensors, case):
    x, weight, bias = tensors["x"], tensors["weight"], tensors["bias"]
    return lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps=1e-5)


def liger_softmax(tensors, case):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    x = tensors["x"]
    return lambda: LigerSoftmaxFunction.apply(x)


def liger_rms_norm(tensors, case):
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    x, weight = tensors["x"], tensors["weight"]
    return lambda: LigerRMSNormFunction.apply(x, weight, 1e-6)


def liger_layer_norm(tensors, case):
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    x, weight, bias = tensors["x"], tensors["weight"], tensors["bias"]
    return lambda: LigerLayerNormFunction.apply(x, weight, bias, 1e-5)


def with_liger(name, factory):
    return {name: factory} if find_spec("liger_kernel") else {}


PEERS = {
    "softmax": {"torch": torch_softmax, **COPY_X, **with_liger("liger", liger_softmax)},
    "log_softmax": {"torch": torch_log_softmax, **COPY_X},
    "logsumexp": {"compile-fp32": fused_logsumexp, **COPY_X, **READ_X},
    "rms_norm": {"torch": torch_rms_norm, **COPY_X, **with_liger("liger", liger_rms_norm)},
    "layer_norm": {"torch": torch_layer_norm, **COPY_X, **with_liger("liger", liger_layer_norm)},
    "plain": COPY_X,
    "norm_step": {"add": yardstick(add_of("x", "h"))},
    "variance": READ_X,
    "moments": READ_X,
    "entropy": READ_X,
}
