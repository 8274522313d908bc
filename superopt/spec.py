"""What a spec is: a Python function over named tensors, traced into the algebra."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from superopt.axes import made_axes
from superopt.axes import tracing
from superopt.case import Case
from superopt.case import bind
from superopt.case import check_float_dtype
from superopt.errors import SpecError
from superopt.errors import SuperoptError
from superopt.integers import reach
from superopt.location import error_location
from superopt.location import place
from superopt.location import user_frame
from superopt.location import user_location
from superopt.signature import Output
from superopt.signature import Signature
from superopt.signature import read_signature
from superopt.tensor import Scalar
from superopt.tensor import Tensor
from superopt.tensor import spoken
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import INT_DTYPES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import topo
from superopt.whole import check_whole

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Spec:
    """An operator: its algebra in the user's names, and the cases it is wanted for.

    ``cases``: every size bound, in order of first appearance in the signature, every dtype
    set. ``reference``: an independent torch function of the same parameters. ``file``,
    ``line``: where the function stands; ``source_text``: its text, decorator included.
    """

    name: str
    program: Program
    cases: tuple[Case, ...]
    dtype: str
    reference: Function | None
    file: str
    line: int
    source_text: str
    function: Function = field(repr=False)

    @property
    def where(self) -> str:
        """``file:line`` for messages."""
        return place(self.file, self.line)

    @property
    def axes(self) -> tuple[str, ...]:
        """Every axis, in order of first appearance in the signature; then those that it makes."""
        found = (a for p in self.program.params if isinstance(p, Input) for a in p.order)
        return tuple(dict.fromkeys([*found, *(a for a, _ in self.program.fixed)]))

    def case(self, name: str) -> Case:
        """The case of that name.

        Raises:
            SpecError: there is none.
        """
        for case in self.cases:
            if case.name == name:
                return case
        have = ", ".join(c.name for c in self.cases)
        raise SpecError(f"{self.name} has no case {name!r}; it has {have}", self.where)

    def __call__(self, *tensors: Tensor) -> Any:
        """The operator as a part of another spec: the same as its body written out."""
        if not all(isinstance(t, (Tensor, int, float)) for t in tensors):
            raise SpecError(
                f"{self.name} is a spec: it is called by other specs, not with data; "
                f"`superopt search` makes a kernel of it",
                user_location(),
            )
        return self.function(*tensors)


def spec(
    bare: None = None,
    /,
    *,
    cases: Sequence[Case],
    dtype: str = "bf16",
    reference: Function | None = None,
) -> Callable[[Function], Spec]:
    """Makes a ``Spec`` of a function over annotated tensors.

    ``dtype``: of the tensors that name none, unless a case says otherwise. ``reference``: an
    independent torch function of the same parameters, by position, on float64 tensors in
    memory order; it is compared with the algebra before anything is searched. ``bare`` is there
    for ``@spec`` without its cases, which Python then says is what lacks.

    Raises:
        SpecError: the function or a case describes no operator; names file and line.
    """
    frame = user_frame()
    names = dict(frame.f_locals) if frame is not None else {}
    where = user_location()
    if bare is not None:
        raise SpecError('cases are named, as in @spec(cases=[Case("big", m=4096)])', where)
    check_float_dtype(dtype, where)
    if reference is not None and not callable(reference):
        raise SpecError("reference= is a function of the same parameters", where)
    if not isinstance(cases, Sequence) or not cases:
        raise SpecError('a spec needs at least one case, as in cases=[Case("big", m=4096)]', where)

    def decorate(function: Function) -> Spec:
        if not inspect.isfunction(function):
            raise SpecError(f"@spec stands above a function, not {function!r}", where)
        file, line, text = _source(function)
        here = place(file, line)
        signature = read_signature(function, names, here)
        program = trace(function, signature, here)
        bound = _bound(cases, signature, dtype, here, program.fixed)
        for case in bound:
            check_whole(program, case, here)
        return Spec(
            name=function.__name__,
            program=program,
            cases=bound,
            dtype=dtype,
            reference=reference,
            file=file,
            line=line,
            source_text=text,
            function=function,
        )

    return decorate


def trace(function: Function, signature: Signature, where: str | None) -> Program:
    """Runs ``function`` once on symbols.

    Raises:
        SpecError: it fails, or its result is not what its signature declares.
    """
    symbols = [Tensor(p) if isinstance(p, Input) else Scalar(p) for p in signature.params]
    try:
        with tracing(signature.axes):
            result = function(*symbols)
            fixed = made_axes()
    except SuperoptError:
        raise
    except Exception as error:  # whatever the user's lines raise is the user's to see
        what = f"{function.__name__}: {type(error).__name__}: {error}"
        raise SpecError(what, error_location(error) or where) from error
    values = result if isinstance(result, tuple) else (result,)
    if len(values) != len(signature.outputs):
        raise SpecError(
            f"{function.__name__} returns {len(values)} value(s), "
            f"its annotation says {len(signature.outputs)}",
            where,
        )
    axes = (*signature.axes, *(a for a, _ in fixed))
    for output in signature.outputs:
        if unknown := [a for a in output.order if a not in axes]:
            raise SpecError(
                f"{output.name} has axis {unknown[0]!r}, which no parameter has; "
                f"its size would be unknown",
                where,
            )
    outputs = tuple(_store(o, v, where) for o, v in zip(signature.outputs, values, strict=True))
    _check_case_dtype(signature, where)
    used = set(topo(s.value for s in outputs))
    if unused := [p.name for p in signature.params if p not in used]:
        raise SpecError(f"parameter {unused[0]!r} is not used by any output", where)
    return Program(function.__name__, signature.params, outputs, fixed)


def _store(output: Output, value: object, where: str | None) -> Store:
    if not isinstance(value, Tensor):
        raise SpecError(f"{output.name} is a {type(value).__name__}, not a tensor", where)
    node = value.node
    if missing := [a for a in output.order if a not in node.axes]:
        raise SpecError(
            f"{output.name} is declared with axis {missing[0]!r}, but the value has "
            f"{spoken(node.axes)}",
            where,
        )
    if extra := [a for a in node.axes if a not in output.order]:
        raise SpecError(
            f"{output.name} is declared as {' '.join(output.order)!r}, but the value also has "
            f"axis {extra[0]!r}; fold over it or declare it",
            where,
        )
    _check_storage(output, node, where)
    return Store(output.name, output.order, output.dtype, node)


def _check_case_dtype(signature: Signature, where: str | None) -> None:
    """A launcher takes the case's dtype from a tensor that has it."""
    if any(isinstance(p, Input) and p.dtype is None for p in signature.params):
        return
    for output in signature.outputs:
        if output.dtype is None:
            raise SpecError(
                f"{output.name} has no dtype, and no parameter has the case's, from which a kernel "
                f'would take it; declare one, as in Annotated[Tensor, "{" ".join(output.order)}", '
                f'"fp32"]',
                where,
            )


