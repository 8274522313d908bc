"""Runs printed files in Triton's interpreter; prints a JSON object {check: "" or what is wrong}.

A script of its own, because TRITON_INTERPRET must be set before triton is imported.
Usage: python -m tests.emit.interpreted DIRECTORY, which receives the printed files.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import pytest
import torch

from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind
from tests.emit.cases import CASES
from tests.emit.cases import Printed
from tests.emit.described import descriptors
from tests.emit.described import ragged
from tests.emit.harness import LIMITS
from tests.emit.harness import compare
from tests.emit.harness import inputs
from tests.emit.harness import load
from tests.emit.harness import plans
from tests.emit.numbering import groups
from tests.emit.numbering import joint
from tests.emit.numbering import views_of_heads
from tests.emit.succession import able
from tests.emit.succession import dependent
from tests.emit.succession import launched


def runs(module: ModuleType, case: Printed, dtype: str) -> None:
    """Every graph at every size, into poisoned memory, against float64."""
    function = getattr(module, case.program.name)
    for sizes in case.sizes:
        arguments = inputs(case, sizes, dtype)
        wanted = module.reference(*arguments, dtype=torch.float64)
        for plan in plans(module, case):
            outs = function(*arguments, plan=plan)
            many = outs if isinstance(outs, tuple) else (outs,)
            poisoned = tuple(
                torch.empty_like(o).fill_(77 if o.dtype != torch.bool else 1) for o in many
            )
            given = poisoned if isinstance(outs, tuple) else poisoned[0]
            found = function(*arguments, plan=plan, out=given)
            assert (found[0] if isinstance(found, tuple) else found) is poisoned[0]
            compare(found, wanted, LIMITS[dtype], f"{sizes}, graph {plan.graph}")


def spec_reference(module: ModuleType, case: Printed) -> None:
    """The printed reference against the meaning of the program, by the evaluator in float64."""
    from superopt.ugraph.evaluate import evaluate_program
    from superopt.ugraph.floats import FloatDomain

    sizes = case.sizes[0]
    arguments = inputs(case, sizes, "fp32")
    arrays = {}
    for param, value in zip(case.program.params, arguments, strict=True):
        wide = np.asarray(value)
        if param.kind is Kind.REAL:
            wide = wide.astype(np.float64)
        arrays[param.name] = wide
    wanted = evaluate_program(case.program, FloatDomain(np.float64), arrays, sizes)
    found = module.reference(*arguments, dtype=torch.float64)
    tensors = tuple(torch.as_tensor(np.asarray(wanted[o.name])) for o in case.program.outputs)
    compare(found, tensors if isinstance(found, tuple) else tensors[0], 1e-12, "reference")


def nan_spreads(module: ModuleType, case: Printed) -> None:
    """A NaN in the inputs gives NaN wherever the reference has it, and nowhere else."""
    function = getattr(module, case.program.name)
    sizes = case.sizes[0]
    floats = [
        i for i, p in enumerate(case.program.params) if isinstance(p, Input) and p.kind is Kind.REAL
    ]
    for index in floats:
        arguments = inputs(case, sizes, "fp32")
        arguments[index].view(-1)[arguments[index].numel() // 2] = float("nan")
        wanted = module.reference(*arguments, dtype=torch.float64)
        for plan in plans(module, case):
            compare(function(*arguments, plan=plan), wanted, 1e-5, f"NaN in argument {index}")


def infinite(module: ModuleType, case: Printed) -> None:
    """Rows of -inf and single infinities behave as in the reference."""
    for value, where in ((float("-inf"), 0), (float("-inf"), slice(None)), (float("inf"), 3)):
        (x,) = inputs(case, case.sizes[0], "fp32")
        x[1, where] = value
        wanted = module.reference(x, dtype=torch.float64)
        for plan in plans(module, case):
            found = getattr(module, case.program.name)(x, plan=plan)
            compare(found, wanted, 1e-5, f"{value} at {where}")


def huge(module: ModuleType, case: Printed) -> None:
    """Functions far outside of the usual range: no NaN from an overflow inside."""
    x = torch.tensor(
        [[-1e30, -200.0, -88.0, -30.0, -1e-3, 0.0, 1e-30, 1e-4, 0.24, 0.26, 9.0, 100.0, 1e30]] * 5
    )
    found = module.functions(x)
    wanted = module.reference(x, dtype=torch.float64)
    for name, a, b in zip(case.program.outputs, found, wanted, strict=True):
        a, b = a.double(), b.float().double()
        ok = (
            (a == b) | ((a - b).abs() <= 2e-6 * b.abs() + 1e-37) | (torch.isnan(a) & torch.isnan(b))
        )
        if name.name in ("log", "log2"):  # lg2.approx has an absolute error
            ok |= (a - b).abs() < 1e-5
        assert bool(ok.all()), f"{name.name}: {x[0][~ok[0]]}: {a[0][~ok[0]]} for {b[0][~ok[0]]}"


def views(module: ModuleType, case: Printed) -> None:
    """[B, S, H, D] tensors as permuted views, also for the output; and a broadcast one."""
    sizes = case.sizes[0]
    q, k, v = inputs(case, sizes, "fp16")
    turned = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v)]
    assert not turned[0].is_contiguous() or sizes["h"] == 1
    wanted = module.reference(q, k, v, dtype=torch.float64)
    wide = torch.full((wanted.shape[0], wanted.shape[2], wanted.shape[1], wanted.shape[3] + 3), 7.0)
    out = wide.to(torch.float16).permute(0, 2, 1, 3)[..., : wanted.shape[3]]
    compare(module.attention(*turned, out=out), wanted, 1.5e-3, "views")
    one = k[:1].expand(k.shape)
    wanted = module.reference(q, one, v, dtype=torch.float64)
    compare(module.attention(q, one, v), wanted, 1.5e-3, "expanded")


def errors(module: ModuleType, case: Printed) -> None:
    """Each misuse is a ValueError that names the argument."""
    q, k, v = inputs(case, case.sizes[0], "fp32")
    shape = module.reference(q, k, v).shape
    bad: list[tuple[str, Callable[[], object]]] = [
        ("k: expected a tensor, got list", lambda: module.attention(q, [1.0], v)),
        ("q: expected axes", lambda: module.attention(q[0], k, v)),
        ("q: expected dtype", lambda: module.attention(q.double(), k, v)),
        ("k: expected dtype torch.float32", lambda: module.attention(q, k.half(), v)),
        ("v: axis n has size 36, but k has 37", lambda: module.attention(q, k, v[:, :, :36])),
        (
            "k: the innermost axis d must have stride 1",
            lambda: module.attention(q, k.mT.contiguous().mT, v),
        ),
        ("q: requires grad", lambda: module.attention(q.clone().requires_grad_(), k, v)),
        ("k: expected device cpu", lambda: module.attention(q, k.to("meta"), v)),
        ("out: expected shape", lambda: module.attention(q, k, v, out=torch.empty(3))),
        (
            "out: expected torch.float32",
            lambda: module.attention(q, k, v, out=torch.empty(shape).half()),
        ),
        (
            "out: elements overlap",
            lambda: module.attention(q, k, v, out=torch.empty(shape[1:]).expand(shape)),
        ),
    ]
    for message, misuse in bad:
        with pytest.raises(ValueError, match=re.escape(message)):
            misuse()


def memory(module: ModuleType, case: Printed) -> None:
    """What does not lie in memory as its strides say, and what shares it, is refused."""
    q, k, v = inputs(case, case.sizes[0], "fp32")
    shape = module.reference(q, k, v).shape
    out = torch.empty(shape)
    strides = (*out.stride()[:-2], 1, 1)
    bad: list[tuple[str, Callable[[], object]]] = [
        ("q: expected a CUDA device", lambda: module.attention(*(t.to("meta") for t in (q, k, v)))),
        ("k: is a lazy negation", lambda: module.attention(q, torch._neg_view(k), v)),
        ("k: expected a dense tensor", lambda: module.attention(q, k.to_sparse(), v)),
        ("out: requires grad", lambda: module.attention(q, k, v, out=out.requires_grad_())),
        (
            "out: must not share memory with v",
            lambda: module.attention(q, k, v, out=v.view(-1)[: out.numel()].view(shape)),
        ),
        (
            "out: elements overlap",
            lambda: module.attention(
                q, k, v, out=torch.empty(out.numel()).as_strided(shape, strides)
            ),
        ),
        ("plan: expected a Plan", lambda: module.attention(q, k, v, plan="fast")),
        (
            "plan: expected a Plan of this file for graph 0 to",
            lambda: module.attention(q, k, v, plan=module.PLANS[0]._replace(graph=9)),
        ),
    ]
    for message, misuse in bad:
        with pytest.raises(ValueError, match=re.escape(message)):
            misuse()


def collision(module: ModuleType, case: Printed) -> None:
    """A second file of the same name says that the operator stays the first one's."""
    path = Path(module.__file__ or "")
    other = path.with_name("another.py")
    text = path.read_text().replace('"""Computes softmax', '"""Also computes softmax')
    (x,) = inputs(case, case.sizes[0], "fp32")
    with pytest.warns(UserWarning, match=rf"softmax remains that of {re.escape(str(path))}; call"):
        second = load(text, other)
    second.softmax = None  # what its operator would call
    compare(torch.ops.superopt.softmax(x), module.reference(x), 1e-5, "operator")
    load(path.read_text(), path)  # the same file again is no collision


