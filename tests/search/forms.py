"""Forms and cases for the tests of the search, without the e-graph."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.device import target
from superopt.search.space import Search
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from tests import samples

H200 = target("h200")
PREFILL = {"b": 4, "h": 32, "m": 4096, "n": 4096, "d": 128, "e": 128}


@dataclass(frozen=True)
class Plain:
    """A form as it was written."""

    program: Program
    steps: tuple[str, ...] = ()


def run(*programs: Program, sizes: dict[str, int], dtype: str = "bf16", **options: int) -> Search:
    return Search([Plain(p) for p in programs], sizes, dtype, H200, **options)


def decode() -> Program:
    """One query a head: there are few programs, and many keys."""
    q = Input("q", ("b", "h", "d"))
    scale = samples.rsqrt(Size("d"))
    s = samples.mul(samples.total("d", samples.mul(q, samples.K)), scale)
    e = samples.exp(samples.sub(s, samples.finite(samples.largest("n", s))))
    over = samples.positive(samples.total("n", e))
    out = samples.div(samples.total("n", samples.mul(e, samples.V)), over)
    params = (q, samples.K, samples.V)
    return Program("decode", params, (Store("out", ("b", "h", "e"), None, out),))


def rms_deferred() -> Program:
    """The scale stands behind the product."""
    x, g, w = samples.X, samples.G, samples.W
    out = samples.mul(samples.total("k", samples.mul(samples.mul(x, g), w)), samples.rms_scale())
    return Program("rms_linear", (x, g, w), (Store("out", ("m", "n"), None, out),))


def shape(block: BlockGraph) -> str:
    """Places and walks of a kernel in a line: ``m:Grid n:Loop | n(3 carries, 2 moved)``."""
    places = " ".join(
        f"{a}:{'Grid1' if p == Grid(tiled=False) else type(p).__name__}" for a, p in block.places
    )
    walks = [
        f"{w.axis}({len(w.carries)} carries, {sum(bool(c.moves) for c in w.carries)} moved)"
        for w in block.walks
    ]
    return f"{places} | {' '.join(walks)}"
