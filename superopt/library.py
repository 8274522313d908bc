"""Well-known operators, written in the language itself, as a user could.

Nothing below this file knows their names: a call is the same as its body written out. Where
every position of a row is masked (-inf), softmax is 0 and logsumexp is -inf.
"""

from __future__ import annotations

from dataclasses import replace

from superopt.axes import known_axis
from superopt.axes import make_axis
from superopt.functions import erf
from superopt.functions import exp
from superopt.functions import index
from superopt.functions import inf
from superopt.functions import log
from superopt.functions import maximum
from superopt.functions import pi
from superopt.functions import rsqrt
from superopt.functions import sigmoid
from superopt.functions import size
from superopt.functions import sqrt
from superopt.functions import tanh
from superopt.functions import where
from superopt.tensor import Operand
from superopt.tensor import Tensor
from superopt.tensor import node_of
from superopt.tensor import refuse
from superopt.tensor import spoken
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Recur
from superopt.ugraph.scalar import Kind


def softmax(x: Tensor, axis: str) -> Tensor:
    """Weights that sum to 1 over ``axis``; all 0 where the whole row is masked."""
    e = exp(x - _finite_max(x, axis))
    total = e.sum(axis)
    return e / where(total == 0, 1, total)


def log_softmax(x: Tensor, axis: str) -> Tensor:
    """The logarithm of ``softmax``; -inf where the whole row is masked."""
    shifted = x - _finite_max(x, axis)
    total = exp(shifted).sum(axis)
    return shifted - log(where(total == 0, 1, total))


def logsumexp(x: Tensor, axis: str) -> Tensor:
    """``log(exp(x).sum(axis))`` without overflow; -inf where the whole row is masked."""
    m = _finite_max(x, axis)
    total = exp(x - m).sum(axis)
    return where(total == 0, -inf, m + log(total))


def var(x: Tensor, axis: str) -> Tensor:
    """The mean squared distance from the mean over ``axis`` (divided by the size)."""
    return ((x - x.mean(axis)) ** 2).mean(axis)


def rms_norm(x: Tensor, axis: str, weight: Operand | None = None, eps: Operand = 1e-6) -> Tensor:
    """``x`` divided by its root mean square over ``axis``, times ``weight`` if given."""
    normed = x * rsqrt((x * x).mean(axis) + eps)
    return normed if weight is None else normed * weight


def layer_norm(
    x: Tensor,
    axis: str,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: Operand = 1e-5,
) -> Tensor:
    """``x`` with mean 0 and variance 1 over ``axis``, times ``weight``, plus ``bias``."""
    centred = x - x.mean(axis)
    normed = centred * rsqrt((centred**2).mean(axis) + eps)
    scaled = normed if weight is None else normed * weight
    return scaled if bias is None else scaled + bias


def l2_normalize(x: Tensor, axis: str, eps: Operand = 1e-12) -> Tensor:
    """``x`` divided by its length over ``axis``, or by ``eps`` if that is larger."""
    return x / maximum(sqrt((x * x).sum(axis)), eps)


def relu(x: Tensor) -> Tensor:
    """``x`` where it is positive, else 0."""
    return maximum(x, 0)


def silu(x: Tensor) -> Tensor:
    """``x * sigmoid(x)``, also called swish."""
    return x * sigmoid(x)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function of ``x``.

    ``approximate="tanh"``: the usual approximation by a hyperbolic tangent.
    """
    if approximate not in ("none", "tanh"):
        refuse(f"approximate={approximate!r} is unknown; 'none' and 'tanh' are known")
    if approximate == "tanh":
        return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x * rsqrt(2)))


def gather(x: Tensor, position: Operand, axis: str) -> Tensor:
    """``x`` at a whole-numbered ``position`` on ``axis``, one for each of position's own axes.

    0 where there is no such position. What stands at other positions does not matter.
    """
    at = node_of(position)
    if at.kind is not Kind.INT:
        refuse("gather takes whole numbers as positions; declare the tensor as int32")
    if axis in at.axes:
        refuse(f"the positions on {axis!r} vary over {axis!r} itself; give them another axis")
    if node_of(x).kind is Kind.BOOL:
        refuse("gather takes numbers; write gather(where(condition, 1, 0), ...) > 0")
    if known_axis(axis) not in node_of(x).axes:
        refuse(f"no axis {axis!r} to gather on; the tensor has {spoken(node_of(x).axes)}")
    return where(index(axis) == position, x, 0).sum(axis)


def last(x: Tensor, axis: str) -> Tensor:
    """``x`` at the last position of ``axis``; over an empty one 0, or what ``recur`` begins as."""
    if isinstance(x.node, Recur) and x.node.axis == axis:
        return Tensor(replace(x.node, last=True))
    return gather(x, size(axis) - 1, axis)


def argmax(x: Tensor, axis: str) -> Tensor:
    """The lowest position on ``axis`` at which ``x`` is largest; ``size(axis)`` if x has NaN."""
    if node_of(x).kind is Kind.INT:
        return where(x == x.max(axis), index(axis), size(axis)).min(axis)
    first = f"{axis}_first"
    _, positions = top_k(x, axis, 1, first)
    return positions.max(first)


def top_k(x: Tensor, axis: str, k: int, into: str) -> tuple[Tensor, Tensor]:
    """The ``k`` largest values on ``axis`` and their positions, along the new axis ``into``.

    The largest comes first, of equal ones that at the lowest position. Where the axis has fewer
    positions, values are -inf and positions ``size(axis)``; where x has NaN, all values are NaN
    and all positions ``size(axis)``.
    """
    node = node_of(x)
    if isinstance(k, Tensor):
        refuse("k is a literal: the k-th value for a k known at run time is not supported")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        refuse(f"k={k!r} is no positive whole number")
    if node.kind is not Kind.REAL:
        refuse("top_k ranks reals; for whole numbers below 2**24 write x / 1")
    if known_axis(axis) not in node.axes:
        refuse(f"no axis {axis!r} to rank; the tensor has {spoken(node.axes)}")
    if make_axis(into, k) in node.axes:
        refuse(f"the tensor has axis {into!r} already; name another one for the ranks")
    pair = (node, Index(axis))
    return Tensor(Best(axis, into, axis, pair)), Tensor(Best(axis, into, axis, pair, at=True))


def bottom_k(x: Tensor, axis: str, k: int, into: str) -> tuple[Tensor, Tensor]:
    """The ``k`` smallest values and their positions, the smallest first; else as ``top_k``."""
    values, positions = top_k(-x, axis, k, into)
    return -values, positions


def _finite_max(x: Tensor, axis: str) -> Tensor:
    """The maximum over ``axis``, or 0 where the whole row is -inf, so that x - max is defined."""
    m = x.max(axis)
    return where(m == -inf, 0, m)
