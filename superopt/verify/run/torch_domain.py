"""The float domain on torch tensors, so that references at real sizes are computed on a GPU.

It has the rules of ``ugraph.floats.FloatDomain``; with ``operand`` and ``seed`` also those of the
two domains of ``domains.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import torch
from numpy import broadcast_shapes

from superopt.ugraph.floats import CONSTANTS
from superopt.ugraph.grids import GRIDS
from superopt.ugraph.grids import Grid
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Number
from superopt.verify.run.domains import EXACT
from superopt.verify.run.domains import NEAR
from superopt.verify.run.domains import SPECIAL_ULPS
from superopt.verify.run.rounding import UNIT_ROUNDOFF

Tensor = torch.Tensor

_U = UNIT_ROUNDOFF["fp32"]
_STORAGE = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def nearest(value: Tensor, grid: Grid) -> Tensor:
    """``ugraph.grids.nearest`` on tensors."""
    finite = torch.nan_to_num(value, 0.0, 0.0, 0.0)
    exponent = (torch.frexp(finite)[1] - 1).clamp(min=grid.least)
    step = torch.ldexp(torch.ones_like(finite), exponent - grid.bits)
    near = torch.clamp((finite / step).round() * step, float(grid.lowest), float(grid.largest))
    return torch.where(torch.isfinite(value), near, value)


MEANING: dict[Fn, Callable[..., Tensor]] = {
    Fn.ADD: torch.add,
    Fn.SUB: torch.sub,
    Fn.MUL: torch.mul,
    Fn.DIV: torch.div,
    Fn.MAX: torch.maximum,  # these two propagate NaN
    Fn.MIN: torch.minimum,
    Fn.ABS: torch.abs,
    Fn.EXP: torch.exp,
    Fn.EXP2: torch.exp2,
    Fn.LOG: torch.log,
    Fn.LOG2: torch.log2,
    Fn.SQRT: torch.sqrt,
    Fn.RSQRT: torch.rsqrt,
    Fn.TANH: torch.tanh,
    Fn.SIGMOID: torch.sigmoid,
    Fn.ERF: torch.erf,
    **{fn: partial(nearest, grid=grid) for fn, grid in GRIDS.items()},
    Fn.LT: torch.lt,
    Fn.LE: torch.le,
    Fn.EQ: torch.eq,
    Fn.AND: torch.logical_and,
    Fn.OR: torch.logical_or,
    Fn.NOT: torch.logical_not,
    Fn.WHERE: torch.where,
}

_INTEGRAL = (Fn.ADD, Fn.SUB, Fn.MUL, Fn.MAX, Fn.MIN, Fn.ABS, Fn.WHERE)
_BOOLEAN = (Fn.LT, Fn.LE, Fn.EQ, Fn.AND, Fn.OR, Fn.NOT)


class TorchDomain:
    """Tensors of one float dtype, beside int64 and bool ones, on one device.

    ``operand``: the dtype to which operands of matrix products are rounded (None: they are
    not). In fp32 on a GPU products of 16-bit operands are then those of its matrix unit, whose
    sums are less exact than fp32 ones: so would be those of the spec in torch. ``seed``: computes
    with random fp32 roundings (``dtype`` is float64 then).
    """

    def __init__(
        self,
        device: str,
        dtype: torch.dtype = torch.float64,
        operand: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.device = device
        self.dtype = dtype
        self.operand = operand
        self._random: torch.Generator | None = None
        self._up = seed is not None and seed % 2 == 0
        if seed is not None:
            self._random = torch.Generator(device)
            self._random.manual_seed(seed)

    def array(self, value: Tensor) -> Tensor:
        """Any tensor as one of this domain."""
        if value.dtype == torch.bool:
            return value.to(self.device)
        real = value.dtype.is_floating_point
        return value.to(self.device, self.dtype if real else torch.int64)

    def constant(self, value: Number) -> Tensor:
        """An int64 if the number is integral, else the nearest float."""
        if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 2**62:
            return torch.tensor(int(value), dtype=torch.int64, device=self.device)
        return torch.tensor(float(value), dtype=self.dtype, device=self.device)

    def named(self, name: Constant) -> Tensor:
        """The nearest float."""
        return torch.tensor(CONSTANTS[name], dtype=self.dtype, device=self.device)

    def integers(self, first: int, stop: int) -> Tensor:
        """An int64 range."""
        return torch.arange(first, stop, dtype=torch.int64, device=self.device)

    def integer(self, value: Tensor) -> int:
        """The integer itself."""
        return int(value)

    def apply(self, fn: Fn, args: Sequence[Tensor]) -> Tensor:
        """IEEE rules for floats; exact for integers and truth values."""
        values = args[1:] if fn is Fn.WHERE else args
        real = any(a.dtype.is_floating_point for a in values)
        if not real and fn not in _INTEGRAL and fn not in _BOOLEAN:
            real = True
        if all(a.dtype == torch.bool for a in values):
            real = False
        given = [a if a.dtype == torch.bool or not real else a.to(self.dtype) for a in args]
        value = MEANING[fn](*given)
        if self._random is not None and fn in GRIDS:
            return self._either_side(fn, given[0], value)
        if self._random is None or not value.dtype.is_floating_point or fn in EXACT:
            return value
        if fn.value.special and fn is not Fn.DIV:
            error = 1 + 2 * SPECIAL_ULPS * _U * self._signs(value)
            value = torch.where(value == value.round(), value, value * error)
        return self._shaken(value)

    def _either_side(self, fn: Fn, given: Tensor, near: Tensor) -> Tensor:
        """As that of ``domains.ShakenDomain``."""
        low, high = (MEANING[fn](given * (1 + e)) for e in (-NEAR, NEAR))
        held = ((low + high) / 2 == given) | ~torch.isfinite(near)
        return torch.where(held, near, high if self._up else low)

    def fold(self, fn: Fn, value: Tensor, dim: int) -> Tensor:
        """Sums; max and min propagate NaN; empty gives the unit."""
        if value.shape[dim] == 0:
            return self.full((*value.shape[:dim], *value.shape[dim + 1 :]), fn.unit)
        match fn:
            case Fn.MAX:
                return torch.amax(value, dim)
            case Fn.MIN:
                return torch.amin(value, dim)
        total = torch.prod(value, dim) if fn is Fn.MUL else torch.sum(value, dim)
        if self._random is None or not value.dtype.is_floating_point:
            return total
        if fn is Fn.MUL:
            walk = _U * math.sqrt(max(0, value.shape[dim] - 1))
            return self._shaken(total * (1 + walk * self._signs(total)))
        return self._summed(total, torch.sum(value * value, dim), value.shape[dim])

    def contract(self, left: Tensor, right: Tensor, dim: int) -> Tensor:
        """A batched matrix product, of rounded operands if it is one."""
        if not left.dtype.is_floating_point and not right.dtype.is_floating_point:
            return self.fold(Fn.ADD, left * right, dim)
        a, b = left.to(self.dtype), right.to(self.dtype)
        if self.operand is not None and is_matrix_product(a, b, dim):
            a, b = self._operand(a), self._operand(b)
            short = _STORAGE[self.operand]
            unit = a.is_cuda and a.dtype == torch.float32 and short.itemsize == 2
            if unit and a.shape[dim] == b.shape[dim]:
                return multiplied(
                    a.to(short), b.to(short), dim, partial(torch.bmm, out_dtype=a.dtype)
                )
        total = _contracted(a, b, dim)
        if self._random is None:
            return total
        terms = max(a.shape[dim], b.shape[dim])
        return self._summed(total, _contracted(a * a, b * b, dim), terms)

    def best(
        self,
        values: Tensor,
        places: Tensor,
        count: int,
        end: int,
        at: bool,
        taken: Tensor | None = None,
    ) -> Tensor:
        """Ranked exactly; a NaN is in all values."""
        lost = values.isnan().any(-1, keepdim=True)
        shape = (*values.shape[:-1], max(0, count - values.shape[-1]))
        values = torch.cat([values.to(self.dtype), self.full(shape, -math.inf)], -1)
        places = torch.cat([places, torch.full(shape, end, device=self.device)], -1)
        # By place first, then stably by value. Candidates mostly come in order of their places.
        by_place = torch.argsort(places, dim=-1, stable=True)
        values, places = values.gather(-1, by_place), places.gather(-1, by_place)
        order = torch.argsort(values, dim=-1, descending=True, stable=True)[..., :count]
        if taken is not None:
            shape = (*taken.shape[:-1], shape[-1])
            nothing = torch.zeros(shape, dtype=taken.dtype, device=self.device)
            payloads, order = torch.cat([taken, nothing], -1), by_place.gather(-1, order)
            rest = broadcast_shapes(payloads.shape[:-1], order.shape[:-1])
            wide, which = (a.expand(*rest, -1) for a in (payloads, order))
            return wide.gather(-1, which).masked_fill(lost, 0)
        if at:
            return torch.where(lost, end, places.gather(-1, order))
        return torch.where(lost, math.nan, values.gather(-1, order))

    def shape(self, value: Tensor) -> tuple[int, ...]:
        """The length of every dimension."""
        return tuple(value.shape)

    def reshape(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The same elements in a new shape."""
        return value.reshape(shape)

    def transpose(self, value: Tensor, order: tuple[int, ...]) -> Tensor:
        """A view with permuted dimensions."""
        return value.permute(order)

    def slice(self, value: Tensor, dim: int, first: int, stop: int) -> Tensor:
        """A view of some positions."""
        return value.narrow(dim, first, stop - first)

    def join(self, values: Sequence[Tensor], dim: int) -> Tensor:
        """Concatenation."""
        return torch.cat(list(values), dim)

    def full(self, shape: tuple[int, ...], value: Number) -> Tensor:
        """Floats, all of them the one nearest to ``value``."""
        return torch.full(shape, float(value), dtype=self.dtype, device=self.device)

    def _operand(self, value: Tensor) -> Tensor:
        assert self.operand is not None
        near = value.to(_STORAGE[self.operand]).to(self.dtype)
        if self._random is None:
            return near
        keep = (near == value) | ~torch.isfinite(near)
        error = UNIT_ROUNDOFF[self.operand] * self._signs(value)
        return torch.where(keep, near, value * (1 + error))

    def _signs(self, like: Tensor) -> Tensor:
        drawn = torch.rand(
            like.shape, generator=self._random, device=self.device, dtype=torch.float32
        )
        return 2 * drawn.to(self.dtype) - 1

    def _summed(self, total: Tensor, squares: Tensor, terms: int) -> Tensor:
        walk = torch.sqrt(squares * (terms / 2)) + total.abs() * math.sqrt(terms / 3)
        error = torch.where(torch.isfinite(walk), walk, 0.0) * (_U if terms > 1 else 0.0)
        return self._shaken(total + error * self._signs(total))

    def _shaken(self, value: Tensor) -> Tensor:
        near = value.to(torch.float32)
        away = torch.where(value > near, math.inf, -math.inf).to(torch.float32)
        other = torch.nextafter(near, away)
        keep = (near == value) | ~torch.isfinite(near) | (self._signs(value) < 0)
        return torch.where(keep, near, other).to(self.dtype)


