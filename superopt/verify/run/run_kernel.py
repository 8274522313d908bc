"""One call of a printed kernel, inside the worker: tensors in guarded memory, poisoned outputs."""

from __future__ import annotations

import importlib.util
import linecache
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from superopt.ugraph.levels import Config
from superopt.verify.run import stand_in
from superopt.verify.run.indices import by_squeezing
from superopt.verify.run.lean import leanly
from superopt.verify.run.reductions import by_slices
from superopt.verify.run.trial import PERMUTED
from superopt.verify.run.trial import Array
from superopt.verify.run.trial import Parameter
from superopt.verify.run.trial import Result
from superopt.verify.run.trial import RunRequest
from superopt.verify.run.trial import RunResult
from superopt.verify.run.trial import Trial

GUARD = 1024  # elements before and after each tensor, filled with poison
PADDING = 3  # elements after each row of a permuted tensor

TORCH_DTYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "bool": torch.bool,
}

_modules: dict[tuple[str, bytes, bool], ModuleType] = {}


def load(file: str, upstream: bool = False) -> ModuleType:
    """The module of a printed file, loaded once for each content.

    ``upstream``: FlagTree's words of plain kernels may mean what upstream has for them, where
    there is no FlagTree (``stand_in``). It is not for timing.

    Raises:
        ImportError: the file needs FlagTree, which is not here.
    """
    content = Path(file).read_bytes()
    upstream = upstream and stand_in.LANGUAGE.encode() in content
    key = (file, content, upstream)
    if key not in _modules:
        linecache.checkcache(file)  # triton reads the source again, through this cache
        name = f"printed_kernel_{len(_modules)}"
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with warnings.catch_warnings():  # that another file registered the operator: as intended
            warnings.filterwarnings("ignore", message="torch.ops.superopt")
            with stand_in.in_place() if upstream else nullcontext():
                spec.loader.exec_module(module)
        _modules[key] = module
    return _modules[key]


def run(request: RunRequest) -> RunResult:
    """Interprets one trial; whatever the kernel raises becomes a message."""
    try:
        by_slices()
        by_squeezing()
        leanly()
        module = load(request.file, upstream=True)
        return run_trial(module, request.function, request.trial, "cpu")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(last.filename).name}:{last.lineno}"
        return RunResult(f"{type(error).__name__}: {first_line(error)} ({at})")


def first_line(error: Exception) -> str:
    """The first line of an error's text that is not blank.

    The text of an error of Triton's compiler begins with the source; its last part says why.
    """
    text = getattr(error, "error_message", None) or str(error)
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0] if lines else ""


def run_trial(
    module: ModuleType, function: str, trial: Trial, device: str, plan: Any = None
) -> RunResult:
    """Calls the kernel, and compares with further runs, guards and inputs.

    ``plan``: of the file's own, instead of one with the trial's Configs.
    """
    # Fills torch.empty with NaN, so that a workspace that is read before it is written shows. This
    # is torch.use_deterministic_algorithms(True, warn_only=True) without its import of a compiler.
    torch.set_deterministic_debug_mode("warn")
    call = getattr(module, function)
    inputs = {p.name: placed(p, trial.layout, device) for p in trial.parameters if not p.scalar}
    arguments = [p.value.item() if p.scalar else inputs[p.name].view for p in trial.parameters]
    before = {name: place.buffer.clone() for name, place in inputs.items()}
    if plan is None and trial.configs is not None:
        plan = plan_of(module, trial)
    outputs: list[list[torch.Tensor]] = []
    made = count_descriptors(module)
    for _ in range(1 + trial.repeats):
        poisoned = [poison(r, trial.layout, device) for r in trial.results]
        views = tuple(g.view for g in poisoned)
        out = None if not trial.out else views[0] if len(views) == 1 else views
        returned = call(*arguments, out=out, plan=plan)
        if device == "cuda":
            torch.cuda.synchronize()
        got = list(views if trial.out else as_tuple(returned))
        if message := _mismatch(got, trial.results, poisoned):
            return RunResult(message)
        outputs.append([g.detach().clone() for g in got])
    if trial.descriptors and not made:
        return RunResult("no tensor descriptor was made, so the function with them did not run")
    for name, place in inputs.items():
        if not same_bits(place.buffer, before[name]):
            return RunResult(f"the kernel wrote to its input {name!r}")
    for again in outputs[1:]:
        for first, second, result in zip(outputs[0], again, trial.results, strict=True):
            if not same_bits(first, second):
                return RunResult(f"two runs differ in output {result.name!r}: a race")
    return RunResult(
        outputs={r.name: widened(o) for r, o in zip(trial.results, outputs[0], strict=True)}
    )


