"""Programs whose kernels have a walk inside a walk, fused and repaired as the search does it."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.errors import NoRepair
from superopt.repair.apply import repair
from superopt.rewrite.fuse import Passes
from superopt.rewrite.fuse import fuse
from superopt.rewrite.fuse import groupings
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.ranges import narrow
from superopt.ugraph.scalar import Fn
from tests import samples as s

Places = tuple[tuple[str, Place], ...]
LOGITS = s.total("k", s.mul(s.X, s.W))
ROWS: Places = (("m", Grid()), ("k", Loop()), ("n", Loop()))
PARTS: Places = (("m", Grid()), ("k", Loop()), ("n", Split()))
WIDE: Places = (
    ("b", Grid(tiled=False)),
    ("h", Grid(tiled=False)),
    ("m", Grid()),
    ("d", Loop()),
    ("n", Loop()),
    ("e", Whole()),
)


def logarithm_of_sum(value: Node) -> Node:
    """Of the exponentials of ``value`` along n, with the largest one taken out."""
    top = s.largest("n", value)
    return s.add(s.finite(top), Map(Fn.LOG, (s.total("n", s.exp(s.sub(value, s.finite(top)))),)))


def normaliser() -> Program:
    """The logsumexp of every row of a matrix product."""
    return Program(
        "normaliser", (s.X, s.W), (Store("out", ("m",), None, logarithm_of_sum(LOGITS)),)
    )


def probabilities() -> Program:
    """The softmax of every row of a matrix product, which is stored."""
    out = s.softmax(LOGITS, "n")
    return Program("probabilities", (s.X, s.W), (Store("out", ("m", "n"), None, out),))


def normed() -> Program:
    """Normalised rows enter the product, so that its walk reads what another one ends in."""
    (linear,) = s.rms_linear().outputs
    out = Store("out", ("m",), None, logarithm_of_sum(linear.value))
    return Program("normed", (s.X, s.G, s.W), (out,))


def block(program: Program, places: Places, passes: Passes | None = None) -> BlockGraph:
    """One kernel, repaired; its walks are the fewest ones, unless ``passes`` says so.

    Raises:
        NoRepair: some fold cannot share its walk.
    """
    looped = [a for a, p in places if isinstance(p, Loop | Split)]
    order = tuple(Turn(a) for a, p in places if isinstance(p, Grid))
    chosen = passes or groupings(program.outputs, looped)[0]
    return repair(fuse(program.outputs, places, order, chosen))[0]


def kernels(program: Program, one: BlockGraph) -> KernelGraph:
    return KernelGraph(program.name, program.params, ("out",), (one,))


def graph(program: Program, places: Places, ragged: Sequence[str] = ()) -> KernelGraph:
    """``block`` with the limits of its masks; walks of ``ragged`` axes have a clear part."""
    return kernels(program, cleared(narrow(block(program, places)), ragged))


def every(program: Program, places: Places) -> list[KernelGraph]:
    """All groupings that can be repaired."""
    found = []
    looped = [a for a, p in places if isinstance(p, Loop | Split)]
    for passes in groupings(program.outputs, looped):
        try:
            found.append(kernels(program, block(program, places, passes)))
        except NoRepair:
            continue
    return found
