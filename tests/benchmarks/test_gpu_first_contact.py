"""The script for GPU hosts, run here by the interpreter on a kernel written by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "tests" / "verify" / "run" / "kernels" / "row_softmax.py"

SPEC = """
from typing import Annotated
from superopt import Case, Tensor, softmax, spec

@spec(cases=[Case("small", m=40, n=80)], dtype="bf16")
def row_softmax(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return softmax(x, "n")
"""


def first_contact(tmp_path, text):
    (tmp_path / "spec.py").write_text(SPEC)
    (tmp_path / "kernel.py").write_text(text)
    job = {"kernel": str(tmp_path / "kernel.py"), "spec": f"{tmp_path / 'spec.py'}:row_softmax"}
    (tmp_path / "jobs.json").write_text(json.dumps([job]))
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu_first_contact.py")]
    command += [str(tmp_path / "jobs.json"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    record = json.loads((tmp_path / "out" / "first_contact.json").read_text())
    return done, record


def test_a_right_kernel(tmp_path):
    done, record = first_contact(tmp_path, KERNEL.read_text())
    assert done.returncode == 0, done.stdout + done.stderr
    (kernel,) = record["kernels"]
    assert kernel["problem"] == ""
    assert {r["dtype"] for r in kernel["rows"]} == {"fp16", "fp32"}
    assert all(r["ok"] for r in kernel["rows"])
    assert set(record["machine"]) == {"gpu", "torch", "triton", "cuda", "date"}
    assert "kernel" in done.stdout.splitlines()[0]


def test_a_wrong_kernel_and_a_crash(tmp_path):
    wrong = KERNEL.read_text().replace("total = total * kept", "total = total")
    done, record = first_contact(tmp_path, wrong)
    assert done.returncode == 1
    assert not all(r["ok"] for r in record["kernels"][0]["rows"])
    dead = KERNEL.read_text().replace("    if M and N:\n", "    import os\n    os.abort()\n")
    done, record = first_contact(
        tmp_path, dead.replace("        row_softmax_0", "    row_softmax_0")
    )
    assert done.returncode == 1
    assert record["kernels"][0]["problem"]
