"""One case on one device: rotated sets of inputs, their outputs, and the check of what is written.

A call is made on poisoned outputs and compared at sampled positions with the float64 meaning of
the spec. Then it is made again on other poison and compared bit for bit, so that an element that
it does not write, or a race, shows anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from superopt.case import Case
from superopt.tune.bench import Call
from superopt.ugraph.levels import Program
from superopt.ugraph.node import Input
from superopt.verify.run import real_sizes
from superopt.verify.run.real_sizes import ELEMENTS_MOST
from superopt.verify.run.real_sizes import Tensors
from superopt.verify.run.run_kernel import TORCH_DTYPES
from superopt.verify.run.run_kernel import as_tuple
from superopt.verify.run.run_kernel import same_bits
from superopt.verify.run.run_kernel import widened
from superopt.verify.run.tolerance import compare
from superopt.verify.run.tolerance import storage

OTHER_POISON = 113.0  # of the second run; the first one's is NaN where the dtype has it


@dataclass(frozen=True)
class Check:
    """What is wrong with the outputs of a call, or "". ``error``: (relative error, its limit) of
    the output that used most of its tolerance; None if nothing could be compared."""

    problem: str
    error: tuple[float, float] | None = None


class CaseData:
    """Inputs and outputs of ``case`` on ``device``, drawn by ``seed``, and what is expected.

    ``sets``: tells from the bytes of one set how many there are. Each holds the parameters and,
    under their names, the outputs. ``most``: elements of the largest value of the reference,
    which is computed of the first set.
    """

    def __init__(
        self,
        program: Program,
        case: Case,
        device: str,
        seed: int,
        sets: Callable[[int], int],
        most: int = ELEMENTS_MOST,
    ) -> None:
        self.program, self.case, self.device = program, case, device
        self.sizes = dict(case.sizes)
        first = self._drawn(seed)
        count = sets(sum(t.nbytes for t in first.values()))
        self.at = real_sizes.sampled(program, self.sizes, most)
        self.expected = real_sizes.expected_at(
            program, first, self.sizes, case.storage, device, self.at, case.tf32
        )
        self.sets = [first, *(self._drawn(seed + i) for i in range(1, count))]

    def calls(self, function: Callable[..., object], plan: object = None) -> tuple[Call, ...]:
        """Calls of a printed kernel, one for each set, into that set's outputs."""
        return tuple(self._call(function, tensors, plan) for tensors in self.sets)

    def check(self, outputs: Sequence[torch.Tensor]) -> Check:
        """``outputs`` of a call on the first set, against the expected values."""
        stores = self.program.outputs
        if len(outputs) != len(stores):
            return Check(f"{len(outputs)} outputs instead of {len(stores)}")
        worst: tuple[float, float] | None = None
        for store, got in zip(stores, outputs, strict=True):
            shape = tuple(self.sizes[a] for a in store.order)
            if not isinstance(got, torch.Tensor) or tuple(got.shape) != shape:
                what = tuple(got.shape) if isinstance(got, torch.Tensor) else type(got).__name__
                return Check(f"output {store.name!r}: {what} instead of shape {shape}", worst)
            some = widened(real_sizes.select(got, store.order, self.at))
            seen = compare(some, self.expected[store.name])
            if worst is None or seen.rel * worst[1] > worst[0] * seen.limit.rel:
                worst = (seen.rel, seen.limit.rel)
            if not seen.ok:
                return Check(f"output {store.name!r}: {seen.message}", worst)
        return Check("", worst)

    def checked(self, call: Call) -> Check:
        """Makes the kernel's ``call`` on the first set twice and checks what it writes.

        Raises:
            Exception: whatever the call raises.
        """
        # Fills torch.empty with NaN, so that a workspace that is read before it is written shows.
        torch.set_deterministic_debug_mode("warn")
        try:
            first = self._run(call, math.nan)
            second = self._run(call, OTHER_POISON)
        finally:
            torch.set_deterministic_debug_mode("default")
        found = self.check(first)
        if found.problem:
            return found
        for store, a, b in zip(self.program.outputs, first, second, strict=True):
            if not same_bits(a, b):
                why = "two runs differ: a race, or an element that is never written"
                return Check(f"output {store.name!r}: {why}", found.error)
        return found

    def poison(self, fill: float = math.nan) -> None:
        """Fills the outputs of the first set with what no kernel writes."""
        for store in self.program.outputs:
            output = self.sets[0][store.name]
            output.fill_(poison(output.dtype, fill))

    def _run(self, call: Call, fill: float) -> list[torch.Tensor]:
        self.poison(fill)
        returned = as_tuple(call())
        if self.device == "cuda":
            torch.cuda.synchronize()
        outputs = [self.sets[0][s.name] for s in self.program.outputs]
        if len(returned) != len(outputs) or any(
            r is not o for r, o in zip(returned, outputs, strict=True)
        ):
            raise ValueError("the launcher did not write into the outputs that it was given")
        return [o.clone() for o in outputs]

    def _call(self, function: Callable[..., object], tensors: Tensors, plan: object) -> Call:
        arguments: list[Any] = [
            tensors[p.name] if isinstance(p, Input) else tensors[p.name].item()
            for p in self.program.params
        ]
        outs = tuple(tensors[s.name] for s in self.program.outputs)
        out = outs if len(outs) > 1 else outs[0]
        return lambda: function(*arguments, out=out, plan=plan)

    def _drawn(self, seed: int) -> Tensors:
        case, dtype = self.case, self.case.storage
        tensors = real_sizes.drawn(
            self.program, self.sizes, dtype, self.device, seed, case.scalars, case.integers
        )
        for store in self.program.outputs:
            kind = TORCH_DTYPES[storage(store, dtype)]
            shape = [self.sizes[a] for a in store.order]
            tensors[store.name] = torch.empty(shape, dtype=kind, device=self.device)
        return tensors


def poison(dtype: torch.dtype, fill: float) -> float | bool:
    """``fill``, or what stands for it where ``dtype`` does not hold it; different for each."""
    if dtype == torch.bool:
        return math.isnan(fill)
    return fill if dtype.is_floating_point or not math.isnan(fill) else OTHER_POISON + 1
