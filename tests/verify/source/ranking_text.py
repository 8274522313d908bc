"""A text that ranks rows with the printed helpers, tile by tile; as a script it is executed.

``python ranking_text.py IN OUT FILE``: executes it in Triton's interpreter on the arrays of IN.
"""

from __future__ import annotations

import sys
from pathlib import Path

from superopt.emit.ranking import HELPERS

TEXT = """import torch
import triton
import triton.language as tl


{helpers}

@triton.jit
def ranks_k0(
    x_ptr, at_ptr, there_ptr, values_ptr, places_ptr, count, few, end, ROWS: tl.constexpr,
    SIZE: tl.constexpr, TILE: tl.constexpr, LANES: tl.constexpr,
):
    row = tl.arange(0, ROWS)[:, None]
    lane = tl.arange(0, LANES)
    best = _nobody(lane[None, :] + tl.zeros([ROWS, LANES], tl.int32), count)
    for first in range(0, SIZE, TILE):
        here = row * SIZE + first + tl.arange(0, TILE)[None, :]
        x = tl.load(x_ptr + here)
        keys = _keys(x, tl.load(at_ptr + here))
        keys = tl.where(tl.load(there_ptr + here) != 0, keys, -0x7FFFFFFFFFFFFFFF - 1)
        best = _among(best, keys, few)
    values, places = _ranked(best, lane[None, :], count, end)
    tl.store(values_ptr + row * LANES + lane[None, :], values)
    tl.store(places_ptr + row * LANES + lane[None, :], places)


def ranks(x, at, there, values, places, count, few, end, tile, *, out=None, plan=None):
    rows, size = x.shape
    ranks_k0[(1,)](
        x, at, there, values, places, count, few, end, rows, size, tile, values.shape[1],
    )
    return values, places
""".format(helpers="\n\n".join(HELPERS.values()))


def main(given: str, found: str, file: str) -> None:
    import os

    os.environ["TRITON_INTERPRET"] = "1"
    import numpy as np
    import torch

    from tests.emit.harness import load

    module = load(TEXT, Path(file))
    arrays = np.load(given)
    done = {}
    for number, (count, few, lanes, tile) in enumerate(arrays["runs"].tolist()):
        tensors = [torch.from_numpy(arrays[n]) for n in ("x", "at", "there")]
        shape = (len(tensors[0]), lanes)
        values, places = torch.zeros(shape), torch.zeros(shape, dtype=torch.int32)
        module.ranks(*tensors, values, places, count, few, int(arrays["end"]), tile)
        done[f"values{number}"], done[f"places{number}"] = values.numpy(), places.numpy()
    np.savez(found, **done)


if __name__ == "__main__":
    main(*sys.argv[1:])
