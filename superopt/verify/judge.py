"""Which evidence a claim needs, and whether a candidate has all of it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass

from superopt.errors import NoRepair
from superopt.repair.inner import seen
from superopt.repair.record import Repair
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.field.graphs import verify_graph
from superopt.verify.obligations import judge_repair
from superopt.verify.questions import about
from superopt.verify.ranges_proof import prove_clears
from superopt.verify.ranges_proof import prove_limits
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted

Claim = tuple[str, Verdict]
RepairJudge = Callable[[Repair, BlockGraph, int], Sequence[Claim]]
LimitsJudge = Callable[[BlockGraph], Sequence[Claim]]

EQUALITY = "graph equals spec"


@dataclass(frozen=True)
class GraphVerdict:
    """Every claim about a kernel graph with its verdict, the equality with the spec first."""

    verdicts: tuple[Claim, ...]
    log2_limit: float = -60.0

    @property
    def accepted(self) -> bool:
        """Whether each claim has the evidence that it needs."""
        return not self.wanting

    @property
    def wanting(self) -> tuple[Claim, ...]:
        """The claims that have not."""
        return tuple(c for c in self.verdicts if not accepted(c[1], self.log2_limit))


def judge(
    program: Program,
    graph: KernelGraph,
    repairs: Sequence[Repair] = (),
    seed: int = 0,
    log2_limit: float = -60.0,
    judge_repairs: RepairJudge = judge_repair,
    judge_limits: LimitsJudge | None = None,
) -> GraphVerdict:
    """Whether ``graph`` computes ``program``.

    The claims: the graphs are equal (sampled in fields); each obligation of each repair; each
    limit of each walk loses nothing; each mask that clear tiles drop hides nothing there. An
    unequal graph is not judged further. The outcome depends on the arguments alone, so it may be
    kept by their digests.
    """
    found: list[Claim] = [(EQUALITY, verify_graph(program, graph, seed, log2_limit))]
    if not accepted(found[0][1], log2_limit):
        return GraphVerdict(tuple(found), log2_limit)
    for number, repair in enumerate(repairs):
        name = f"repair {number}"
        block = home(repair, graph)
        if block is None:
            found.append((name, Unknown("no walk of the graph has the repair's components")))
            continue
        with about(name):
            claims = judge_repairs(repair, block, seed)
        found += [(f"{name}, {claim}", verdict) for claim, verdict in claims]
    for number, block in enumerate(graph.kernels):
        with about(f"walks of kernel {number}"):
            found += (judge_limits or _limits)(block)
    return GraphVerdict(tuple(found), log2_limit)


def home(repair: Repair, graph: KernelGraph) -> BlockGraph | None:
    """The kernel whose walk holds the components of ``repair``, as repair sees it."""
    for kernel in graph.kernels:
        try:
            block = seen(kernel)
        except NoRepair:  # a value of an inner walk that is no tensor of numbers has no repair
            continue
        for walk in block.walks:
            if walk.axis == repair.axis and set(repair.components) <= set(walk.carries):
                return block
    return None


def _limits(block: BlockGraph) -> list[Claim]:
    found = [(f"loop limits of {claim.axis}", verdict) for claim, verdict in prove_limits(block)]
    clears = prove_clears(block)
    return found + [(f"mask dropped on clear tiles of {c.axis}", verdict) for c, verdict in clears]
