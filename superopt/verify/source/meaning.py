"""What a text computes: its launcher, called as a user calls it, with tensors of some domain."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.verify.field.array import FieldArray
from superopt.verify.field.array import exact_of
from superopt.verify.field.array import truth_of
from superopt.verify.field.termdomain import TermArray
from superopt.verify.field.termdomain import TermDomain
from superopt.verify.field.trials import Trial
from superopt.verify.source.cells import Plain
from superopt.verify.source.cells import lifted
from superopt.verify.source.concurrent.machine import machine_for
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.host import Tensor
from superopt.verify.source.load import KernelText
from superopt.verify.source.machine import Machine
from superopt.verify.source.machine import flat
from superopt.verify.source.number import Real
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import INT64
from superopt.verify.source.tiles import Tile

SCALAR = 0.75  # the double that stands for a scalar of the caller's in the launcher's comparisons
ROW = 8  # elements that are 16 bytes in every dtype that descriptors are used for


@dataclass(frozen=True)
class TextMeaning:
    """The outputs of one function of a file; implements ``field.meaning.Meaning``.

    ``index``: which graph of the file runs. ``dtype``: of the tensors that have none of their
    own. ``given``: whether the caller brings the outputs. ``descriptors``: whether the launches
    ask for them. ``dependent``: whether they may begin before the one before ends, if the device
    has that (``capable``).
    ``machines``: makes the machine that executes the text. ``kinds``: which roles the launches
    ask for (``Config.kind``), if not those of their Configs.
    """

    text: KernelText
    program: Program
    function: str
    index: int = 0
    dtype: str = "fp16"
    given: bool = True
    descriptors: bool = False
    dependent: bool = False
    capable: bool = True
    tf32: bool = False
    machines: Callable[[KernelText, Domain[Any]], Machine] = machine_for
    kinds: tuple[str, ...] = ()

    def outputs(self, domain: Domain[A], arrays: Mapping[str, A], trial: Trial) -> dict[str, A]:
        """The outputs at one choice of sizes.

        Raises:
            FaultError: the text does what no kernel may.
            OutsideVocabularyError: the reading has no meaning for it.
        """
        machine = self.machines(self.text, domain)
        machine.clock.capable = self.capable
        arguments: list[Any] = []
        for number, param in enumerate(self.program.params):
            value = arrays[param.name]
            if isinstance(param, Input):
                tensor = self._tensor(machine, param, trial, number)
                tensor.buffer.fill(_tile(domain, value, tensor))
                arguments.append(tensor)
            elif param.kind is Kind.REAL:
                arguments.append(Real(domain, _double(value), value))
            else:
                arguments.append(domain.integer(value))
        results = [
            self._tensor(machine, store, trial, len(arguments) + number)
            for number, store in enumerate(self.program.outputs)
        ]
        out = None
        if self.given:
            out = results[0] if len(results) == 1 else tuple(results)
        plan = self._plan(machine, trial)
        returned = flat(machine.call(self.function, tuple(arguments), out=out, plan=plan))
        # Empty tensors have no descriptors.
        if self.described(trial) and not machine.host.descriptors and 0 not in trial.size.values():
            raise OutsideVocabularyError("descriptors were asked for and none was made")
        return self._gathered(domain, returned, results)

    def described(self, trial: Trial) -> bool:
        """Whether the launches ask for descriptors, of tiles or for roles."""
        return self.descriptors or any(c.consumers for c in trial.configs)

    def _tensor(self, machine: Machine, of: Input | Store, trial: Trial, number: int) -> Tensor:
        shape = tuple(trial.size[a] for a in of.order)
        strides = strides_of(shape, number, ROW if self.described(trial) else 1)
        return machine.host.tensor(of.name, shape, strides, DTYPES[of.dtype or self.dtype])

    def _plan(self, machine: Machine, trial: Trial) -> Any:
        kinds = self.kinds or [c.kind for c in trial.configs]
        launches = tuple(map(partial(self._launch, machine), trial.configs, kinds))
        names = machine.names
        return names["Plan"]("reading", self.index, launches, trial.size, tf32=self.tf32)

    def _launch(self, machine: Machine, config: Config, kind: str) -> Any:
        """The file's own record of a launch, with the options that it knows."""
        made = machine.names["Launch"]
        how: dict[str, Any] = {"tiles": config.tile, "parts": config.parts, "group": config.group}
        how |= {"descriptors": self.descriptors, "dependent": self.dependent}
        how |= {"consumers": config.consumers, "roles": kind, "stages": config.stages}
        return made(**{name: value for name, value in how.items() if name in made._fields})

    def _gathered(
        self, domain: Domain[A], returned: tuple[Any, ...], wanted: list[Tensor]
    ) -> dict[str, A]:
        if len(returned) != len(wanted):
            raise FaultError(f"{len(returned)} outputs are returned instead of {len(wanted)}")
        found: dict[str, A] = {}
        for got, right, store in zip(returned, wanted, self.program.outputs, strict=True):
            if not isinstance(got, Tensor) or (got.shape, got.dtype) != (right.shape, right.dtype):
                raise FaultError(f"output {store.name!r} has another shape or dtype")
            if self.given and got is not right:
                raise FaultError(f"output {store.name!r} is not the caller's tensor")
            got.buffer.name = store.name
            whole = got.buffer.whole()
            found[store.name] = domain.reshape(_value(domain, whole), right.shape)
        return found


