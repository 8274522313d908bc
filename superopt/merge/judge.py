"""Whether joined results of parts are the results of the whole: the spec against two kernels.

The first kernel computes the outputs of every part, the second joins them. Both sides are
evaluated at random points of prime fields, with parts that are full, short and empty, and with
positions that are left out at random: then parts and rows lose all of theirs, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

import numpy as np

from superopt.merge.derive import Merging
from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.names import free_name
from superopt.ugraph.node import Const
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import rebuild
from superopt.ugraph.walk import topo
from superopt.verify.equality import both
from superopt.verify.field.graphs import Comparison
from superopt.verify.field.graphs import verify_graph
from superopt.verify.field.refute import counterexample
from superopt.verify.field.trials import Trial
from superopt.verify.field.trials import axes_of
from superopt.verify.field.trials import positions
from superopt.verify.field.trials import trials
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted

LONG, FAR = 4, 5  # positions of the axis, and of axes whose positions are compared with its own
SHIPPED = -60.0  # log2 of the chance of a wrong accept

Claim = tuple[str, Verdict]


def judged(program: Program, merging: Merging, seed: int = 0) -> tuple[Claim, ...]:
    """Each claim with its verdict.

    Where the spec has no value for an axis without positions, and no count says which parts have
    none, parts without positions are left out of the claim. Positions are hidden only where their
    number is not read.
    """
    graph = _graph(program, merging.parts, merging.joining)
    if not empty_parts(program, merging.axis):
        return (
            (
                "parts that have positions",
                _at(program, graph, _full(program, graph, merging.axis), seed),
            ),
        )
    claims = [("parts", _everywhere(program, graph, merging.axis, seed))]
    if accepted(claims[0][1]) and not _counted(program, merging.axis):
        free = free_name("keep", {p.name for p in program.params})
        keep = Input(free, (merging.axis,), "bool")
        hidden = replace(program, params=(*program.params, keep), outputs=_stores(program, keep))
        graph = _graph(hidden, _without(merging.parts, keep), merging.joining)
        verdict = _everywhere(hidden, graph, merging.axis, seed)
        claims.append(("parts with hidden positions", verdict))
    return tuple(claims)


def judged_pair(merging: Merging, pair: Program, seed: int = 0) -> Claim:
    """Whether ``pair`` joins two parts as the program of ``merging`` joins those of its axis."""
    program, axis = merging.program, merging.along
    sizes = {a: 2 if a == axis else 3 for a in axes_of(program)} | dict(program.fixed)
    trial = Trial("pair", tuple(sizes.items()), ())
    meaning = _Ends(pair, tuple(p for p in program.params if axis in p.axes), axis)
    return "a pair", Comparison(program, meaning, trial, seed, SHIPPED).verdict()


@dataclass(frozen=True)
class _Ends:
    """The outputs of ``pair`` for the two positions that ``cut`` tensors have on ``axis``."""

    pair: Program
    cut: tuple[Input | Scalar, ...]
    axis: str

    def outputs(self, domain: Domain[A], arrays: Mapping[str, A], trial: Trial) -> dict[str, A]:
        """The outputs at one choice of sizes, by name."""
        names = [p.name for p in self.pair.params]
        given = {name: value for name, value in arrays.items() if name in names}
        for number, tensor in enumerate(self.cut * 2):
            assert isinstance(tensor, Input)
            dim, end = tensor.order.index(self.axis), number // len(self.cut)
            part = domain.slice(arrays[tensor.name], dim, end, end + 1)
            shape = [n for i, n in enumerate(domain.shape(part)) if i != dim]
            given[names[number]] = domain.reshape(part, tuple(shape))
        return evaluate_program(self.pair, domain, given, trial.size)


def differs(program: Program, merging: Merging, seed: int = 0) -> bool:
    """Whether a few points in float64 show that ``merging`` is wrong: a quick look."""
    graph = _graph(program, merging.parts, merging.joining)
    axis = merging.axis
    every = (_long(program, graph, axis), *trials(program, graph))
    for trial in every if empty_parts(program, axis) else _full(program, graph, axis):
        integers = Comparison(program, graph, trial, seed, SHIPPED).integers()
        if counterexample(program, graph, trial, integers, seed) is not None:
            return True
    return False


def _everywhere(program: Program, graph: KernelGraph, axis: str, seed: int) -> Verdict:
    """The comparison at all sizes, with parts that have several positions and none."""
    long = _at(program, graph, [_long(program, graph, axis)], seed)
    return both((long, verify_graph(program, graph, seed, SHIPPED))) if accepted(long) else long


def _at(program: Program, graph: KernelGraph, some: Iterable[Trial], seed: int) -> Verdict:
    found: list[Verdict] = []
    for number, trial in enumerate(some):
        found.append(Comparison(program, graph, trial, seed * 1000 + number, SHIPPED).verdict())
        if not accepted(found[-1]):
            break
    return both(found)


def _counted(program: Program, axis: str) -> bool:
    """Whether the number of positions is read."""
    return Size(axis) in topo(s.value for s in program.outputs)


def empty_parts(program: Program, axis: str) -> bool:
    """Whether parts without positions have results, or a count that says that they have none."""
    return _counted(program, axis) or not undefined(program, {axis: 0})


def _graph(program: Program, parts: BlockGraph, joining: BlockGraph) -> KernelGraph:
    outputs = tuple(s.name for s in program.outputs)
    return KernelGraph(program.name, program.params, outputs, (parts, joining), program.fixed)


def undefined(program: Program, given: Mapping[str, int]) -> bool:
    """Whether the outputs have no value where all inputs are 1, at ``given`` sizes (others: 2)."""
    sizes = {**dict.fromkeys(axes_of(program), 2), **given, **dict(program.fixed)}
    domain = FloatDomain()
    tensors = {}
    for param in program.params:
        shape = [sizes[a] for a in param.order] if isinstance(param, Input) else []
        tensors[param.name] = domain.array(np.ones(shape, _ARRAY[param.kind]))
    with np.errstate(all="ignore"):
        values = evaluate_program(program, domain, tensors, sizes)
    return any(bool(np.isnan(np.asarray(v, np.float64)).any()) for v in values.values())


_ARRAY = {Kind.REAL: np.float64, Kind.INT: np.int64, Kind.BOOL: np.bool_}


def _long(program: Program, graph: KernelGraph, axis: str) -> Trial:
    """Two parts of several positions each, all of them in sight of some position that is compared
    with theirs."""
    first = next(trials(program, graph))
    far = dict.fromkeys(positions(program) & first.size.keys(), FAR)
    return replace(first, label="long", sizes=tuple({**first.size, **far, axis: LONG}.items()))


def _full(program: Program, graph: KernelGraph, axis: str) -> Iterator[Trial]:
    """The trials with no more parts than have a position."""
    for trial in (_long(program, graph, axis), *trials(program, graph)):
        config = trial.configs[0]
        tiles = -(-trial.size[axis] // config.tile[axis])
        if tiles:
            longest = -(-tiles // min(config.parts, tiles))
            some = replace(config, parts=-(-tiles // longest))
            yield replace(trial, configs=(some, *trial.configs[1:]))


def _kept(keep: Input, fold: Fn, term: Node) -> Node:
    """A position that is left out adds the unit of the fold."""
    return Map(Fn.WHERE, (keep, term, Const(fold.unit)))


def _hidden(roots: Sequence[Node], keep: Input) -> list[Node]:
    """``roots``, of which folds and scans leave out the positions that are not kept."""
    (axis,) = keep.order
    found: dict[Node, Node] = {}
    for node in topo(roots):
        parts = tuple(found[c] for c in children(node))
        match node:
            case Reduce(fn=fn, axis=over) | Scan(fn=fn, axis=over) if over == axis:
                found[node] = rebuild(node, (_kept(keep, fn, parts[0]),))
            case _:
                found[node] = rebuild(node, parts)
    return [found[root] for root in roots]


def _stores(program: Program, keep: Input) -> tuple[Store, ...]:
    """The outputs without the positions that are not kept."""
    values = _hidden([s.value for s in program.outputs], keep)
    return tuple(replace(s, value=v) for s, v in zip(program.outputs, values, strict=True))


def _without(parts: BlockGraph, keep: Input) -> BlockGraph:
    """The same of the kernel of parts."""
    (walk,) = parts.walks
    terms = _hidden([c.term for c in walk.carries], keep)
    carries = tuple(
        replace(c, term=_kept(keep, c.fold, term))
        for c, term in zip(walk.carries, terms, strict=True)
    )
    return replace(parts, walks=(replace(walk, carries=carries),))
