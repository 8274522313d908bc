"""Yardsticks of memory bandwidth: the traffic of an operator without its arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import torch


def copy_of(name: str) -> Callable[..., Callable[[], object]]:
    """Copies the tensor ``name``: as many bytes read as written."""

    def make(tensors, case):
        source = tensors[name]
        target = torch.empty_like(source)
        return lambda: target.copy_(source)

    return make


def read_of(name: str) -> Callable[..., Callable[[], object]]:
    """Reads the tensor ``name`` once, as fp32 numbers, and keeps one sum."""

    def make(tensors, case):
        source = tensors[name]
        even = source.is_contiguous() and source.nbytes % 4 == 0
        words = source.view(-1).view(torch.float32) if even else source
        return lambda: torch.sum(words)

    return make


def add_of(left: str, right: str) -> Callable[..., Callable[[], object]]:
    """Adds two tensors: two of them read, one written."""

    def make(tensors, case):
        a, b = tensors[left], tensors[right]
        target = torch.empty_like(a)
        return lambda: torch.add(a, b, out=target)

    return make
