"""What one program of a launch does, step by step, before any tile has a length.

A ``Profile`` is made once for a block graph; ``cost.py`` then prices it for each Config, which
is only multiplication. Every node is one step in the region where it has to run: once per
program, or once per tile of a walk (what does not vary over a walk is hoisted out of it).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from superopt.ugraph.absorbed import Fold
from superopt.ugraph.absorbed import absorbed
from superopt.ugraph.carry import Carry
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.masks import masked
from superopt.ugraph.moved import moved
from superopt.ugraph.node import Best
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.node import State
from superopt.ugraph.pack import hosts
from superopt.ugraph.pack import tile_dimensions
from superopt.ugraph.recurrence import work
from superopt.ugraph.scalar import Fn
from superopt.ugraph.steps import Region
from superopt.ugraph.steps import Step
from superopt.ugraph.steps import What
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

SCAN = 12  # operations per element of a scan of a tile: steps that double its reach


@dataclass(frozen=True)
class Profile:
    """All regions of a launch. ``dots``: axes that are a dimension of some matrix product."""

    block: BlockGraph
    regions: tuple[Region, ...]
    dots: tuple[str, ...]

    @property
    def products(self) -> int:
        """How many matrix products the program text has."""
        return sum(s.what is What.PRODUCT for r in self.regions for s in r.steps)


@dataclass(frozen=True)
class _Product:
    """A fold that a matrix instruction computes: its operands, the axes of all three, and the
    dtype in which operands enter (None: the case's)."""

    left: Node
    right: Node
    after: Node | None
    axes: tuple[str, ...]
    dtype: str | None = None

    @property
    def operands(self) -> tuple[Node, Node]:
        return self.left, self.right

    @property
    def read(self) -> tuple[Node, ...]:
        """All that the product reads: operands, and a factor that does not vary over it."""
        return self.operands if self.after is None else (*self.operands, self.after)


class _Reader:
    """Recognises matrix products and walks graphs with their operands in the place of terms."""

    def __init__(self, block: BlockGraph) -> None:
        self.tiled = tile_dimensions(block.places)
        self.host = hosts(block.places)
        self.known: dict[tuple[Fn, str, Node], _Product | None] = {}

    def product(self, fold: Fn, axis: str, term: Node) -> _Product | None:
        key = (fold, axis, term)
        if key not in self.known:
            found = matrix_product(fold, axis, term, self.tiled, self.host)
            self.known[key] = None
            if found is not None:
                axes = (found.row, found.column, axis)
                dtype = operand_dtype(found)
                self.known[key] = _Product(found.left, found.right, found.after, axes, dtype)
        return self.known[key]

    def below(self, node: Node) -> tuple[Node, ...]:
        if isinstance(node, Reduce) and (p := self.product(node.fn, node.axis, node.arg)):
            return p.read
        if isinstance(node, Recur):  # what it begins as, is there before the walk
            return node.args
        return children(node)

    def fold(self, product: _Product) -> Step:
        """The step that computes ``product``, without what it leaves."""
        row, _, depth = product.axes
        read = moved(
            product.left,
            (row, depth),
            self.elements,
            lambda n: self.product(n.fn, n.axis, n.arg),
        )
        last = {self.host.get(n.order[-1], n.order[-1]) for n in read}
        return Step(
            What.PRODUCT,
            self.elements(product.axes),
            dtype=product.dtype,
            computed=bool(read),
            across=row in last,
        )

    def topo(self, roots: Iterable[Node]) -> list[Node]:
        """The nodes that are computed for ``roots``, arguments before users."""
        return topo(roots, self.below)

    def elements(self, axes: Iterable[str]) -> tuple[str, ...]:
        """The tile dimensions along which ``axes`` lie, each once."""
        along = dict.fromkeys(self.host.get(a, a) for a in axes)
        return tuple(a for a in along if a in self.tiled)


def profile(block: BlockGraph) -> Profile:
    """The steps of ``block``, one of ``split.launches``."""
    reader = _Reader(block)
    once: list[Node] = []  # roots of what runs once per program
    regions: list[Region] = []
    for walk in block.walks:
        regions += _nest(reader, len(regions), walk, once)
    once += [s.value for s in block.stores]
    regions.append(_region(reader, None, once, (), block.stores, set(reader.topo(once)), ()))
    dots = {a for p in reader.known.values() if p for a in p.axes}
    return Profile(block, tuple(regions), tuple(a for a, _ in block.places if a in dots))


def _nest(reader: _Reader, first: int, walk: Walk, once: list[Node]) -> list[Region]:
    """The regions of ``walk`` and those inside it, numbered from ``first``.

    What inner walks do not repeat is done once for each tile around them; what is kept there stays
    while they run.
    """
    read: list[Node] = []
    inner = [_walk_region(reader, first + i, w, read) for i, w in enumerate(walk.inner)]
    number = first + len(inner)
    outer = _walk_region(reader, number, walk, once, read)
    found = [
        replace(
            region,
            held=(*region.held, *outer.held),
            operands=(*region.operands, *outer.operands),
            around=number,
        )
        for region in inner
    ]
    return [*found, replace(outer, outer=bool(inner))]


def _walk_region(
    reader: _Reader, number: int, walk: Walk, once: list[Node], inside: Sequence[Node] = ()
) -> Region:
    """The steps per tile of ``walk``; what it reads but need not repeat is added to ``once``.

    ``inside``: what its inner walks read of it.
    """
    roots: list[Node] = [*inside]
    for carry in walk.carries:
        product = reader.product(carry.fold, walk.axis, carry.term)
        roots += product.read if product else [carry.term]
        roots += [m.factor for m in carry.moves]
    once += [c.recurrence(last=False).first for c in walk.carries if c.stepwise]
    roots += [s.value for s in walk.stores]
    own = {c.name for w in walk.nest for c in w.carries}
    moving: set[Node] = set()
    for node in reader.topo(roots):
        below = reader.below(node)
        if isinstance(node, State):
            changes = node.carry in own
        elif below:
            changes = any(c in moving for c in below)
        else:
            changes = walk.axis in node.axes
        if changes:
            moving.add(node)
    edges = [c for n in reader.topo(roots) if n in moving for c in reader.below(n)]
    fixed = [n for n in dict.fromkeys([*edges, *roots]) if n not in moving and n.axes]
    once += fixed
    return _region(reader, number, roots, walk.carries, walk.stores, moving, tuple(fixed), walk)


def _region(
    reader: _Reader,
    number: int | None,
    roots: list[Node],
    carries: tuple[Carry, ...],
    stores: tuple[Store, ...],
    inside: set[Node],
    fixed: tuple[Node, ...],
    walk: Walk | None = None,
) -> Region:
    order = [n for n in reader.topo(roots) if n in inside]
    asked = masked(walk) if walk is not None and walk.clear is not None else frozenset()
    feeds, used = _feeds(reader, order, carries, walk)
    folds = _folds(order, carries, walk)
    rights = dict.fromkeys(p.right for f in folds if (p := reader.product(*f)) is not None)
    free = absorbed([f for f in folds if not reader.product(*f)], order, roots, reader.below)
    added = _added(reader, order, [s.value for s in stores])
    used.update(s.value for s in stores)
    steps: list[Step] = []
    at: dict[Node, int] = {}
    for node in order:
        step = _step(reader, node, only_fed=node in feeds and node not in used)
        if step is not None and node in asked:
            step = replace(step, masks=True)
        if step is not None:
            at[node] = len(steps)
            step = replace(step, plain=0) if node in free else step
            steps.append(replace(step, result=None) if node in added else step)
    last: dict[Node, int] = {}
    for node in order:
        for child in reader.below(node):
            if node in at:
                last[child] = at[node]
    for carry in carries:
        assert walk is not None
        product = reader.product(carry.fold, walk.axis, carry.term)
        other = children(carry.term) if carry.stepwise else (carry.term,)
        last |= dict.fromkeys(product.read if product else other, len(steps))
        steps += _update(reader, walk, carry, product)
    for store in stores:
        last[store.value] = len(steps)
        work = reader.elements(store.order)
        steps.append(Step(What.STORE, work, tensor=store.name, dtype=store.dtype))
    frees: dict[int, list[int]] = {}
    for node, when in last.items():
        if node in at:
            frees.setdefault(when, []).append(at[node])
    done = tuple(replace(s, frees=tuple(frees.get(i, ()))) for i, s in enumerate(steps))
    loads = fixed if walk else order
    operands = [n for n in loads if isinstance(n, Input) and n in feeds]
    return Region(
        number,
        done,
        held=tuple(
            [reader.elements(c.over) for c in carries]
            + [reader.elements(n.axes) for n in fixed if n not in feeds or n in used]
        ),
        operands=tuple((reader.elements(n.order), n.dtype) for n in operands),
        computed=tuple(reader.elements(n.axes) for n in rights if not isinstance(n, Input)),
    )


def _added(reader: _Reader, order: list[Node], stored: list[Node]) -> set[Node]:
    """Products whose only reader adds them to a value of the same axes: they accumulate there."""
    readers: dict[Node, list[Node]] = {}
    for node in order:
        for child in reader.below(node):
            readers.setdefault(child, []).append(node)
    return {
        node
        for node in order
        if isinstance(node, Reduce)
        and reader.product(node.fn, node.axis, node.arg)
        and node not in stored
        and len(above := readers.get(node, [])) == 1
        and isinstance(above[0], Map)
        and above[0].fn is Fn.ADD
        and any(a is not node and a.axes == node.axes for a in above[0].args)
    }


def _feeds(
    reader: _Reader, order: list[Node], carries: tuple[Carry, ...], walk: Walk | None
) -> tuple[dict[Node, None], set[Node]]:
    """The nodes that matrix products of the region read, and the nodes that others read."""
    feeds: dict[Node, None] = {}
    used: set[Node] = set()
    for node in order:
        product = isinstance(node, Reduce) and reader.product(node.fn, node.axis, node.arg)
        if product:
            feeds |= dict.fromkeys(product.operands)
            used.update(product.read[2:])
        else:
            used.update(reader.below(node))
    for carry in carries:
        assert walk is not None
        if p := reader.product(carry.fold, walk.axis, carry.term):
            feeds |= dict.fromkeys(p.operands)
            used.update(p.read[2:])
        else:
            used.add(carry.term)
    return feeds, used


def _folds(order: list[Node], carries: tuple[Carry, ...], walk: Walk | None) -> list[Fold]:
    """All folds of the region."""
    folds = [(n.fn, n.axis, n.arg) for n in order if isinstance(n, Reduce)]
    return folds + [(c.fold, walk.axis, c.term) for c in carries if walk is not None]


def _step(reader: _Reader, node: Node, only_fed: bool) -> Step | None:
    result = reader.elements(node.axes)
    match node:
        case Input(name=name, order=order, dtype=dtype):
            kept = None if only_fed else result
            return Step(What.LOAD, order, result=kept, tensor=name, dtype=dtype)
        case Map(fn=fn) if node.axes:
            return Step(What.POINT, result, fn.value.plain, fn.value.special, result)
        case Reduce(fn=fn, axis=axis, arg=arg):
            if product := reader.product(fn, axis, arg):
                return replace(reader.fold(product), result=result)
            return Step(What.FOLD, reader.elements(arg.axes), plain=1, result=result)
        case Scan(arg=arg):
            return Step(What.FOLD, reader.elements(arg.axes), plain=SCAN, result=result)
        case Best(args=args):
            work = {a: None for arg in node.payloads or args for a in arg.axes} | {node.into: None}
            return Step(What.FOLD, reader.elements(work), plain=2, result=result)
        case State() if not node.old:
            return Step(What.HELD, (), result=result)
        case _:
            return None  # numbers, and positions, which cost next to nothing


def _update(reader: _Reader, walk: Walk, carry: Carry, product: _Product | None) -> list[Step]:
    """The fold of a tile's term, and what puts it together with the old state."""
    kept = reader.elements(carry.over)
    if carry.stepwise:
        return _stepped(reader, carry.recurrence(last=False))
    if carry.listed is not None and carry.listed.taken:
        # Payloads are found by the lane that was ranked, and not compared with those of each rank.
        found = Step(What.FOLD, reader.elements(carry.term.axes), plain=2)
        return [found, Step(What.POINT, kept, plain=1)]
    own = len(carry.moves) + max(0, len(carry.moves) - 1) + (0 if product else 1)
    own += product is not None and product.after is not None
    if product:
        fold = reader.fold(product)
    else:
        work = (*kept, walk.axis) if walk.axis not in kept else kept
        fold = Step(What.FOLD, work, plain=1)
    return [fold, Step(What.POINT, kept, plain=own)] if own else [fold]


def _stepped(reader: _Reader, node: Recur) -> list[Step]:
    """The sums of one step of a recurrence, and the new state, which takes the old one's place."""
    points, folds = work(node)
    state = reader.elements(node.state)
    found = [
        Step(What.FOLD, state, plain, result=tuple(a for a in state if a not in names))
        for names, plain in zip(node.along, folds, strict=True)
    ]
    return [*found, Step(What.POINT, state, points)]
