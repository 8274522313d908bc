"""Looks like a printed kernel file, but computes with torch: for tests without a GPU."""

import torch


def row_sum(x, length, *, out=None, plan=None):
    n = torch.arange(x.shape[1], device=x.device)
    out.copy_(torch.where(n < length, x.float(), 0.0).sum(1))
    return out
