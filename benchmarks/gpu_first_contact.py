"""First contact of printed kernels with a GPU: do they run, and are they within tolerance?

    python benchmarks/gpu_first_contact.py JOBS.json [--out DIR] [--seconds N] [--small]

JOBS.json is a list of ``{"kernel": "runs/softmax/softmax.py", "spec": "specs/softmax.py:softmax"}``
(paths from the directory where this is started). Each kernel runs in a process of its own, in bf16,
fp16 and fp32:

* on hostile inputs at moderate sizes, with every plan of the file whose dtype has that width;
* at the sizes of each of the spec's cases of that width (outputs compared at sampled positions).

Every call is made twice and must return the same bits. Needs torch, triton and numpy. Without a GPU
Triton's interpreter runs fp32 and fp16 at small sizes, which only tests this script. A table is
printed last; details go to DIR (default: ``$OUT``, else ``benchmarks/results``) as
``first_contact.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WIDTH = {"bf16": 2, "fp16": 2, "fp32": 4}
INTERPRETED = 4  # families, where an interpreter runs them
MODERATE = 320  # positions of an axis at most, on hostile inputs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=150.0, help="limit for one kernel")
    parser.add_argument("--small", action="store_true", help="no real sizes")
    parser.add_argument("--families", type=int, default=None, help="input families (default: all)")
    parser.add_argument("--one", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    jobs = json.loads(options.jobs.read_text())
    if options.one is not None:
        for row in check(jobs[options.one], options.small, options.families):
            print(json.dumps(row), flush=True)
        return 0
    folder = options.out or Path(os.environ.get("OUT", ROOT / "benchmarks" / "results"))
    folder.mkdir(parents=True, exist_ok=True)
    kernels = []
    for index, job in enumerate(jobs):
        kernels.append(in_process(options, index, job))
        # Written after every kernel, so that an interruption loses nothing that was finished.
        record = {"machine": machine(), "kernels": kernels}
        (folder / "first_contact.json").write_text(json.dumps(record, indent=1) + "\n")
    good = table(kernels)
    print(f"{machine()['gpu']}; details in {folder / 'first_contact.json'}")
    return 0 if good else 1


def in_process(options: argparse.Namespace, index: int, job: dict[str, str]) -> dict[str, Any]:
    """All rows of one kernel; a crash or a hang keeps the rows that were finished."""
    command = [sys.executable, __file__, str(options.jobs), "--one", str(index)]
    command += ["--small"] if options.small else []
    command += ["--families", str(options.families)] if options.families else []
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    if machine()["gpu"] == "none":
        environment["TRITON_INTERPRET"] = "1"
    start = time.monotonic()
    problem = ""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.seconds, env=environment
        )
        text, errors = done.stdout, done.stderr
        if done.returncode:
            last = errors.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            problem = last[0]
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        problem = f"stopped after {options.seconds:g} s"
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    seconds = round(time.monotonic() - start, 1)
    return {**job, "problem": problem, "seconds": seconds, "rows": rows}


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    import torch
    import triton

    gpu = torch.cuda.is_available()
    return {
        "gpu": torch.cuda.get_device_name() if gpu else "none",
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def check(job: dict[str, str], small: bool, most: int | None) -> Iterator[dict[str, Any]]:
    """The rows of one kernel: one for each call and output; at most ``most`` input families."""
    import torch

    from superopt.loading import load as load_spec
    from superopt.verify.run.run_kernel import load

    (spec,) = load_spec(job["spec"])
    module = load(job["kernel"])
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    for dtype in ("bf16", "fp16", "fp32") if gpu else ("fp16", "fp32"):
        plans = [p for p in module.PLANS if WIDTH.get(p.dtype, 2) == WIDTH[dtype]]
        if not plans:
            yield row(dtype, "", "no plan", False, f"the file has no plan for {dtype}")
        for plan in plans:
            yield from hostile(spec, module, plan, dtype, device, most)
        for case in spec.cases:
            if gpu and not small and WIDTH[case.dtype] == WIDTH[dtype]:
                yield from real(spec, module, case, dtype, device)


def row(
    dtype: str, case: str, what: str, ok: bool, message: str = "", **figures: Any
) -> dict[str, Any]:
    return {"dtype": dtype, "case": case, "what": what, "ok": ok, "message": message, **figures}


def hostile(
    spec: Any, module: Any, plan: Any, dtype: str, device: str, most: int | None
) -> Iterator[dict[str, Any]]:
    """Every input family at sizes somewhat above the plan's tiles."""
    from superopt.verify.run.calls import Call
    from superopt.verify.run.calls import trial_of
    from superopt.verify.run.checks import judged
    from superopt.verify.run.inputs import families
    from superopt.verify.run.run_kernel import first_line
    from superopt.verify.run.run_kernel import run_trial
    from superopt.verify.run.trial import RunResult

    sizes = {}
    for axis, size in plan.sizes.items():
        tile = max((launch.tiles.get(axis, 1) for launch in plan.launches), default=1)
        above = tile + tile // 2 + 1 if device == "cuda" or tile == 1 else tile + 3
        # A tile that holds the whole axis stays whole.
        sizes[axis] = min(size, above, MODERATE) if tile < size else size
    scalars = next((dict(c.scalars) for c in spec.cases if c.name == plan.name), {})
    some = most if device == "cuda" else INTERPRETED
    for family in islice(families(spec.program, sizes, dtype, 0, scalars), some):
        trial = trial_of(spec.program, family, sizes, dtype, plan.graph, repeats=1)
        try:
            result = run_trial(module, spec.name, trial, device, plan._replace(dtype=dtype))
        except Exception as error:  # becomes a row; a broken device ends the process at the next
            result = RunResult(f"{type(error).__name__}: {first_line(error)}")
        for f in judged(spec.program, Call(trial, family, dtype), result, plan.tf32):
            yield row(
                dtype, plan.name, f.label, f.ok, f.message, output=f.output, sizes=sizes,
                rel=f.rel, worst=f.worst, rel_limit=f.rel_limit, worst_limit=f.worst_limit,
                plain=plain(module, plan.graph),
            )  # fmt: skip
        if not result.ran and "OutOfResources" in result.message:
            return


