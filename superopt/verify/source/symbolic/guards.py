"""What the launcher checks, read from its own text: the conditions under which it raises.

A check counts if it stands where every call passes it: at the top of its function or in a loop
there, behind no ``return`` but that of a new tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Sequence

from superopt.verify.source.load import KernelText

SIZES = ("_check", "for axis, size in zip(axes, tensor.shape)", "size >= LARGEST")
SAME = ("_check", "for axis, size in zip(axes, tensor.shape)", "size != known")
RANK = ("_check", "", "tensor.dim() != len(axes)")
DTYPE = ("_check", "", "tensor.dtype not in dtypes")
INNERMOST = (
    "_check",
    "",
    "axes and tensor.numel() > 0 and (tensor.shape[-1] > 1) and (tensor.stride(-1) != 1)",
)
OUTPUT_DTYPE = ("_output", "", "tensor.dtype != dtype or tensor.device != device")
SHAPE = ("_output", "", "tensor.shape != shape")
OUTPUT_INNERMOST = (
    "_output",
    "",
    "shape and shape[-1] > 1 and (tensor.numel() > 0) and (tensor.stride(-1) != 1)",
)
APART = (
    "_output",
    "for stride, size in sorted(((s, n) for n, s in zip(shape, tensor.stride()) if n > 1))",
    "stride <= reach and tensor.numel() > 0",
)
REACH = "reach += (size - 1) * stride"  # the body of that loop goes on so
OTHERS = ("_output", "for other, held in others.items()", "first < end and start < stop")
JOINT = ("_joint", "", "size >= LARGEST")
SCALAR = ("_scalar", "", "kind is int and abs(value) > 2 ** 30")
EVEN = "return size > 0 and size % tile == 0"
PART = "return columns // (1 + columns // 256)"
WHOLE = "return max(least, triton.next_power_of_2(size))"

Guard = tuple[str, str, str]  # function, loop (or nothing), condition


def guards(text: KernelText) -> frozenset[Guard]:
    """Every condition under which a function of the file raises."""
    return frozenset(
        (name, *found) for name, node in text.functions.items() for found in _raises(node.body)
    )


def _raises(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement in body:
        match statement:
            case ast.If(test=test, body=[ast.Raise()], orelse=[]):
                yield "", ast.unparse(test)
            case ast.If(body=[*_, ast.Raise()], orelse=[]):  # words first, then the error
                yield "", ast.unparse(statement.test)
            case ast.For(target=target, iter=iterable, body=inner, orelse=[]):
                if any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(statement)):
                    continue
                head = f"for {ast.unparse(target).strip('()')} in {ast.unparse(iterable)}"
                if "sorted(" in head and REACH not in map(ast.unparse, inner):
                    continue
                for _, test_text in _raises(inner):
                    yield head, test_text
            case ast.If(body=[ast.Return(value=ast.Call(func=called))], orelse=[]):
                if ast.unparse(called) != "torch.empty":
                    return
            case _ if any(isinstance(n, ast.Return) for n in ast.walk(statement)):
                return
            case _:
                continue


def returns(text: KernelText, name: str) -> str:
    """The last line of a function."""
    return ast.unparse(text.functions[name].body[-1]) if name in text.functions else ""
