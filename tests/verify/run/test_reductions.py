from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# A file of its own, because triton reads the source of kernels.
KERNEL = """
import torch, triton, triton.language as tl
from triton.runtime.interpreter import ReduceOps
from superopt.verify.run.reductions import by_slices

calls = 0

@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)

@triton.jit
def difference(a, b):
    return a - b

@triton.jit
def kernel(x, first, second, whole, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(first + rows, tl.reduce(tile, 1, larger))
    tl.store(second + columns, tl.reduce(tile, 0, difference))
    tl.store(whole, tl.reduce(tl.reduce(tile, 1, difference), 0, larger))
    kept = tl.reduce(tile, 1, difference, keep_dims=True)
    tl.store(first + M + rows[:, None], kept)

def outputs():
    torch.manual_seed(0)
    x = torch.randn(8, 16)
    x[3, 5] = float("nan")
    x[4, 0] = float("inf")
    found = [torch.zeros(16), torch.zeros(16), torch.zeros(1)]
    kernel[(1,)](x, *found, 8, 16)
    return torch.cat(found).view(torch.int32).tolist()

plain = outputs()
by_slices()
by_slices()
quick = outputs()
assert ReduceOps.by_slices and plain == quick, (plain, quick)
print("same bits")
"""


def test_reductions_by_slices_have_the_bits_of_reductions_by_elements(tmp_path: Path):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, str(file)],
        env={"TRITON_INTERPRET": "1", "PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "same bits\n", done.stderr
