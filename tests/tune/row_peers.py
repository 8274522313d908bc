"""Peers for tests: right, wrong, of another shape, failing, and a yardstick."""

import torch

from superopt.tune.peers import yardstick


def right(tensors, case):
    x, out, length = tensors["x"], tensors["out"], tensors["length"]
    return lambda: torch.sum(x[:, :length].float(), 1, out=out)


def lazy(tensors, case):
    return lambda: tensors["out"]


def rounded(tensors, case):
    return lambda: tensors["x"][:, : tensors["length"]].sum(1)


def flat(tensors, case):
    return lambda: tensors["x"].sum()


def failing(tensors, case):
    raise RuntimeError(f"not for {case.name}")


def copy(tensors, case):
    return lambda: tensors["x"].clone()


PEERS = {
    "row_sum": {
        "right": right,
        "lazy": lazy,
        "rounded": rounded,
        "flat": flat,
        "failing": failing,
        "copy": yardstick(copy),
    }
}
