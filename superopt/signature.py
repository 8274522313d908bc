"""What the annotations of a spec's function say: parameters, outputs and their axes."""

from __future__ import annotations

import builtins
import inspect
import keyword
import typing
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from typing import Any

from superopt.errors import SpecError
from superopt.tensor import Scalar
from superopt.tensor import Tensor
from superopt.ugraph.node import DTYPES
from superopt.ugraph.node import Input
from superopt.ugraph.node import Scalar as ScalarNode

SCALAR_DTYPES = ("fp32", "int32")
RESERVED = ("name", "dtype", "tf32", "out", "plan")  # keywords of Case and of the launcher

# What a kernel file calls its own, so no function of the user's can have these names.
FILE_NAMES = frozenset(
    """functools math os sys warnings NamedTuple torch triton tl LOG2E LN2 PI Launch Plan PLANS
    TEST_PLANS SIZES FLOATS BYTES LARGEST INTERPRETED OPERATOR SCHEMA reference self_test _inputs
    _max _min _mul _tanh _sigmoid _erf _plain _check _span _output _several _planned _scalar _choose
    _target _register _even _whole _joint _div _sqrt _exp2 _log2 _nearest _fold _operator _fake
    TensorDescriptor _descriptors _old _rounded _round_to _round_to_bf16
    _best _keys _nobody _among _ranked _origin _follow _goes _taken _recurrence
    tle gluon gl fence_async_shared mbarrier tma warpgroup_mma warpgroup_mma_wait SharedDescriptor
    _without_roles _instead _part _shared_descriptors _room GLUON_DTYPES TAKEN _at_once
    _multiprocessors _dependent""".split()  # noqa: SIM905
)

EXAMPLE = 'x: Annotated[Tensor, "m n"], or with a dtype Annotated[Tensor, "m n", "int32"]'


@dataclass(frozen=True)
class Output:
    """An output as declared: its axes in memory order, and a dtype (None: the case's)."""

    name: str
    order: tuple[str, ...]
    dtype: str | None


@dataclass(frozen=True)
class Signature:
    """Parameters in order, outputs in order, and every axis in order of first appearance."""

    params: tuple[Input | ScalarNode, ...]
    outputs: tuple[Output, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the parameters, by first appearance."""
        found = (a for p in self.params if isinstance(p, Input) for a in p.order)
        return tuple(dict.fromkeys(found))

    @property
    def scalars(self) -> dict[str, str]:
        """Name -> dtype of the run-time scalars."""
        return {p.name: p.dtype for p in self.params if isinstance(p, ScalarNode)}


def read_signature(
    function: Callable[..., Any], local_names: Mapping[str, Any], where: str | None
) -> Signature:
    """The signature of ``function`` from its annotations.

    ``local_names``: what annotations written as text may refer to besides globals.

    Raises:
        SpecError: an annotation is missing, or is none of a tensor or scalar.
    """
    if function.__name__ in FILE_NAMES | set(dir(builtins)) or function.__name__ == "name":
        raise SpecError(
            f"a kernel file needs the name {function.__name__!r} itself; name the spec otherwise",
            where,
        )
    if not function.__name__.isascii():
        raise SpecError(
            f"the name {function.__name__!r} has letters outside of ASCII, which a compiler does "
            f"not read in the name of a kernel; axes and tensors may have them",
            where,
        )
    try:
        hints = typing.get_type_hints(function, localns=dict(local_names), include_extras=True)
    except Exception as error:  # evaluating annotations runs the user's text
        raise SpecError(f"an annotation cannot be read: {error}", where) from error
    params = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise SpecError(f"parameter {name!r} must be an ordinary one, by position", where)
        if parameter.default is not parameter.empty:
            raise SpecError(
                f"parameter {name!r} has a default; a spec's parameters are tensors and Scalars",
                where,
            )
        params.append(_param(name, hints.get(name), where))
    signature = Signature(tuple(params), _outputs(hints.get("return"), where))
    _check_names(signature, where)
    return signature


def _param(name: str, hint: object, where: str | None) -> Input | ScalarNode:
    what = f"parameter {name!r}"
    base, facts = _parts(hint)
    if base is Scalar:
        dtype = facts[0] if facts else "fp32"
        if len(facts) > 1 or dtype not in SCALAR_DTYPES:
            raise SpecError(
                f"{what} has unsupported dtype {dtype!r}; a Scalar is {' or '.join(SCALAR_DTYPES)}",
                where,
            )
        return ScalarNode(name, str(dtype))
    order, dtype = _tensor(what, base, facts, where)
    return Input(name, order, dtype)


def _outputs(hint: object, where: str | None) -> tuple[Output, ...]:
    if typing.get_origin(hint) is tuple:
        several = typing.get_args(hint)
        if not several or Ellipsis in several:
            raise SpecError("the outputs must be listed one by one in tuple[...]", where)
        return tuple(
            Output(f"out{i}", *_tensor(f"output {i}", *_parts(h), where))
            for i, h in enumerate(several)
        )
    return (Output("out", *_tensor("the output", *_parts(hint), where)),)


def _parts(hint: object) -> tuple[object, tuple[object, ...]]:
    if typing.get_origin(hint) is Annotated:
        base, *facts = typing.get_args(hint)
        return base, tuple(facts)
    return hint, ()


def _tensor(
    what: str, base: object, facts: tuple[object, ...], where: str | None
) -> tuple[tuple[str, ...], str | None]:
    """Axes in memory order and dtype of a tensor's annotation."""
    if base is not Tensor or not facts:
        raise SpecError(f"{what} needs an annotation with its axes, as in {EXAMPLE}", where)
    text, *rest = facts
    if not isinstance(text, str) or len(rest) > 1:
        raise SpecError(f"{what}: expected axes and perhaps a dtype, as in {EXAMPLE}", where)
    order = tuple(text.split())
    for axis in order:
        if "," in axis:
            raise SpecError(f"{what}: axes in {text!r} are separated by spaces, not commas", where)
        if not axis.isidentifier() or keyword.iskeyword(axis) or axis in RESERVED:
            raise SpecError(f"{what}: {axis!r} cannot name an axis (a Python name can)", where)
    if repeated := next((a for i, a in enumerate(order) if a in order[:i]), None):
        raise SpecError(f"{what} repeats axis {repeated!r} in {text!r}", where)
    dtype = rest[0] if rest else None
    if dtype is not None and dtype not in DTYPES:
        raise SpecError(
            f"{what} has unsupported dtype {dtype!r}; supported: {', '.join(DTYPES)}", where
        )
    return order, None if dtype is None else str(dtype)


def _check_names(signature: Signature, where: str | None) -> None:
    axes = signature.axes
    if not any(isinstance(p, Input) for p in signature.params):
        raise SpecError("a spec has at least one tensor among its parameters", where)
    for param in signature.params:
        if param.name in RESERVED or param.name in {o.name for o in signature.outputs}:
            raise SpecError(f"parameter {param.name!r}: this name is reserved", where)
        if isinstance(param, ScalarNode) and param.name in axes:
            raise SpecError(f"{param.name!r} names both a Scalar and an axis", where)
