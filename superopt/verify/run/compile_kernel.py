"""One launch compiled ahead of time, inside the worker, and what its binary says of itself."""

from __future__ import annotations

import re
import subprocess
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from superopt.source import Facts
from superopt.source import LaunchSpec
from superopt.verify.run.run_kernel import first_line
from superopt.verify.run.run_kernel import load
from superopt.verify.run.trial import CompileRequest
from superopt.verify.run.trial import NotCompiled

WARP = 32


def compile_launch(request: CompileRequest) -> Facts | NotCompiled:
    """The facts of one launch; any failure of the compiler becomes a value."""
    spec = request.spec
    try:
        return facts_of(load(request.file, upstream=True), spec, request.target)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__}: {first_line(error)} ({Path(last.filename).name})"
        return NotCompiled(spec.function, request.target, why)


def facts_of(module: ModuleType, spec: LaunchSpec, target: str) -> Facts:
    """Compiles ``spec`` of a loaded file for ``target`` (``sm_90``)."""
    import triton
    from triton.backends.compiler import GPUTarget

    if not re.fullmatch(r"sm_\d+a?", target):
        raise ValueError(f"target {target!r} is not of the form sm_90")
    function = getattr(module, spec.function)
    source = source_type(function)(
        fn=function,
        signature=dict(spec.signature),
        constexprs=dict(spec.constexprs),
        attrs=specialised(spec),
    )
    options = {"num_warps": spec.warps, "num_stages": spec.stages, "launch_pdl": spec.dependent}
    capability = int(target.removeprefix("sm_").removesuffix("a"))
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, WARP), options=options)
    if function_has_roles(function) and (said := serialised(compiled.asm["ptx"], capability)):
        raise ValueError(f"the assembler serialises the products: {said}")
    registers, spill_bytes = resources(compiled.asm["cubin"])
    return Facts(spec.function, target, int(compiled.metadata.shared), registers, spill_bytes)


def function_has_roles(function: Any) -> bool:
    """Whether a printed function says what each warp does."""
    return bool(getattr(function, "is_gluon", lambda: False)())


def source_type(function: Any) -> Any:
    """What Triton's compiler takes a printed function as."""
    from triton.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource if function_has_roles(function) else ASTSource


def serialised(ptx: str, capability: int) -> str:
    """What the assembler says of matrix products that it cannot overlap; empty if nothing.

    Its messages C7500 to C7599 are about products in flight whose registers others touch.
    """
    from triton import knobs

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(ptx)
        arch = f"--gpu-name=sm_{capability}{'a' if capability >= 90 else ''}"
        tool, binary = str(Path(knobs.nvidia.ptxas.path)), str(Path(folder) / "kernel.cubin")
        done = subprocess.run(
            [tool, "-v", arch, str(file), "-o", binary], capture_output=True, text=True, check=False
        )
    found = re.search(r".*\bC75\d\d\b.*", done.stdout + done.stderr)
    return found.group(0).strip() if found else ""


def specialised(spec: LaunchSpec) -> dict[tuple[int, ...], list[list[Any]]]:
    """Attributes of the arguments, as in a launch on ordinary tensors.

    torch aligns its allocations, so pointers are; integers are taken as multiples of 16 if
    the spec says so. Loads are only vectorised, and thus pipelined through shared memory,
    where this is known. The attributes are made by Triton's own functions, as in a launch: what
    is compiled here then lies in Triton's cache under the key that a launch asks for.
    """
    import triton
    from triton._utils import find_paths_if
    from triton._utils import get_iterable_path
    from triton.backends.compiler import BaseBackend

    # Up to 3.6 a launcher takes the value of a constant for what is said of it.
    old = tuple(map(int, triton.__version__.split(".")[:2])) < (3, 7)
    constants: dict[str, Any] = dict(spec.constexprs) if old else {}
    said = [
        constants.get(name, "") if kind == "constexpr" else _specialised(name, kind, spec)
        for name, kind in spec.signature
    ]
    paths = find_paths_if(said, lambda _, text: isinstance(text, str))
    return {path: BaseBackend.parse_attr(get_iterable_path(said, path)) for path in paths}


def _specialised(name: str, kind: str, spec: LaunchSpec) -> str | None:
    """What Triton's launcher says of an argument: ``D`` for a multiple of 16, nothing of floats."""
    if kind.startswith("*") or (name in spec.divisible and kind in ("i32", "i64")):
        return "D"
    return "" if kind in ("i32", "i64") else None


def resources(cubin: bytes) -> tuple[int, int]:
    """Registers per thread, and bytes of local memory per thread (spills and arrays).

    Raises:
        ValueError: the disassembler's answer has no such line.
    """
    from triton import knobs

    tool = Path(knobs.nvidia.cuobjdump.path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        command = [str(tool), "--dump-resource-usage", str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+).*?LOCAL:(\d+)", text)
    if found is None:
        raise ValueError(f"cuobjdump says nothing about resources: {text[:200]!r}")
    registers, stack, local = map(int, found.groups())
    return registers, stack + local
