"""Which graphs are well formed, and what is wrong with those that are not.

Building a node checks the node; this file checks what only the level can know: where axes go,
what is defined where, and that every output element is written by exactly one program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Listed
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.levels import Whole
from superopt.ugraph.node import DTYPES
from superopt.ugraph.node import Best
from superopt.ugraph.node import Hole
from superopt.ugraph.node import Input
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.scans import in_order
from superopt.ugraph.scans import roots
from superopt.ugraph.scans import running
from superopt.ugraph.scans import scans
from superopt.ugraph.walk import topo

# How a factor may act on the components of a carry: what distributes over its fold.
ACTIONS: dict[Fn, tuple[Fn, ...]] = {
    Fn.ADD: (Fn.MUL,),
    Fn.MAX: (Fn.ADD, Fn.MUL),
    Fn.MIN: (Fn.ADD, Fn.MUL),
    Fn.MUL: (),
}


def check(graph: Program | BlockGraph | KernelGraph) -> list[str]:
    """Everything that is wrong with ``graph``, one line each; empty if it is well formed."""
    match graph:
        case Program():
            found = _program(graph)
        case BlockGraph():
            found = _Checker(graph).problems()
        case KernelGraph():
            found = _kernels(graph)
    return list(dict.fromkeys(found))


def _read(node: Node, walk: Walk) -> list[str]:
    """The carries of ``walk`` whose states ``node`` reads, each once."""
    states = [n.carry for n in topo([node]) if isinstance(n, State)]
    return [name for name in dict.fromkeys(states) if name in walk.components]


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _program(program: Program) -> Iterator[str]:
    names = [p.name for p in program.params] + [s.name for s in program.outputs]
    yield from (f"name {name!r} is given twice" for name in _repeated(names))
    yield from _reads([s.value for s in program.outputs], program.params)
    for store in program.outputs:
        yield from _dtype(store)
        for node in topo([store.value]):
            if isinstance(node, State | Hole):
                yield f"output {store.name!r} contains {node!r}, which no program may"
        if set(store.order) != set(store.value.axes):
            yield (
                f"output {store.name!r} has axes {' '.join(store.order)!r}, "
                f"its value {' '.join(store.value.axes)!r}"
            )


def _kernels(graph: KernelGraph) -> Iterator[str]:
    stores = [s for k in graph.kernels for s in k.all_stores]
    names = [p.name for p in graph.params] + [s.name for s in stores]
    yield from (f"name {name!r} is given twice" for name in _repeated(names))
    yield from (f"output {name!r} is listed twice" for name in _repeated(graph.outputs))
    for name in graph.outputs:
        if name not in [s.name for s in stores]:
            yield f"output {name!r} is not written"
    known: list[Input | Scalar] = list(graph.params)
    for index, block in enumerate(graph.kernels):
        yield from (f"kernel {index}: {p}" for p in _reads(block.roots(), known))
        yield from (f"kernel {index}: {p}" for p in check(block))
        known += [s.as_input() for s in block.all_stores]
    read = {n for k in graph.kernels for n in topo(k.roots())}
    for store in stores:
        if store.name not in graph.outputs and store.as_input() not in read:
            yield f"store {store.name!r} is no output, and no kernel reads it"


def _reads(roots: Iterable[Node], known: Iterable[Input | Scalar]) -> Iterator[str]:
    defined = set(known)
    for node in topo(roots):
        if isinstance(node, Input | Scalar) and node not in defined:
            yield f"{node!r} is read but is neither a parameter nor stored before"


def _dtype(store: Store) -> Iterator[str]:
    if store.dtype is not None and store.dtype not in DTYPES:
        yield f"store {store.name!r} has unsupported dtype {store.dtype!r}"
    if len(set(store.order)) != len(store.order):
        yield f"store {store.name!r} repeats an axis: {' '.join(store.order)!r}"


@dataclass
class _Checker:
    """The checks of one kernel."""

    block: BlockGraph

    def __post_init__(self) -> None:
        places = self.block.place
        self.tiled = [a for a, p in places.items() if p == Grid()]
        self.turning = [a for a, p in places.items() if isinstance(p, Grid)]
        self.grid = [a for a, p in places.items() if isinstance(p, Grid | Pack)]
        self.whole = [a for a, p in places.items() if isinstance(p, Whole)]
        self.walked = [a for a, p in places.items() if isinstance(p, Loop | Split)]
        self.split = [a for a, p in places.items() if isinstance(p, Split)]

    def problems(self) -> Iterator[str]:
        """All of them; some may be said twice."""
        yield from self._axes()
        yield from self._nodes()
        yield from self._splits()
        names = [c.name for w in self.block.nest for c in w.carries]
        yield from (f"carry {name!r} is defined twice" for name in _repeated(names))
        finished: dict[str, Carry] = {}
        for walk in self.block.walks:
            yield from self._walk(walk, finished)
            finished |= walk.components
        for store in self.block.stores:
            yield from self._store(store, [])
            for scan in (n for n in topo([store.value]) if isinstance(n, Scan | Recur)):
                if scan.axis in self.walked:
                    yield f"a scan along {scan.axis!r} outside of its walk"
            yield from _states(f"store {store.name!r}", store.value, finished, {})

    def _axes(self) -> Iterator[str]:
        block = self.block
        for axis in _repeated(a for a, _ in block.places):
            yield f"axis {axis!r} is placed twice"
        used = [a for node in topo(block.roots()) for a in node.axes]
        used += [a for s in block.all_stores for a in s.order]
        used += [w.axis for w in block.nest]
        for axis in dict.fromkeys(used):
            if axis not in block.place:
                yield f"axis {axis!r} is not placed"
        turns = [t.axis for t in block.order]
        if sorted(turns) != sorted(self.turning):
            yield (
                f"programs are ordered by {' '.join(turns)!r}, "
                f"but the grid axes are {' '.join(self.turning)!r}"
            )
        for axis, place in block.places:
            if isinstance(place, Pack) and place.into not in self.tiled:
                yield f"axis {axis!r} is packed into {place.into!r}, which is no tiled grid axis"

    def _nodes(self) -> Iterator[str]:
        for node in topo(self.block.roots()):
            if isinstance(node, Reduce | Best) and node.axis not in self.whole:
                yield f"a value is folded over {node.axis!r}, which is not whole in the tile"
            if isinstance(node, Best) and node.into not in self.whole:
                yield f"the best are ranked along {node.into!r}, which is not whole in the tile"
            if isinstance(node, Scan) and node.axis not in (*self.whole, *self.walked):
                yield f"a value is scanned along {node.axis!r}, which is cut into programs"
            if isinstance(node, Recur):
                yield from self._recurrence(node)
            if isinstance(node, Hole):
                yield f"{node!r} belongs to laws only"

    def _recurrence(self, node: Recur) -> Iterator[str]:
        if self.block.place.get(node.axis) != Loop(tiled=False):
            yield f"a recurrence along {node.axis!r}, which is not walked position by position"
        if node.last:
            yield f"a last state along {node.axis!r}, which a carry would keep"
        for axis in (a for names in node.along for a in names if a not in self.whole):
            yield f"a step sums over {axis!r}, which is not whole in the tile"

    def _splits(self) -> Iterator[str]:
        if len(self.split) > 1:
            yield f"more than one axis is split: {' '.join(self.split)!r}"
        for axis in self.split:
            if [w.axis for w in self.block.walks] != [axis]:
                yield f"a kernel that splits {axis!r} has one walk, of {axis!r}"
            for walk in self.block.walks:
                for store in walk.stores:
                    yield f"store {store.name!r} is inside a walk that is split"

    def _walk(
        self, walk: Walk, finished: dict[str, Carry], within: str | None = None
    ) -> Iterator[str]:
        """``within``: the axis of the walk that it is in."""
        if walk.axis not in self.walked:
            yield f"a walk of {walk.axis!r}, which is neither a loop nor split"
        finished = dict(finished)
        for inner in walk.inner:
            yield from self._inner(inner, walk)
            yield from self._walk(inner, finished, within=walk.axis)
            finished |= inner.components
        known = dict(finished)
        for carry in walk.carries:
            yield from self._carry(carry, walk, known, within)
            known[carry.name] = carry
        for store in walk.stores:
            yield from self._store(store, [walk.axis])
            yield from _states(f"store {store.name!r}", store.value, finished, {})
            if walk.axis not in store.order:
                yield f"store {store.name!r} is in a walk of {walk.axis!r} but lacks that axis"
            if walk.start or walk.stop:
                yield f"store {store.name!r} is lost outside the limits of its walk"
        for bound in walk.limits:
            yield from self._bound(bound, walk)
        if walk.clear is not None:
            yield from self._clear(walk.clear, walk)
        yield from self._scans(walk)

    def _scans(self, walk: Walk) -> Iterator[str]:
        known = running(walk)
        for scan in scans(roots(walk), walk.axis):
            if scan not in known:
                yield f"a scan along {walk.axis!r} has no carry in its walk to go on from"
            elif not in_order(walk):
                yield f"a scan along {walk.axis!r}, whose tiles come in another order"
        for node in topo(roots(walk)):
            if not isinstance(node, Scan | Recur) or node.axis not in self.walked:
                continue
            if node.axis != walk.axis:
                yield f"a scan along {node.axis!r} in a walk of {walk.axis!r}"

    def _inner(self, inner: Walk, outer: Walk) -> Iterator[str]:
        name = f"the walk of {inner.axis!r} inside one of {outer.axis!r}"
        if inner.axis == outer.axis:
            yield f"{name} walks the same axis"
        if inner.inner:
            yield f"{name} has walks inside itself: they nest two deep at most"
        if inner.stores:
            yield f"{name} has a store, which would be written once for each tile around it"
        if inner.start or inner.stop:
            yield f"{name} has limits"
        for carry in inner.carries:
            if outer.axis not in carry.over:
                yield f"carry {carry.name!r} in {name} does not vary over the latter axis"

    def _clear(self, clear: Clear, walk: Walk) -> Iterator[str]:
        roots = [*(c.term for c in walk.carries), *(s.value for s in walk.stores)]
        below = topo(roots)
        for condition in clear.conditions:
            if condition.kind is not Kind.BOOL:
                yield f"the walk of {walk.axis!r} drops {condition!r}, which is no truth value"
            elif condition not in below:
                yield f"the walk of {walk.axis!r} drops a condition that it does not read"

    def _bound(self, bound: Bound, walk: Walk) -> Iterator[str]:
        name = f"a limit of the walk of {walk.axis!r}"
        for axis, coefficient in bound.terms:
            if axis not in self.turning:
                yield f"{name} depends on {axis!r}, which is no grid axis"
            if coefficient == 0:
                yield f"{name} has a term with coefficient 0"
        if bound.offset.kind is not Kind.INT:
            yield f"{name} has an offset that is no integer"
        for axis in bound.offset.axes:
            if axis not in (*self.grid, *self.whole):
                yield f"{name} has an offset over {axis!r}, which is neither grid nor whole"
        for node in topo([bound.offset]):
            if isinstance(node, State | Reduce | Best):
                yield f"{name} depends on {node!r}, which is not known before the walk"

    def _carry(
        self, carry: Carry, walk: Walk, known: dict[str, Carry], within: str | None
    ) -> Iterator[str]:
        """``known``: the carries whose new values exist when this one is updated."""
        name, components = f"carry {carry.name!r}", walk.components
        if not carry.fold.is_fold:
            yield f"{name} is folded by {carry.fold.symbol}, which is no fold"
        if bad := [a for a in carry.over if a in self.walked and a != within]:
            yield f"{name} is kept over {bad[0]!r}, which is not whole in the tile"
        if walk.axis not in carry.term.axes:
            yield f"the term of {name} does not vary over {walk.axis!r}"
        if extra := set(carry.term.axes) - {walk.axis} - set(carry.over):
            yield f"{name} is not kept over {min(extra)!r}, over which its term varies"
        yield from _states(f"the term of {name}", carry.term, known, {})
        if not carry.moves:
            for producer in _read(carry.term, walk):
                yield f"{name} reads the running value of {producer!r} and is not repaired"
        if carry.moves and carry.action not in ACTIONS.get(carry.fold, ()):
            yield f"{name}: {carry.action.symbol} does not distribute over {carry.fold.symbol}"
        if carry.listed is not None:
            yield from self._list(carry, components)
        if carry.stepwise:
            yield from self._stepwise(carry, walk)
        yield from self._moves(carry, known, components)

    def _stepwise(self, carry: Carry, walk: Walk) -> Iterator[str]:
        recurs = isinstance(carry.term, Recur) and carry.term.axis == walk.axis
        kept = {walk.axis, *carry.over} == {*carry.term.axes}
        if not recurs or not kept or carry.fold is not Fn.ADD or carry.moves:
            yield f"carry {carry.name!r} is stepwise, but no recurrence that nothing else moves"
        if walk.limits or walk.clear is not None:
            yield f"carry {carry.name!r} takes all steps alike, but its walk has limits"

    def _moves(
        self, carry: Carry, known: dict[str, Carry], components: dict[str, Carry]
    ) -> Iterator[str]:
        name = f"carry {carry.name!r}"
        for move in carry.moves:
            if move.source not in components:
                yield f"{name} moves {move.source!r}, which is no carry of its walk"
            elif set(components[move.source].over) - set(carry.over):
                yield f"{name} moves {move.source!r}, which is kept over more axes"
            if set(move.factor.axes) - set(carry.over):
                yield f"a factor of {name} varies over axes that the carry lacks"
            yield from _states(f"a factor of {name}", move.factor, known, components)

    def _list(self, carry: Carry, components: dict[str, Carry]) -> Iterator[str]:
        listed, other = carry.listed, components.get(carry.listed.other if carry.listed else "")
        assert listed is not None
        if listed.taken:
            yield from self._payload(carry, listed, other)
            return
        mirrored = replace(listed, other=carry.name, at=not listed.at)
        same = other is not None and (other.over, other.term) == (carry.over, carry.term)
        if other is None or other.listed != mirrored or not same:
            yield f"carry {carry.name!r} has no other half: the best are pairs"
        if carry.fold is not Fn.MAX or carry.moves:
            yield f"carry {carry.name!r} is a list of the largest, which cannot be moved"
        if listed.into not in self.whole or listed.into not in carry.over:
            yield f"carry {carry.name!r} is ranked along {listed.into!r}, which is not whole"

    def _payload(self, carry: Carry, listed: Listed, values: Carry | None) -> Iterator[str]:
        mine = replace(listed, taken=False)
        of = None if values is None or values.listed is None else values.listed
        if values is None or of is None or replace(of, other=listed.other) != mine:
            yield f"carry {carry.name!r} goes with {listed.other!r}, which lists no such values"
        elif not set(values.over) <= set(carry.over):
            yield f"carry {carry.name!r} goes with {listed.other!r}, which is kept over more axes"
        if carry.fold is not Fn.MAX or carry.moves:
            yield f"carry {carry.name!r} follows the list {listed.other!r}, and cannot be moved"

    def _store(self, store: Store, within: list[str]) -> Iterator[str]:
        name = f"store {store.name!r}"
        yield from _dtype(store)
        for axis in self.grid:
            if axis not in store.order:
                yield f"{name} lacks the grid axis {axis!r}: several programs would write it"
        for axis in store.value.axes:
            if axis not in store.order:
                yield f"{name} lacks axis {axis!r}, over which its value varies"
        for axis in store.order:
            if axis not in store.value.axes and axis not in self.grid:
                yield f"{name} has axis {axis!r}, over which its value does not vary"
            if axis in self.walked and axis not in within:
                yield f"{name} varies over {axis!r} but is not in a walk of it"


def _states(reader: str, node: Node, new: dict[str, Carry], old: dict[str, Carry]) -> Iterator[str]:
    """States below ``node`` that are not defined there: ``new`` and ``old`` are."""
    for state in topo([node]):
        if not isinstance(state, State):
            continue
        defined = old if state.old else new
        if state.carry not in defined:
            age = "old" if state.old else "new"
            yield f"{reader} reads the {age} state of {state.carry!r}, which is not known there"
        elif defined[state.carry].over != state.over:
            yield f"{reader} reads {state.carry!r} over other axes than it is kept over"
