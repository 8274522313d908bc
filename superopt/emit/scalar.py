"""How every scalar function is printed: in a kernel, in the launcher and in the reference.

A pattern's ``{0}``, ``{1}``, ... are the arguments, already in parentheses where they need them.
"""

from __future__ import annotations

from fractions import Fraction

from superopt.ugraph.grids import GRIDS
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number

# Triton text. exp and log go through base 2, which is what the hardware computes.
TRITON: dict[Fn, str] = {
    Fn.ADD: "{0} + {1}",
    Fn.SUB: "{0} - {1}",
    Fn.MUL: "{0} * {1}",
    Fn.DIV: "{0} / {1}",
    Fn.MAX: "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    Fn.MIN: "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    Fn.ABS: "tl.abs({0})",
    Fn.EXP: "tl.exp2({0} * LOG2E)",
    Fn.EXP2: "tl.exp2({0})",
    Fn.LOG: "tl.log2({0}) * LN2",
    Fn.LOG2: "tl.log2({0})",
    Fn.SQRT: "tl.sqrt({0})",
    Fn.RSQRT: "tl.rsqrt({0})",
    Fn.TANH: "_tanh({0})",
    Fn.SIGMOID: "_sigmoid({0})",
    Fn.ERF: "_erf({0})",
    **{fn: f"_round_to({{0}}, {grid.text})" for fn, grid in GRIDS.items()},
    Fn.ROUND_BF16: "_round_to_bf16({0})",  # its grid reaches as far as fp32's
    Fn.LT: "{0} < {1}",
    Fn.LE: "{0} <= {1}",
    Fn.EQ: "{0} == {1}",
    Fn.AND: "{0} & {1}",
    Fn.OR: "{0} | {1}",
    Fn.NOT: "~{0}",
    Fn.WHERE: "tl.where({0}, {1}, {2})",
}

# Python text of the launcher, in double precision, for scalars that depend on sizes only.
PYTHON: dict[Fn, str] = {
    **TRITON,
    Fn.DIV: "_div({0}, {1})",
    Fn.MAX: "max({0}, {1})",
    Fn.MIN: "min({0}, {1})",
    Fn.ABS: "abs({0})",
    Fn.EXP: "_exp2({0} * LOG2E.value)",
    Fn.EXP2: "_exp2({0})",
    Fn.LOG: "_log2({0}) * LN2.value",
    Fn.LOG2: "_log2({0})",
    Fn.SQRT: "_sqrt({0})",
    Fn.RSQRT: "_div(1.0, _sqrt({0}))",
    Fn.TANH: "math.tanh({0})",
    Fn.SIGMOID: "_div(1.0, 1.0 + _exp2(-({0}) * LOG2E.value))",
    Fn.ERF: "math.erf({0})",
    **{fn: f"_nearest({{0}}, {grid.text})" for fn, grid in GRIDS.items()},
    Fn.AND: "{0} and {1}",
    Fn.OR: "{0} or {1}",
    Fn.NOT: "not {0}",
    Fn.WHERE: "{1} if {0} else {2}",
}

# torch text of the reference.
TORCH: dict[Fn, str] = {
    **TRITON,
    Fn.MAX: "torch.maximum({0}, {1})",
    Fn.MIN: "torch.minimum({0}, {1})",
    Fn.ABS: "torch.abs({0})",
    Fn.EXP: "torch.exp({0})",
    Fn.EXP2: "torch.exp2({0})",
    Fn.LOG: "torch.log({0})",
    Fn.LOG2: "torch.log2({0})",
    Fn.SQRT: "torch.sqrt({0})",
    Fn.RSQRT: "torch.rsqrt({0})",
    Fn.TANH: "torch.tanh({0})",
    Fn.SIGMOID: "torch.sigmoid({0})",
    Fn.ERF: "torch.erf({0})",
    **{fn: f"_rounded({{0}}, {grid.text})" for fn, grid in GRIDS.items()},
    Fn.WHERE: "torch.where({0}, {1}, {2})",
}

# Functions whose pattern is one call or one name: no parentheses around it are ever needed.
CLOSED = frozenset(
    {Fn.MAX, Fn.MIN, Fn.ABS, Fn.EXP, Fn.EXP2, Fn.LOG2, Fn.SQRT, Fn.RSQRT, Fn.TANH, Fn.SIGMOID}
    | {Fn.ERF, Fn.WHERE, *GRIDS}
)

VALUES = {
    Constant.LOG2E: "1.4426950408889634",
    Constant.LN2: "0.6931471805599453",
    Constant.PI: "3.141592653589793",
}