def _check_storage(output: Output, node: Node, where: str | None) -> None:
    stored = output.dtype or "the case's float dtype"
    if node.kind is Kind.BOOL and output.dtype != "bool":
        raise SpecError(
            f"{output.name} holds truth values, but is stored as {stored}; "
            f"declare it bool, or return where(value, 1, 0)",
            where,
        )
    if node.kind is not Kind.BOOL and output.dtype == "bool":
        raise SpecError(
            f"{output.name} holds numbers, but is stored as bool; return a comparison", where
        )
    if node.kind is Kind.REAL and output.dtype in INT_DTYPES:
        raise SpecError(
            f"{output.name} holds reals, but is stored as {output.dtype}; nothing is rounded "
            f"in silence",
            where,
        )


def _bound(
    cases: Sequence[Case],
    signature: Signature,
    dtype: str,
    where: str,
    fixed: tuple[tuple[str, int], ...],
) -> tuple[Case, ...]:
    bound: list[Case] = []
    inputs = [p for p in signature.params if isinstance(p, Input) and p.order]
    integers = {p.name: p for p in inputs if p.kind is Kind.INT}
    for case in cases:
        if not isinstance(case, Case):
            raise SpecError(f"cases= holds Case(...) objects, got {case!r}", where)
        if case.name in {c.name for c in bound}:
            raise SpecError(f"two cases are named {case.name!r}", case.where or where)
        bound.append(bind(case, signature.axes, signature.scalars, dtype, integers, fixed))
        for name in case.integers:
            _check_fits(bound[-1], integers[name], case.where or where)
    return tuple(bound)


def _check_fits(case: Case, tensor: Input, where: str) -> None:
    """Raises a ``SpecError`` if ``tensor`` cannot hold what ``case`` says is drawn for it."""
    bits = int((tensor.dtype or "int32").removeprefix("int"))
    low, high = reach(case.integers[tensor.name], case.sizes[tensor.order[-1]])
    if low < -(2 ** (bits - 1)) or high >= 2 ** (bits - 1):
        raise SpecError(
            f"case {case.name!r}: {tensor.name}={case.integers[tensor.name]!r} draws numbers from "
            f"{low} to {high}, which {tensor.dtype} does not hold",
            where,
        )


def _source(function: Function) -> tuple[str, int, str]:
    """File, line of the ``def``, and text (empty if it was never in a file)."""
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return code.co_filename, code.co_firstlineno, ""
    offset = next((i for i, text in enumerate(lines) if text.lstrip().startswith("def ")), 0)
    return code.co_filename, first + offset, textwrap.dedent("".join(lines))