def strides_of(shape: tuple[int, ...], number: int, unit: int) -> tuple[int, ...]:
    """Strides that are unequal between tensors and their axes, multiples of ``unit``, the last 1.

    Axes before the last lie in reverse order for every other tensor; rows have gaps.
    """
    axes = list(range(len(shape)))
    if number % 2:
        axes = [*axes[-2::-1], *axes[-1:]]
    strides, step = [1] * len(shape), 1
    for place, axis in enumerate(reversed(axes)):
        strides[axis] = step
        step = step * max(1, shape[axis]) + (number + 2 if not place else 1)
        step += -step % unit
    return tuple(strides)


def _tile(domain: Domain[Any], value: Any, tensor: Tensor) -> Tile:
    """An input's elements: plain ones if they are no floats."""
    if tensor.dtype.is_floating_point:
        return Tile(domain, tensor.dtype, None, domain.reshape(value, (prod(tensor.shape),)))
    return Tile(domain, tensor.dtype, plain_of(domain, value).reshape(prod(tensor.shape)))


def plain_of(domain: Domain[Any], value: Any) -> Plain:
    """Integers or truth values of a domain that are the same in all rounds, as numpy has them."""
    match value:
        case FieldArray(kind=Kind.BOOL):
            return np.asarray(truth_of(value)[0][0])
        case FieldArray():
            return np.asarray(exact_of(value)[0])
        case TermArray():
            assert isinstance(domain, TermDomain)
            terms = [domain.terms.all[t].value for t in value.terms.ravel().tolist()]
            dtype = np.bool_ if value.kind is Kind.BOOL else np.int64
            return np.array([int(t) for t in terms], dtype).reshape(value.terms.shape)  # type: ignore[arg-type]
        case _:
            return np.asarray(value)


def _value(domain: Domain[A], whole: Tile) -> A:
    """The elements of an output. In int64 the ends of the range stand for the infinities."""
    value: A = whole.lifted()
    if whole.plain is None or whole.dtype is not INT64:
        return value
    for end, infinity in ((-(2**63), -INF), (2**63 - 1, INF)):
        if (there := whole.plain == end).any():
            wide = domain.full(whole.shape, infinity)
            value = domain.apply(Fn.WHERE, (lifted(domain, there), wide, value))
    return value


def _double(value: Any) -> float:
    return float(value) if isinstance(value, np.ndarray) else SCALAR
