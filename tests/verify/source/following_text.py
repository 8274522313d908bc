"""A text that keeps payloads beside lists, with the printed helpers; as a script it is executed.

``python following_text.py IN OUT FILE``: executes it in Triton's interpreter on the arrays of IN.
"""

from __future__ import annotations

import sys
from pathlib import Path

from superopt.emit.payload import HELPERS
from superopt.emit.ranking import HELPERS as RANKING

TEXT = """import torch
import triton
import triton.language as tl


{helpers}

@triton.jit
def follows_k0(
    x_ptr, at_ptr, there_ptr, v_ptr, out_ptr, count, ROWS: tl.constexpr, SIZE: tl.constexpr,
    TILE: tl.constexpr, LANES: tl.constexpr, OWN: tl.constexpr, WIDTH: tl.constexpr,
):
    row = tl.arange(0, ROWS)[:, None]
    lane = tl.arange(0, LANES)
    own = tl.arange(0, OWN)
    wide = tl.arange(0, WIDTH)
    best = _nobody(lane[None, :] + tl.zeros([ROWS, LANES], tl.int32), count)
    gone = tl.zeros([ROWS, LANES, WIDTH], tl.float32)
    for first in range(0, SIZE, TILE):
        column = first + tl.arange(0, TILE)
        here = row * SIZE + column[None, :]
        keys = _keys(tl.load(x_ptr + here), tl.load(at_ptr + here))
        keys = tl.where(tl.load(there_ptr + here) != 0, keys, -0x7FFFFFFFFFFFFFFF - 1)
        more = _among(best, keys, count)
        origin = _origin(more, best, keys)
        best = more
        line = own[:, None, None] * SIZE + column[None, :, None]
        v = tl.load(v_ptr + line * WIDTH + wide[None, None, :])
        gone = _follow(gone, origin, v)
    gone = _goes(gone, best, lane[None, :], count)
    at = (row[:, :, None] * LANES + lane[None, :, None]) * WIDTH + wide[None, None, :]
    tl.store(out_ptr + at, gone)


def follows(x, at, there, v, out_, count, tile, *, out=None, plan=None):
    rows, size = x.shape
    follows_k0[(1,)](
        x, at, there, v, out_, count, rows, size, tile, out_.shape[1], v.shape[0], v.shape[2],
    )
    return out_
""".format(helpers="\n\n".join([*RANKING.values(), *HELPERS.values()]))


def main(given: str, found: str, file: str) -> None:
    import os

    os.environ["TRITON_INTERPRET"] = "1"
    import numpy as np
    import torch

    from tests.emit.harness import load

    module = load(TEXT, Path(file))
    arrays = np.load(given)
    done = {}
    for number, (count, lanes, tile, own, width) in enumerate(arrays["runs"].tolist()):
        tensors = [torch.from_numpy(arrays[n]) for n in ("x", "at", "there")]
        v = torch.from_numpy(np.ascontiguousarray(arrays["v"][:own, :, :width]))
        out = torch.zeros(len(tensors[0]), lanes, width)
        done[f"out{number}"] = module.follows(*tensors, v, out, count, tile).numpy()
    np.savez(found, **done)


if __name__ == "__main__":
    main(*sys.argv[1:])
