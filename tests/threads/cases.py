"""Block graphs with products in their walk, as text."""

from __future__ import annotations

from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.parse import parse_as

MATMUL = """kernel
  place m Grid
  place k Loop
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(x[m k], y[k n])
  store out[m n] = new(sum0[m n])
"""
TURNED = MATMUL.replace("x[m k], y[k n]", "x[k m], y[n k]")
BEHIND = """kernel
  place m Grid
  place k Loop
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(x[m k], y[k n])
  let %0 = add(mul(new(sum0[m n]), scale[m]:fp32), bias[n])
  store out[m n] = add(mul(%0, sigmoid(%0)), more[m n])
  store raw[m n]:fp32 = new(sum0[m n])
"""
GATED = """kernel
  place m Grid
  place k Loop
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(x[m k], y[k n])
    carry sum1 over m n by add of mul(x[m k], z[k n])
  store out[m n] = mul(mul(new(sum0[m n]), sigmoid(new(sum0[m n]))), new(sum1[m n]))
"""
SCALED = """kernel
  place m Grid
  place k Loop
  place n Grid
  order m n
  walk k
    carry sum0 over m n by add of mul(mul(exp2(x[m k]), gain[k]), y[k n])
    carry sum1 over m by add of mul(x[m k], x[m k])
  store out[m n] = mul(new(sum0[m n]), rsqrt(add(new(sum1[m]), 1)))
"""
COUNTED = MATMUL.replace(
    "  store out[m n] = new(sum0[m n])",
    "    carry count over by add of where(le(0, index(k)), 1, 0)\n"
    "  store out[m n] = div(new(sum0[m n]), new_int(count[]))",
)


def weighted(score: str = "%0", walk: str = "walk n", stored: str = "") -> str:
    """Exponential weights of scores, their sum, and the weighted values; ``score`` from ``%0``."""
    return f"""kernel
  place h Grid untiled
  place m Grid
  place d Whole
  place n Loop
  place e Whole
  order h m
  {walk}
    let %0 = add[d](mul(q[h m d], k[h n d]))
    let %1 = {score}
    carry max0 over h m by max of %1
    let %2 = where(eq(new(max0[h m]), -inf), 0, new(max0[h m]))
    let %3 = exp2(sub(%1, %2))
    let %4 = where(eq(old(max0[h m]), -inf), 1, exp2(sub(old(max0[h m]), %2)))
    carry sum0 over h m e by add moved by mul of mul(%3, v[h n e])
      move sum0 with %4
    carry sum1 over h m by add moved by mul of %3
      move sum1 with %4
  store out[h m e] = div(new(sum0[h m e]), where(eq(0, new(sum1[h m])), 1, new(sum1[h m])))
{stored}"""


PLAIN = weighted("mul(%0, rsqrt(size(d)))")
LOGARITHM = weighted(
    "mul(%0, rsqrt(size(d)))",
    stored="  store lse[h m]:fp32 = add(new(max0[h m]), log2(new(sum1[h m])))\n",
)
CAUSAL = weighted(
    "where(le(index(n), index(m)), %0, -inf)",
    "walk n to m + 1\n    clear to m + 1 of le(index(n), index(m))",
)
BACKWARDS = CAUSAL.replace("walk n to m + 1", "walk n to m + 1 backwards")
WINDOW = weighted(
    "where(and(le(index(n), index(m)), lt(sub(index(m), index(n)), 100)), %0, -inf)",
    "walk n from m + -99 to m + 1\n    clear from m + -99 to m + 1 of "
    "le(index(n), index(m)), lt(sub(index(m), index(n)), 100)",
)
DOCUMENT = weighted(
    "where(and(le(index(n), index(m)), le(begin[m]:int32, index(n))), %0, -inf)",
    "walk n from begin[m]:int32 to m + 1\n    clear from begin[m]:int32 to m + 1 of "
    "le(index(n), index(m)), le(begin[m]:int32, index(n))",
)
CURVED = weighted("mul(tanh(div(%0, 3)), 3)")
SLOPED = weighted("add(%0, mul(slope[h]:fp32, sub(index(n), index(m))))")
BIASED = weighted("add(%0, add(bias[h m n], column[h n]))")
BOTH = weighted(
    "where(le(index(n), index(m)), add(%0, bias[h m n]), -inf)",
    "walk n to m + 1\n    clear to m + 1 of le(index(n), index(m))",
)
NORMED = PLAIN.replace(
    "let %0 = add[d](mul(q[h m d], k[h n d]))",
    "let %9 = mul(q[h m d], rsqrt(add[d](mul(q[h m d], q[h m d]))))\n"
    "    let %0 = add[d](mul(%9, k[h n d]))",
)

ALL = {
    "matmul": MATMUL,
    "turned": TURNED,
    "behind": BEHIND,
    "gated": GATED,
    "scaled": SCALED,
    "counted": COUNTED,
    "plain": PLAIN,
    "logarithm": LOGARITHM,
    "causal": CAUSAL,
    "backwards": BACKWARDS,
    "window": WINDOW,
    "document": DOCUMENT,
    "curved": CURVED,
    "sloped": SLOPED,
    "biased": BIASED,
    "both": BOTH,
    "normed": NORMED,
}
TILES = {"m": 64, "d": 64, "n": 64, "e": 64, "k": 64}


def block(name: str) -> BlockGraph:
    return parse_as(BlockGraph, ALL[name])


def config(graph: BlockGraph, **tiles: int) -> Config:
    known = {**TILES, **tiles}
    return Config(tuple((a, known[a]) for a, _ in graph.places if a in known))