def large(module: ModuleType, case: Printed) -> None:
    """Sums and extrema of integers that neither fp32 nor int32 holds."""
    x = torch.randint(2**24, 2**31 - 1, (5, 37), dtype=torch.int32) | 1
    for values in (x, -x):
        wide = values.long()
        wanted = (wide.sum(1) + 1, wide.amax(1) + 1, wide.amin(1) + 1)
        for plan in plans(module, case):
            found = module.integers(values, plan=plan)
            assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True)), plan


def operator(module: ModuleType, case: Printed) -> None:
    """The registered operator gives the same, and tracing knows its outputs."""
    arguments = inputs(case, case.sizes[0], "fp32")
    op = getattr(torch.ops.superopt, module.OPERATOR)
    found = op(*arguments)
    compare(
        tuple(found) if isinstance(found, list | tuple) else found,
        module.reference(*arguments, dtype=torch.float64),
        1e-5,
        "operator",
    )
    kinds = torch._subclasses.fake_tensor.FakeTensorMode()
    fakes = op(*(kinds.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments))
    fakes = fakes if isinstance(fakes, list | tuple) else (fakes,)
    real = found if isinstance(found, list | tuple) else (found,)
    for a, b in zip(fakes, real, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)


def dispatch(module: ModuleType, case: Printed) -> None:
    """An exact row first, else the nearest; a dtype of other width or a foreign target is last."""
    launch = module.PLANS[0].launches
    sizes = dict.fromkeys(module.SIZES, 64)
    rows = (
        module.Plan("small", 0, launch, {**sizes, "n": 64}, "bf16"),
        module.Plan("large", 0, launch, {**sizes, "n": 4096}, "bf16"),
        module.Plan("wide", 0, launch, {**sizes, "n": 512}, "fp32"),
        module.Plan("other", 0, launch, {**sizes, "n": 512}, "bf16", target="sm_100"),
    )
    kept, module.PLANS = module.PLANS, rows
    try:
        for n, dtype, name in (
            (64, torch.bfloat16, "small"),
            (100, torch.float16, "small"),
            (513, torch.float16, "large"),
            (5000, torch.bfloat16, "large"),
            (64, torch.float32, "wide"),
            (0, torch.bfloat16, "small"),
        ):
            at = tuple({**sizes, "n": n}[a] for a in module.SIZES)
            got = module._choose.__wrapped__(at, dtype, "sm_90").name
            assert got == name, f"n={n}, {dtype}: {got}, expected {name}"
    finally:
        module.PLANS = kept


