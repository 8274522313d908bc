"""Lines of a spec that the algebra cannot express."""

from __future__ import annotations

import pytest

from tests.bad_spec import check_refused

# line -> what the message says
BAD = {
    'return (x + 1).sum("k")': "no axis 'k' to fold over; the tensor has 'm'",
    'return softmax(x, "k")': "no axis 'k' to fold over; the tensor has 'm'",
    'return x.sum("m", "m")': "axis 'm' is named twice",
    'return x.min("m m")': "axis 'm' is named twice",
    "return x.max()": "name the axes to fold over; the tensor has 'm'",
    "return x.mean()": "name the axes to fold over; the tensor has 'm'",
    "return x.mean(0)": "axes are named by strings, got 0",
    'return x.sum("m").sum("m")': "no axis 'm' to fold over; the tensor has no axes",
    'return (x > 0).sum("m")': r"write where\(condition, 1, 0\)",
    'return x + index("z")': "no axis 'z'; the parameters have 'm'",
    'return x / size("z")': "no axis 'z'; the parameters have 'm'",
    "return x / size(0)": "0 is no name of an axis",
    "if x.max('m') > 0: return x": r"use where\(condition, a, b\)",
    "return x * (0 < x < 1)": r"a < b < c is \(a < b\) & \(b < c\)",
    "return max(x, 0)": "no truth value while a spec is traced",
    "return where(x > 0, x, float('nan'))": "NaN is no constant",
    "return where(x, x, 0)": "where got arguments of the wrong kind",
    "return where(x > 0, x, x > 1)": "the two arms of where are a number and a truth value",
    "return where(True, x, 0)": "True is no number; a condition comes from a comparison",
    "return x * (x > 0)": "mul got arguments of the wrong kind: real, bool",
    "return x & x": "and got arguments of the wrong kind",
    "return x @ x": "there is no @",
    "return x // 2": "there is no //",
    "return x ** 1.5": "exponent 1.5 is not supported",
    "return x ** 0": "exponent 0 is not supported",
    "return x ** x": "an exponent is a constant",
    "return 2 ** x": "the exponent is a tensor",
    "return x[0]": "a tensor has no items",
    "for row in x: pass": "fold over a named axis instead of looping",
    "return x * 'm'": "expected a tensor or a number, got str 'm'",
    "return x.transpose()": "a tensor has no .transpose; tensors meet by the names of their axes",
    "return x.exp()": r"a tensor has no .exp; write superopt's function exp\(x, ...\)",
    "return x / x.shape[0]": r'a tensor has no .shape; size\("n"\) is the number of positions',
    "return x.to('fp16')": "a tensor has no .to; there are no casts",
    "return x.foo": "a tensor has no .foo; docs/language.md lists what there is",
    "return x.sum('m', keepdim=True)": "no keepdim=; what was folded meets other tensors by name",
    "return x.mean(dim='m')": "no dim=",
    "return (x > 0).any(dim='m')": "no dim=",
    "import math; return math.exp(x)": "a tensor is no Python number",
    "import numpy; return numpy.exp(x)": "f: TypeError: ",
    "import torch; return torch.exp(x)": "torch's exp takes data, not a spec's tensor; write",
    "import torch; return torch.cumsum(x, 0)": r'torch.s cumsum takes data.*write x.cumsum\("n"\)',
    "import torch; return x * torch.ones(4)": "got a torch.Tensor; write float",
    "import torch; return torch.ones(4) * x": "torch's mul takes data",
    "import numpy; return x + numpy.int32(1)": "got a numpy.int32; write float",
    "y = 1 // 0": "f: ZeroDivisionError: ",
}


@pytest.mark.parametrize("line", BAD)
def test_it_is_refused_at_its_line(line, tmp_path, monkeypatch):
    body = f"""
        @spec(cases=[Case("c", m=4)])
        def f(x: Annotated[Tensor, "m"]) -> Annotated[Tensor, "m"]:
            y = x
            {line}  # HERE
            return y
        """
    check_refused(body, BAD[line], tmp_path, monkeypatch)