def is_matrix_product(left: Tensor, right: Tensor, dim: int) -> bool:
    """Whether each side varies over an axis of its own (as ``domains.is_matrix_product``)."""
    pairs = [
        (a, b) for d, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)) if d != dim
    ]
    rows = sum(b == 1 and a > 1 for a, b in pairs)
    columns = sum(a == 1 and b > 1 for a, b in pairs)
    either = sum(a == 1 and b == 1 for a, b in pairs)
    return min(rows, columns) + either >= 1 and rows + columns + either >= 2


def _contracted(left: Tensor, right: Tensor, dim: int) -> Tensor:
    """A sum of products without the cube of products; dimensions of 1 broadcast."""
    letters = [chr(ord("a") + d) for d in range(left.dim())]

    def kept(tensor: Tensor, other: Tensor) -> tuple[Tensor, str]:
        # einsum does not broadcast within a letter: a dimension of 1 is dropped where the
        # other side is longer.
        drop = [d for d in range(tensor.dim()) if tensor.shape[d] == 1 and other.shape[d] != 1]
        text = "".join(c for d, c in enumerate(letters) if d not in drop)
        return tensor.squeeze(drop), text

    (a, a_text), (b, b_text) = kept(left, right), kept(right, left)
    out = "".join(c for d, c in enumerate(letters) if d != dim)
    return torch.einsum(f"{a_text},{b_text}->{out}", a, b)


def multiplied(
    left: Tensor, right: Tensor, dim: int, bmm: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """The sum of products along ``dim``, of equal length in both, by ``bmm`` (batch rows k,
    batch k columns); other dimensions of 1 broadcast."""
    others = [d for d in range(left.dim()) if d != dim]
    rows = [d for d in others if right.shape[d] == 1 != left.shape[d]]
    columns = [d for d in others if left.shape[d] == 1 != right.shape[d]]
    batch = [d for d in others if d not in rows and d not in columns]
    order = [*batch, *rows, *columns]
    lengths = [max(left.shape[d], right.shape[d]) for d in order]
    count, height, width = (
        math.prod(left.shape[d] for d in batch),
        math.prod(left.shape[d] for d in rows),
        math.prod(right.shape[d] for d in columns),
    )
    a = left.permute(*batch, *rows, *columns, dim).reshape(count, height, left.shape[dim])
    b = right.permute(*batch, dim, *columns, *rows).reshape(count, right.shape[dim], width)
    back = [order.index(d) for d in others]
    return bmm(a, b).reshape(lengths).permute(back)