def scalars(module: ModuleType, case: Printed) -> None:
    """A scalar must be a Python number; out= must have one tensor for each output."""
    q, k, v, scale, width = inputs(case, case.sizes[0], "fp32")
    for message, misuse in (
        (
            "scale: expected a Python float",
            lambda: module.window(q, k, v, torch.tensor(scale), width),
        ),
        ("width: expected a Python int", lambda: module.window(q, k, v, scale, 1.5)),
        ("out: expected 2 tensors, got 1", lambda: module.window(q, k, v, scale, width, out=(q,))),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            misuse()


def self_tests(module: ModuleType, case: Printed) -> None:
    assert module.self_test()


SPECIAL: dict[str, list[Callable[[ModuleType, Printed], None]]] = {
    "attention": [
        views,
        errors,
        memory,
        operator,
        dispatch,
        nan_spreads,
        self_tests,
        descriptors,
        ragged,
        dependent,
        launched,
        able,
    ],
    "softmax": [infinite, nan_spreads, operator, collision],
    "rms": [nan_spreads, groups, descriptors],
    "packed": [views_of_heads, joint, descriptors],
    "window": [operator, scalars],
    "decode": [nan_spreads],
    "functions": [huge, nan_spreads],
    "kinds": [operator],
    "listing": [infinite, nan_spreads, operator, self_tests],
    "names": [operator, self_tests],
    "integers": [large],
    "scans": [nan_spreads],
    "decay": [nan_spreads],
}


def main(directory: Path) -> None:
    verdicts: dict[str, str] = {}
    for name, make in CASES.items():
        case = make()
        checks: dict[str, Callable[[], None]] = {}
        module = load(case.text(), directory / f"printed_{name}.py")
        checks["fp32"] = lambda m=module, c=case: runs(m, c, "fp32")
        checks["fp16"] = lambda m=module, c=case: runs(m, c, "fp16")
        checks["reference"] = lambda m=module, c=case: spec_reference(m, c)
        for check in SPECIAL.get(name, []):
            checks[check.__name__] = lambda f=check, m=module, c=case: f(m, c)
        for title, check in checks.items():
            try:
                check()
            except Exception:
                verdicts[f"{name}-{title}"] = traceback.format_exc(limit=-8)
            else:
                verdicts[f"{name}-{title}"] = ""
    (directory / "verdicts.json").write_text(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
