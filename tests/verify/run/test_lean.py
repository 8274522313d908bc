from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# A file of its own, because triton reads the source of kernels.
KERNEL = """
import torch, triton, triton.language as tl
from triton.runtime import interpreter
from superopt.verify.run.lean import leanly

@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)

@triton.jit
def kernel(x, half, whole, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    at = rows[:, None] * N + columns[None, :]
    tile = larger(tl.load(x + at), tl.load(half + at).to(tl.float32))
    count = tl.load(whole + at) * 2147483647 + tl.program_id(0)  # wraps
    tl.store(whole + at, count - (count % 7) - tl.sum(count, 1)[:, None])
    tl.store(out + rows, tl.sum(tl.dot(tile, tl.trans(tile)), 1) + tl.exp(tl.max(tile, 1)))
    tl.store(half + at, tl.where(at % 3 == 0, tile, 0.0).to(tl.float16))

def outputs():
    torch.manual_seed(0)
    x, half = torch.randn(16, 16), torch.randn(16, 16).half()
    whole, out = torch.randint(-(2**31), 2**31, (16, 16), dtype=torch.int32), torch.zeros(16)
    kernel[(2,)](x, half, whole, out, 16, 16)
    return out.view(torch.int32).tolist(), half.view(torch.int16).tolist(), whole.tolist()

plain = outputs()
leanly()
leanly()
assert interpreter._get_np_dtype(tl.float16).itemsize == 2
assert interpreter._get_np_dtype(tl.pointer_type(tl.float16)).itemsize == 8
assert interpreter._get_np_dtype(tl.block_type(tl.pointer_type(tl.int8), [4])).itemsize == 8
builtin = tl.arange
assert interpreter.lean and plain == outputs() == outputs()
assert tl.arange is builtin  # what a launch replaced is back
print("same bits")
"""


def test_the_lean_interpreter_has_the_bits_of_the_other_one(tmp_path: Path):
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