def count_descriptors(module: ModuleType) -> list[str]:
    """A list that grows by one entry with each tensor descriptor that ``module`` makes, until the
    next call of this function."""
    made: list[str] = []
    if hasattr(module, "TensorDescriptor"):
        from triton.tools.tensor_descriptor import TensorDescriptor

        def counted(*arguments: Any) -> TensorDescriptor:
            made.append("descriptor")
            return TensorDescriptor(*arguments)

        module.TensorDescriptor = counted  # type: ignore[attr-defined]
    return made


def as_tuple(value: Any) -> tuple[torch.Tensor, ...]:
    """One output or several, as several."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _mismatch(
    got: Sequence[torch.Tensor], results: Sequence[Result], poisoned: Sequence[Guarded]
) -> str:
    """What is wrong with the outputs apart from their values, or nothing."""
    if len(got) != len(results):
        return f"the launcher returned {len(got)} outputs instead of {len(results)}"
    for value, result in zip(got, results, strict=True):
        if tuple(value.shape) != result.shape:
            return f"output {result.name!r} has shape {tuple(value.shape)}, not {result.shape}"
        if value.dtype != TORCH_DTYPES[result.dtype]:
            return f"output {result.name!r} has dtype {value.dtype}, not {result.dtype}"
    for guard, result in zip(poisoned, results, strict=True):
        if not guard.intact():
            return f"the kernel wrote outside of its output {result.name!r}"
    return ""


def plan_of(module: ModuleType, trial: Trial) -> Any:
    """The printed file's own plan object for a trial's configs."""
    assert trial.configs is not None
    launches = tuple(launch_of(module, config) for config in trial.configs)
    return module.Plan("trial", trial.graph, launches, dict(trial.sizes))


def launch_of(module: ModuleType, config: Config) -> Any:
    """The printed file's own launch object.

    Raises:
        ValueError: the Config asks for descriptors, and the file has no function with them.
    """
    if config.descriptors and not hasattr(module, "TensorDescriptor"):
        raise ValueError("the file has no function with tensor descriptors")
    how: dict[str, bool | int | str] = {"descriptors": True} if config.descriptors else {}
    how |= {"group": config.group} if config.group != 1 else {}
    how |= {"dependent": True} if config.dependent else {}
    if config.consumers:
        how |= {"consumers": config.consumers, "roles": config.kind}
    return module.Launch(config.tile, config.parts, config.warps, config.stages, **how)


class Guarded:
    """A tensor inside a larger buffer whose other elements are poison."""

    def __init__(self, buffer: torch.Tensor, view: torch.Tensor) -> None:
        self.buffer = buffer
        self.view = view
        self._free = torch.ones(buffer.shape, dtype=torch.bool, device=buffer.device)
        self._free.as_strided(view.shape, view.stride(), view.storage_offset()).fill_(False)
        self._before = buffer.clone()

    def intact(self) -> bool:
        """Whether nothing but the tensor's own elements changed."""
        return same_bits(self.buffer[self._free], self._before[self._free])


def guarded(shape: tuple[int, ...], dtype: str, layout: str, device: str) -> Guarded:
    """A poisoned tensor: NaN, or a large number if the dtype has none."""
    strides = strides_of(shape, layout)
    length = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    length = 0 if 0 in shape else length
    kind = TORCH_DTYPES[dtype]
    fill = float("nan") if kind.is_floating_point else (kind is torch.bool or 113)
    buffer = torch.full((length + 2 * GUARD,), fill, dtype=kind, device=device)
    return Guarded(buffer, buffer.as_strided(shape, strides, GUARD))


def strides_of(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Element strides. Permuted: the axes before the last in reverse order, rows padded."""
    axes = list(range(len(shape)))
    step, pad = 1, 0
    if layout == PERMUTED and len(shape) > 1:
        axes = [*axes[-2::-1], axes[-1]]
        pad = PADDING
    strides = [1] * len(shape)
    for place, axis in enumerate(reversed(axes)):
        strides[axis] = step
        step = step * max(shape[axis], 1) + (pad if place == 0 else 0)
    return tuple(strides)


def placed(parameter: Parameter, layout: str, device: str) -> Guarded:
    """A parameter's tensor on the device."""
    value = np.array(parameter.value, order="C")  # keeps a tensor without axes as it is
    place = guarded(value.shape, parameter.dtype, layout, device)
    place.view.copy_(torch.from_numpy(value).to(TORCH_DTYPES[parameter.dtype]))
    return place


def poison(result: Result, layout: str, device: str) -> Guarded:
    """Where an output goes: everything is poison until the kernel writes it."""
    return guarded(result.shape, result.dtype, layout, device)


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one dtype hold the same bits, NaN included."""
    size = a.element_size()
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return torch.equal(a.contiguous().view(kind), b.contiguous().view(kind))


def widened(value: torch.Tensor) -> Array:
    """A tensor as numpy holds it: float32, int64 or bool."""
    if value.dtype.is_floating_point:
        return np.asarray(value.float().cpu().numpy())
    return np.asarray((value if value.dtype == torch.bool else value.long()).cpu().numpy())