def real(spec: Any, module: Any, case: Any, dtype: str, device: str) -> Iterator[dict[str, Any]]:
    """One case at its own sizes, by the file's own dispatch, run twice."""
    import torch

    from superopt.ugraph.node import Input
    from superopt.verify.run import real_sizes
    from superopt.verify.run.run_kernel import TORCH_DTYPES
    from superopt.verify.run.run_kernel import as_tuple
    from superopt.verify.run.run_kernel import first_line
    from superopt.verify.run.run_kernel import same_bits
    from superopt.verify.run.tolerance import compare
    from superopt.verify.run.tolerance import storage

    program, sizes = spec.program, dict(case.sizes)
    try:
        tensors = real_sizes.drawn(program, sizes, dtype, device, 1, case.scalars, case.integers)
        arguments = [
            tensors[p.name] if isinstance(p, Input) else tensors[p.name].item()
            for p in program.params
        ]
        runs = []
        for _ in range(2):
            outs = tuple(
                torch.full(
                    [sizes[a] for a in s.order],
                    float("nan"),
                    dtype=TORCH_DTYPES[storage(s, dtype)],
                    device=device,
                )
                for s in program.outputs
            )
            call = getattr(module, spec.name)
            runs.append(as_tuple(call(*arguments, out=outs if len(outs) > 1 else outs[0])))
        torch.cuda.synchronize()
        race = [not same_bits(a, b) for a, b in zip(*runs, strict=True)]
        at = real_sizes.sampled(program, sizes)
        expected = real_sizes.expected_at(program, tensors, sizes, dtype, device, at, case.tf32)
        for store, got, raced in zip(program.outputs, runs[0], race, strict=True):
            seen = real_sizes.select(got, store.order, at).double().cpu().numpy()
            c = compare(seen, expected[store.name])
            message = "two runs differ: a race" if raced else c.message
            yield row(
                dtype, case.name, "case sizes", c.ok and not raced, message, output=store.name,
                sizes=sizes, sampled={a: len(p) for a, p in at.items()},
                rel=c.rel, worst=c.worst, rel_limit=c.limit.rel, worst_limit=c.limit.worst,
                plain=plain(module),
            )  # fmt: skip
    except Exception as error:
        why = f"{type(error).__name__}: {first_line(error)}"
        yield row(dtype, case.name, "case sizes", False, why)
    finally:
        torch.cuda.empty_cache()


def plain(module: Any, graph: int | None = None) -> dict[str, str]:
    """Why the launches just made took plain functions, of functions that could have roles."""
    found = getattr(module, "TAKEN", {})
    return {n: why for n, why in found.items() if graph is None or f"_g{graph}_" in n}


def table(kernels: list[dict[str, Any]]) -> bool:
    """Prints one line for each kernel, dtype and case; whether all is well."""
    good = True
    head = f"{'kernel':<28}{'dtype':<7}{'case':<14}{'calls':>6}{'roles':>6}{'failed':>7}{'used':>7}"
    print(f"{head}  first failure")
    for kernel in kernels:
        name = Path(kernel["kernel"]).stem
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for r in kernel["rows"]:
            groups.setdefault((r["dtype"], r["case"]), []).append(r)
        for (dtype, case), rows in groups.items():
            failed = [r for r in rows if not r["ok"]]
            used = max((share(r) for r in rows if r["ok"]), default=0.0)
            text = f"{failed[0]['what']}: {failed[0]['message']}" if failed else ""
            good &= not failed
            roles = sum(1 for r in rows if "" in r.get("plain", {}).values())
            counts = f"{len(rows):>6}{roles:>6}{len(failed):>7}{used:>7.0%}"
            print(f"{name:<28}{dtype:<7}{case:<14}{counts}  {text}".rstrip())
        if kernel["problem"] or not kernel["rows"]:
            good = False
            print(f"{name:<28}{kernel['problem'] or 'no rows'}")
    return good


def share(r: dict[str, Any]) -> float:
    """The share of the tolerance that a row used up."""
    limits = ((r.get("rel"), r.get("rel_limit")), (r.get("worst"), r.get("worst_limit")))
    found = (value / limit for value, limit in limits if value is not None and limit)
    return max(found, default=0.0)


if __name__ == "__main__":
    sys.exit(main())
