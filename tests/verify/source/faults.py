"""Faults seeded into printed text: what is replaced by what, in which case of ``tests.emit.cases``.

``graph``: which graph of the case; only its functions are changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    name: str
    case: str
    graph: int
    pattern: str  # a regular expression
    by: str
    says: str = ""  # a part of what the verdict must say


def seeded(text: str, fault: Fault) -> str:
    """The text with the fault, in the functions of its graph."""
    parts = re.split(r"(?m)^(?=@triton|def |PLANS)", text)
    name = re.compile(rf"def \w*_g{fault.graph}(_k\d+(_desc)?)?\(")
    changed = [re.sub(fault.pattern, fault.by, p) if name.search(p) else p for p in parts]
    assert changed != parts, f"{fault.name}: nothing matches {fault.pattern!r}"
    return "".join(changed)


def fault(name, case, graph, pattern, by, says=""):
    return Fault(name, case, graph, pattern, by, says)


# What the field reading refutes.
FIELD = (
    fault(
        "mask bound past the end",
        "attention",
        0,
        r"n_at < n_size\)",
        "n_at <= n_size)",
        "reads k at",
    ),
    fault("mask bound short", "attention", 0, r"n_at < n_size\)", "n_at < n_size - 1)"),
    fault("store mask past the end", "softmax", 1, r"m_at < m_size\)", "m_at <= m_size)"),
    fault("no mask of the row axis", "attention", 0, r"\(m_at < m_size\) \|", "(m_at == m_at) |"),
    fault("even tiles believed", "attention", 0, r"EVEN_N=_even\(n_size, n_tile\)", "EVEN_N=True"),
    fault(
        "evenness of another tile",
        "nested",
        0,
        r"EVEN_K=.*k_tile\)",
        "EVEN_K=_even(k_size, n_tile)",
    ),
    fault("tile of another axis", "attention", 0, r"m_tile \* TILE_M", "m_tile * TILE_N"),
    fault("axes swapped", "attention", 0, r"h_at \* q_stride_h", "b_at * q_stride_h"),
    fault("programs in the wrong order", "attention", 0, r"pid % h_size", "pid % b_size"),
    fault("wrong stride", "attention", 0, r"\* k_stride_n", "* v_stride_n"),
    fault("stride of another tensor passed", "attention", 0, r"k\.stride\(0\)", "v.stride(0)"),
    fault("a stride forgotten", "attention", 1, r"\* part0_l_stride_h", "* 1"),
    fault(
        "written twice",
        "attention",
        0,
        r"m_tile = pid % m_tiles",
        "m_tile = pid % m_tiles // 2 * 2",
        "which another program of the launch writes",
    ),
    fault("never written", "attention", 0, r"m_tile = pid % m_tiles", "m_tile = pid % 1"),
    fault(
        "too few programs",
        "softmax",
        0,
        r"programs = triton.cdiv\(m_size, m_tile\)",
        "programs = m_size // m_tile",
        "never written",
    ),
    fault("guard of the empty row", "attention", 0, r"tl.where\(l == 0.0, 1.0, l\)", "l"),
    fault(
        "guard of the masked tile",
        "causal",
        1,
        r'tl.where\(m_new == float\("-inf"\), 0.0, m_new\)',
        "m_new",
    ),
    fault("scale twice", "attention", 0, r"sum_1 \* rsqrt_d", "sum_1 * rsqrt_d * rsqrt_d"),
    fault("scale of another size", "attention", 0, r"_sqrt\(d_size\)", "_sqrt(e_size)"),
    fault("no weight of the parts", "attention", 1, r"part0_o \* where_3\[:, :, None\]", "part0_o"),
    fault("weight squared", "attention", 1, r"part0_l \* where_3", "part0_l * where_3 * where_3"),
    fault("old state not moved", "attention", 0, r"o \* where_6\[:, None\]", "o"),
    fault(
        "moved by the new maximum",
        "attention",
        0,
        r"m - where_5\) \* LOG2E",
        "m_new - where_5) * LOG2E",
    ),
    fault("padding counted", "softmax", 1, r"tl.where\(\w+_in\[None, :\], (\w+), 0.0\)", r"\1"),
    fault("mask of positions", "causal", 0, r"n_at\[None, :\] <= m_at", "n_at[None, :] < m_at"),
    fault(
        "walk ends early",
        "attention",
        0,
        r"range\(0, n_size, TILE_N\)",
        "range(0, n_size - 1, TILE_N)",
    ),
    fault(
        "walk begins late",
        "attention",
        0,
        r"range\(0, n_size, TILE_N\)",
        "range(TILE_N, n_size, TILE_N)",
    ),
    fault(
        "parts overlap", "attention", 1, r"n_part_at \* n_length", "n_part_at * (n_length - TILE_N)"
    ),
    fault(
        "a part is left out",
        "attention",
        1,
        r"n_part_lane < n_part_size",
        "n_part_lane < n_part_size - 1",
    ),
    fault(
        "workspace not written",
        "attention",
        1,
        r"(?s)tl.store\(\s+part0_l_ptr.*?mask=m_in,\s+\)",
        "pass",
        "before anything was written",
    ),
    fault(
        "no wait for the launch before",
        "attention",
        1,
        r"tl.extra.cuda.gdc_wait\(\)",
        "pass",
        "before it waits",
    ),
    fault("another base", "softmax", 0, r"LOG2E", "0.5"),
    fault("a negation", "layer_norm", 0, r"mu \+ ", "mu - "),
    fault(
        "a load without other",
        "attention",
        0,
        r"m_in\[:, None\] & d_in\[None, :\],\s+other=0.0",
        "m_in[:, None] & d_in[None, :]",
    ),
    fault(
        "joint positions taken apart wrongly", "packed", 1, r"m_joint % r_size", "m_joint % m_size"
    ),
    fault("place in the tile", "listing", 0, r"_keys\(x_real, n_at", "_keys(x_real, n_lane"),
    fault("key of the wrong sign", "listing", 0, r"_keys\(x_real,", "_keys(0.0 - x_real,"),
    fault(
        "places from the end",
        "listing",
        0,
        r"_keys\(x_real, n_at\[None, :\]\)",
        "_keys(x_real, n_size - 1 - n_at[None, :])",
    ),
    fault(
        "a rank that the list has not",
        "listing",
        0,
        r"(_nobody\(.*), t_size\)",
        r"\1, t_size - 1)",
        "5 ranks of a list of 4",
    ),
    fault("one candidate of a tile", "listing", 0, r"(_among\(.*), t_size\)", r"\1, 1)"),
    fault(
        "padding is ranked",
        "listing",
        0,
        r"tl.where\(n_in\[None, :\], (_keys\(.*?\)), -0x.*\)",
        r"\1",
    ),
    fault("no candidate is the first", "listing", 0, r"t_size, n_size\)", "t_size, 0)"),
    fault(
        "ranks of a part for places",
        "listing",
        1,
        r"_keys\(part0_best0, part0_best0_at\)",
        "_keys(part0_best0, t_lane[None, None, :])",
    ),
    fault(
        "parts that do not exist are ranked",
        "listing",
        1,
        r"tl.where\(n_part_in\[:, None, None\], (_keys\(.*?\)), -0x7FFFFFFFFFFFFFFF - 1\)",
        r"\1",
    ),
    fault("parts of the wrong rows", "listing", 1, r"\[1, 0, 2\]", "[0, 1, 2]"),
)

# What no field of three candidates shows at the text's own ranks, and the order reading refutes.
SHORT = fault(
    "a list cut one short",
    "listing",
    2,
    r"(tl.int32\)|n_keys|\[None, :\]),(\s+)t_size",
    r"\1,\2t_size - 1",
    "values[0, 4] is -inf",
)

# What it accepts, because it holds for reals, and the order reading refutes.
ORDER = (
    fault(
        "maximum begins at 0",
        "attention",
        0,
        r'tl.full\(\[TILE_M\], float\("-inf"\)',
        "tl.full([TILE_M], 0.0",
    ),
    fault(
        "maximum begins at -10000",
        "attention",
        0,
        r'tl.full\(\[TILE_M\], float\("-inf"\)',
        "tl.full([TILE_M], -10000.0",
    ),
    fault("minimum for maximum", "attention", 0, r"m_new = tl.maximum\(", "m_new = tl.minimum("),
    fault(
        "no stabiliser",
        "attention",
        0,
        r"where_5 = tl.where.*",
        "where_5 = m_new * 0.0; m = where_5",
    ),
)
