"""What the peers of attention are made of: SDPA by one backend, and FlexAttention, compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.attention import SDPBackend
from torch.nn.attention import sdpa_kernel
from torch.nn.attention.flex_attention import BlockMask
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention

CUDNN = SDPBackend.CUDNN_ATTENTION
FLASH = SDPBackend.FLASH_ATTENTION
CAP = 50.0  # of scores, either sign

flex = torch.compile(flex_attention, dynamic=False)
tuned_flex = torch.compile(flex_attention, dynamic=False, mode="max-autotune-no-cudagraphs")


def by_backend(backend: SDPBackend, *tensors: torch.Tensor, **options) -> torch.Tensor:
    """SDPA by ``backend`` alone; it raises where that one does not apply."""
    with sdpa_kernel([backend]):
        return scaled_dot_product_attention(*tensors, **options)


def sdpa(backend: SDPBackend, **options) -> Callable[..., Callable[[], object]]:
    """A peer for q, k and v with the axes batch, head, position, feature."""

    def make(tensors, case):
        inputs = [tensors[n] for n in "qkv"]
        return lambda: by_backend(backend, *inputs, **options)

    return make


def cap_score(tensors):
    return lambda score, b, h, m, n: CAP * torch.tanh(score / CAP)


def causal(b, h, m, n):
    """Keys up to the query's own position."""
    return n <= m


def block_mask(mask, q: torch.Tensor, k: torch.Tensor, by_batch: bool = False) -> BlockMask:
    """The blocks that ``mask`` leaves between q and k; made once, as a user would."""
    batch = q.shape[0] if by_batch else None
    return create_block_mask(mask, batch, None, q.shape[-2], k.shape[-2], device=q.device)


def flexed(
    score: Callable[[dict], Callable] | None = None,
    mask: Callable[[dict], Callable] | None = None,
    call: Callable[..., object] = flex,
    by_batch: bool = False,
) -> Callable[..., Callable[[], object]]:
    """A peer by FlexAttention. ``score`` and ``mask`` make the two functions of the tensors."""

    def make(tensors, case):
        q, k, v = (tensors[n] for n in "qkv")
        score_mod = score(tensors) if score else None
        blocks = block_mask(mask(tensors), q, k, by_batch) if mask else None
        return lambda: call(q, k, v, score_mod=score_mod, block_mask=blocks)

    return make
