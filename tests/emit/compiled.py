"""Compiles printed files ahead of time; prints {check: "" or what is wrong} into verdicts.json.

A script of its own, in which triton is imported without its interpreter.
Usage: python -m tests.emit.compiled DIRECTORY.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from dataclasses import replace
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)
from types import ModuleType

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from superopt.emit.ahead import launch_specs
from superopt.source import LaunchSpec
from tests.emit.cases import CASES
from tests.emit.cases import Printed
from tests.emit.harness import load

TOUCHES = r"\b(ld|st|atom|red|prefetch|cp)\.[\w.]*global"  # an instruction on device memory

# A full matrix would take minutes: each case once for each target, dtypes in turn.
TARGETS = ((90, "bf16"), (80, "fp16"), (100, "fp32"))


def build(module: ModuleType, spec: LaunchSpec, capability: int) -> str:
    """The PTX of one launch."""
    function = getattr(module, spec.function)
    names = [name for name, _ in spec.signature]
    assert names == function.arg_names, f"{names} are not {function.arg_names}"
    sixteen = [n for n, t in spec.signature if t.startswith("*") or n in spec.divisible]
    attributes = {(names.index(n),): [["tt.divisibility", 16]] for n in sixteen}
    source = ASTSource(function, dict(spec.signature), dict(spec.constexprs), attributes)
    options = {"num_warps": spec.warps, "num_stages": spec.stages, "launch_pdl": spec.dependent}
    built = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return str(built.asm["ptx"])


def compiles(module: ModuleType, case: Printed, capability: int, dtype: str) -> None:
    for index, graph in enumerate(case.graphs):
        for spec in launch_specs(graph, case.configs(graph), case.sizes[0], dtype, index=index):
            build(module, spec, capability)


def free_of_masks(module: ModuleType, case: Printed) -> None:
    """Where tiles divide sizes nothing is masked: loads are wide and never predicated away."""
    graph = case.graphs[0]
    sizes = {"m": 64, "n": 1024}
    (spec,) = launch_specs(graph, case.configs(graph, 64), sizes, "fp32")
    text = build(module, spec, 90)
    assert "ld.global.v4" in text
    ragged = launch_specs(graph, case.configs(graph, 64), {"m": 64, "n": 1000}, "fp32")[0]
    assert text.count("setp.") < build(module, ragged, 90).count("setp.")


def matrix_units(module: ModuleType, case: Printed) -> None:
    """A fold of a product of 16-bit tensors runs on the matrix units of each target."""
    graph = case.graphs[0]
    sizes = {"m": 256, "n": 256, "k": 256}
    (spec,) = launch_specs(graph, case.configs(graph, 64), sizes, "bf16")
    for capability in (80, 90):
        text = build(module, spec, capability)
        assert "mma.sync" in text or "wgmma" in text, f"no matrix instruction for sm_{capability}"


def copies(module: ModuleType, case: Printed) -> None:
    """Operands come by descriptor on sm_90, and nothing else is loaded where all are operands."""
    module = load(case.text(descriptors=True), Path(module.__file__ or "").with_name("copies.py"))
    graph = case.graphs[0]
    sizes = dict.fromkeys("bhmnde", 64)
    asked = tuple(replace(c, descriptors=True) for c in case.configs(graph, 64))
    (spec,) = launch_specs(graph, asked, sizes, "bf16")
    assert ("q_desc", "tensordesc<bf16[1, 1, 16, 64]>") in spec.signature
    text = build(module, spec, 90)
    assert "cp.async.bulk.tensor" in text
    assert "ld.global" not in text
    (ragged,) = launch_specs(graph, asked, {**sizes, "d": 60}, "bf16")
    assert "q_ptr" in dict(ragged.signature)


def dependent(module: ModuleType, case: Printed) -> None:
    """From sm_90 on a dependent launch waits before it touches memory, and the one before leads
    it; without, nothing of this is left, so that older targets compile."""
    graph = case.graphs[1]
    plain = case.configs(graph)
    asking = (plain[0], replace(plain[1], dependent=True))
    for capability in (90, 100):
        specs = launch_specs(graph, asking, case.sizes[0], "bf16", index=1)
        first, second = (build(module, spec, capability) for spec in specs)
        assert first.count("griddepcontrol.launch_dependents") == 1
        assert "griddepcontrol.wait" not in first
        assert second.count("griddepcontrol.wait") == 1
        assert "griddepcontrol.launch_dependents" not in second
        before, _, after = second.partition("griddepcontrol.wait")
        assert not re.search(TOUCHES, before)
        assert {"ld", "st"} <= set(re.findall(TOUCHES, after))
    for spec in launch_specs(graph, plain, case.sizes[0], "bf16", index=1):
        assert "griddepcontrol" not in build(module, spec, 80)


def keeps_nan(module: ModuleType, case: Printed) -> None:
    """Maxima compile to the instruction that keeps NaN (the interpreter keeps it in any case)."""
    graph = case.graphs[0]
    for spec in launch_specs(graph, case.configs(graph), case.sizes[0], "fp32"):
        text = build(module, spec, 90)
        assert "max.NaN.f32" in text
        assert "max.f32" not in text


def main(directory: Path) -> None:
    verdicts: dict[str, str] = {}
    for name, make in CASES.items():
        case = make()
        module = load(case.text(), directory / f"compiled_{name}.py")
        checks = {
            f"sm_{c}-{d}": lambda m=module, k=case, c=c, d=d: compiles(m, k, c, d)
            for c, d in TARGETS
        }
        if name == "softmax":
            checks["free_of_masks"] = lambda m=module, k=case: free_of_masks(m, k)
            checks["keeps_nan"] = lambda m=module, k=case: keeps_nan(m, k)
        if name == "attention":
            checks["copies"] = lambda m=module, k=case: copies(m, k)
            checks["dependent"] = lambda m=module, k=case: dependent(m, k)
        if name == "rms":
            checks["matrix_units"] = lambda m=module, k=case: matrix_units(m, k)
        for title, check in checks.items():
            try:
                check()
            except Exception:
                verdicts[f"{name}-{title}"] = traceback.format_exc(limit=-6)
            else:
                verdicts[f"{name}-{title}"] = ""
    (directory / "verdicts.json").write_text(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