HELPERS: dict[str, str] = {
    "_max": '''@triton.jit
def _max(a, b):
    """Maximum that keeps NaN (tl.max drops it)."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "_min": '''@triton.jit
def _min(a, b):
    """Minimum that keeps NaN (tl.min drops it)."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "_mul": """@triton.jit
def _mul(a, b):
    return a * b
""",
    "_tanh": '''@triton.jit
def _tanh(x):
    """tanh as x times a quotient of polynomials of x * x without cancellation, and never beyond 1.
    (One special function, and fewer instructions than by exponentials, which take two.)"""
    s = tl.minimum(x * x, 81.4, propagate_nan=tl.PropagateNan.ALL)
    t = ((1.33546666e-8 * s + 2.06090876e-5) * s + 0.00349558851) * s + 0.13381026
    u = ((7.77656088e-7 * s + 0.000328563541) * s + 0.0258769837) * s + 0.467143416
    u = u * s + 1.0
    near = (t * s + 1.0) * x * tl.rsqrt(u * u)
    near = tl.minimum(near, 1.0, propagate_nan=tl.PropagateNan.ALL)
    return tl.maximum(near, -1.0, propagate_nan=tl.PropagateNan.ALL)
''',
    "_sigmoid": '''@triton.jit
def _sigmoid(x):
    """1 / (1 + exp(-x)); an overflow to infinity gives the right limit 0."""
    return 1.0 / (1.0 + tl.exp2(-x * LOG2E))
''',
    "_erf": '''@triton.jit
def _erf(x):
    """erf as t / sqrt(1 + t * t), where t / x is a polynomial of x * x without cancellation; of
    3.92 and more the nearest number is 1. (No branch, so it takes half as many instructions as
    tl.erf.)"""
    s = x * x
    t = ((2.19222083e-7 * s - 1.60136314e-6) * s + 2.5189224e-5) * s + 9.3093677e-5
    t = ((t * s + 0.00146067904) * s + 0.0125893084) * s + 0.0804805172
    t = ((t * s + 0.342219671) * s + 1.12837921) * tl.abs(x)
    near = tl.minimum(t * tl.rsqrt(1.0 + t * t), 1.0, propagate_nan=tl.PropagateNan.ALL)
    near = tl.where(tl.abs(x) >= 3.92, 1.0, near)
    return tl.where(x < 0.0, -near, near)
''',
    "_round_to": '''@triton.jit
def _round_to(
    x, bits: tl.constexpr, least: tl.constexpr, lowest: tl.constexpr, largest: tl.constexpr
):
    """The nearest number of a format; infinities stay. The sum with a number 1.5 * 2**(23 - bits)
    times as large as the power of two below x has no room for the digits that go."""
    near = tl.maximum(x, lowest, propagate_nan=tl.PropagateNan.ALL)
    near = tl.minimum(near, largest, propagate_nan=tl.PropagateNan.ALL)
    power = (near.to(tl.int32, bitcast=True) & 0x7F800000).to(tl.float32, bitcast=True)
    large = tl.maximum(power, 2.0**least) * (1.5 * 2.0 ** (23 - bits))
    near = (near + large) - large
    return tl.where(tl.abs(x) == float("inf"), x, near)
''',
    "_round_to_bf16": '''@triton.jit
def _round_to_bf16(x):
    """The nearest number of bf16, at most its largest; infinities stay. The digits that go are
    added up to a carry, or not."""
    bits = x.to(tl.int32, bitcast=True)
    near = (bits + 0x7FFF + ((bits >> 16) & 1)) & -0x10000
    far = (bits & 0x7FFFFFFF) > 0x7F7F0000
    near = tl.where(far, (bits & -0x80000000) | 0x7F7F0000, near).to(tl.float32, bitcast=True)
    return tl.where(tl.abs(x) < float("inf"), near, x)
''',
}

# Which helpers a function needs, pointwise and as a fold.
NEEDS = {Fn.TANH: "_tanh", Fn.SIGMOID: "_sigmoid", Fn.ERF: "_erf"}
NEEDS |= dict.fromkeys(GRIDS, "_round_to")
NEEDS[Fn.ROUND_BF16] = "_round_to_bf16"
FOLDS = {
    Fn.ADD: "tl.sum({0}, axis={1})",
    Fn.MUL: "tl.reduce({0}, {1}, _mul)",
    Fn.MAX: "tl.reduce({0}, {1}, _max)",
    Fn.MIN: "tl.reduce({0}, {1}, _min)",
}
SCANS = {
    Fn.ADD: "tl.cumsum({0}, axis={1})",
    Fn.MUL: "tl.associative_scan({0}, {1}, _mul)",
    Fn.MAX: "tl.associative_scan({0}, {1}, _max)",
    Fn.MIN: "tl.associative_scan({0}, {1}, _min)",
}
FOLD_NEEDS = {Fn.MUL: "_mul", Fn.MAX: "_max", Fn.MIN: "_min"}


def exact(value: Number) -> bool:
    """Whether a decimal numeral of double precision names ``value`` exactly."""
    return isinstance(value, float) or Fraction(repr(float(value))) == value


def numeral(value: Number, real: bool = True) -> str:
    """``value`` as text that kernels, launcher and reference understand alike."""
    if value in (INF, -INF):
        return 'float("inf")' if value == INF else 'float("-inf")'
    if not real:
        return str(value)
    return repr(float(value)) if exact(value) else f"{_ratio(Fraction(value))}"


def _ratio(value: Fraction) -> str:
    return f"({value.numerator} / {value.denominator})"


def integer_unit(fold: Fn) -> str:
    """The unit of a fold of integers; they have no infinity, so the ends of int64 stand for it."""
    return {Fn.ADD: "0", Fn.MUL: "1", Fn.MAX: f"{-(2**63)}", Fn.MIN: f"{2**63 - 1}"}[fold]
