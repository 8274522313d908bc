"""Which folds share a walk: every grouping that respects dependence, legal or not.

A fold may share a walk with a fold that it reads. Such a read is *premature* (inside the walk
the value is that of a prefix); it stays in the block graph as it is, and ``repair`` must save
it or refuse it.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import TypeGuard

from superopt.errors import NoFusion
from superopt.rewrite.nest import Name
from superopt.rewrite.nest import around
from superopt.rewrite.nest import nested
from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Listed
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scans import completed
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo

Fold = Reduce | Best | Recur  # a list of the best stands for its places, not for its payloads
Passes = tuple[tuple[str, tuple[Fold, ...]], ...]
"""The walks of a kernel in order: axis and folds. A walk without folds only stores."""

_LABEL = {Fn.ADD: "sum", Fn.MUL: "product"}


@dataclass(frozen=True)
class _Item:
    """Something that needs a walk of its own or shares one: a fold whose value has no looped
    axis, or a store of a value with one.

    ``needs``: positions (in the list of items) of the folds that it reads. ``settled``: those of
    them that must be final when its walk begins: all that a store reads, and what folds read that
    become inner walks (``nest.py``). ``beside``: of payloads, the list whose walk they share.
    """

    axis: str
    what: Fold | Store
    needs: tuple[int, ...]
    settled: tuple[int, ...]
    beside: int | None = None

    @property
    def is_store(self) -> bool:
        """A store must come after its folds are final; a fold may be fused with them."""
        return isinstance(self.what, Store)


def groupings(stores: Sequence[Store], looped: Collection[str], limit: int = 64) -> list[Passes]:
    """All ways to group the folds over ``looped`` axes into walks, fewest walks first.

    At most ``limit`` of them. No looped axis at all gives one grouping without walks.

    Raises:
        NoFusion: a store has two looped axes, or a fold's value has: walks nest two deep at most.
    """
    items = _items(stores, looped)
    found: dict[Passes, None] = {}
    for count in range(len(items) + 1):
        for blocks in _partitions(items, count):
            ordered = _ordered(items, blocks)
            if ordered is not None and not _idle(items, ordered):
                found[tuple((_axis(items, b), _folds(items, b)) for b in ordered)] = None
            if len(found) >= limit:
                return list(found)
    return list(found)


def fuse(
    stores: Sequence[Store],
    places: Sequence[tuple[str, Place]],
    order: Sequence[Turn],
    passes: Passes,
) -> BlockGraph:
    """The block graph with these walks: looped folds become carries, named by fold and number.

    Stores with a looped axis go into the first walk of that axis that follows all their folds,
    the others behind the last walk. Premature reads are left in place.

    Raises:
        NoFusion: ``passes`` miss a fold or come in a wrong order, or a split axis would have
            several walks or a store inside, or a scan cannot go on from tile to tile, or the
            positions of a recurrence would not follow one another.
    """
    alone = [a for a, p in places if p == Loop(tiled=False)]
    for node in topo([s.value for s in stores]):
        if isinstance(node, Recur) and node.axis not in alone:
            raise NoFusion(
                f"a recurrence along {node.axis!r} is walked position by position: joining parts "
                "of it would take the whole map of each part"
            )
    looped = [a for a, p in places if isinstance(p, Loop | Split)]
    walk_of = {fold: i for i, (_, folds) in enumerate(passes) for fold in folds}
    items = _items(stores, looped)
    _check(items, walk_of)
    axes = [a for a, _ in places]
    named = _names()
    carries = _carries(items, axes, named)
    states = _states(carries)
    inside: dict[int, list[Store]] = {}
    after: list[Store] = []
    by_store = {item.what: item for item in items if item.is_store}
    for store in stores:
        placed = Store(store.name, store.order, store.dtype, substitute(store.value, states))
        if store in by_store:
            inside.setdefault(_home(by_store[store], items, passes, walk_of), []).append(placed)
        else:
            after.append(placed)
    plain = [
        Walk(axis, tuple(c for f in folds for c in carries[f]), tuple(inside.get(i, ())))
        for i, (axis, folds) in enumerate(passes)
    ]
    walks = completed([nested(walk, looped, axes, named) for walk in plain], axes)
    for axis, place in places:
        mine = [w for w in walks if w.axis == axis]
        if isinstance(place, Split) and (len(walks) != 1 or len(mine) != 1 or mine[0].stores):
            raise NoFusion(f"axis {axis!r} is split, which allows one walk and no store inside it")
    return BlockGraph(tuple(places), walks, tuple(after), tuple(order))


def _items(stores: Sequence[Store], looped: Collection[str]) -> list[_Item]:
    """Folds over looped axes (arguments first), then the stores that need a walk."""
    items: list[_Item] = []
    lists: dict[Best, int] = {}
    needs: dict[Node, frozenset[int]] = {}
    settled: dict[Node, frozenset[int]] = {}
    for node in topo([s.value for s in stores]):
        needs[node], settled[node] = (_joined(of, children(node)) for of in (needs, settled))
        nested_in = around(node, looped)
        if nested_in is not None or isinstance(node, Recur):
            settled[node] = needs[node]  # steps begin with what they read, too
        if nested_in is None and _is_fold(node) and node.axis in looped:
            read, beside = needs[node], None
            if isinstance(node, Best):
                if (of := node.list_of()) not in lists:
                    lists[of] = len(items)
                    first, final = (_sorted(_joined(n, node.pairs)) for n in (needs, settled))
                    items.append(_Item(node.axis, of, first, final))
                beside = lists[of]
                read |= {beside}
            if not isinstance(node, Best) or node.taken:
                items.append(_Item(node.axis, node, _sorted(read), _sorted(settled[node]), beside))
                read |= {len(items) - 1}
            needs[node], settled[node] = read, frozenset()
    for store in stores:
        axes = [a for a in store.value.axes if a in looped]
        if len(axes) > 1:
            raise NoFusion(f"{store.name!r} has two looped axes, {axes[0]!r} and {axes[1]!r}")
        if axes:
            before = _sorted(needs[store.value])
            items.append(_Item(axes[0], store, before, before))
    return items


def _is_fold(node: Node) -> TypeGuard[Fold]:
    """Whether ``node`` becomes a carry by itself (the states of a recurrence go with a reader)."""
    return isinstance(node, Reduce | Best) or (isinstance(node, Recur) and node.last)


def _joined(of: Mapping[Node, frozenset[int]], nodes: Sequence[Node]) -> frozenset[int]:
    return frozenset(n for node in nodes for n in of[node])


def _sorted(numbers: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _partitions(items: Sequence[_Item], count: int) -> Iterator[list[list[int]]]:
    """Set partitions of the items into ``count`` blocks of one axis each (growth strings)."""

    def grow(i: int, blocks: list[list[int]]) -> Iterator[list[list[int]]]:
        if count - len(blocks) > len(items) - i:
            return
        if i == len(items):
            yield [list(b) for b in blocks]
            return
        for block in blocks:
            if items[block[0]].axis == items[i].axis and _fits(items, block, i):
                block.append(i)
                yield from grow(i + 1, blocks)
                block.pop()
        if len(blocks) < count and items[i].beside is None:
            blocks.append([i])
            yield from grow(i + 1, blocks)
            blocks.pop()

    yield from grow(0, [])


def _fits(items: Sequence[_Item], block: Sequence[int], new: int) -> bool:
    """Whether item ``new`` needs no final value of what this very walk still folds, and its list
    is there if it goes with one."""
    beside = items[new].beside
    return (beside is None or beside in block) and all(i not in items[new].settled for i in block)


def _ordered(items: Sequence[_Item], blocks: Sequence[Sequence[int]]) -> list[list[int]] | None:
    """Blocks so that needs come first, the earliest item first; None if they need each other."""
    home = {i: b for b, block in enumerate(blocks) for i in block}
    before = [
        {home[n] for i in block for n in items[i].needs} - {b} for b, block in enumerate(blocks)
    ]
    done: list[int] = []
    while len(done) < len(blocks):
        ready = [b for b in range(len(blocks)) if b not in done and before[b] <= set(done)]
        if not ready:
            return None
        done.append(ready[0])
    return [list(blocks[b]) for b in done]


def _idle(items: Sequence[_Item], blocks: Sequence[Sequence[int]]) -> bool:
    """Whether a walk has nothing to do, because its stores go into an earlier one."""
    walk_of = {i: number for number, block in enumerate(blocks) for i in block}
    used = {walk_of[i] for i, item in enumerate(items) if not item.is_store}
    for item in items:
        if item.is_store:
            last = max((walk_of[n] for n in item.needs), default=-1)
            axes = [_axis(items, block) for block in blocks]
            used.add(axes.index(item.axis, last + 1))
    return len(used) < len(blocks)


def _axis(items: Sequence[_Item], block: Sequence[int]) -> str:
    return items[block[0]].axis


def _folds(items: Sequence[_Item], block: Sequence[int]) -> tuple[Fold, ...]:
    return tuple(w for i in block if isinstance(w := items[i].what, Fold))


def _check(items: Sequence[_Item], walk_of: dict[Fold, int]) -> None:
    for item in items:
        if isinstance(item.what, Store):
            continue
        if item.what not in walk_of:
            raise NoFusion(f"the passes lack a fold over {item.axis!r}")
        for need in item.needs:
            needed = items[need].what
            assert not isinstance(needed, Store)
            late = walk_of[needed] == walk_of[item.what] and need in item.settled
            if late or walk_of[needed] > walk_of[item.what]:
                raise NoFusion(f"a fold over {item.axis!r} comes before a fold that it reads")
            if need == item.beside and walk_of[needed] != walk_of[item.what]:
                raise NoFusion(f"what goes with a list over {item.axis!r} is in another walk")


def _names() -> Name:
    """Names of carries, which count per fold in the order in which they are given."""
    counts: dict[str, int] = {}

    def name(fold: Fold) -> str:
        match fold:
            case Best(taken=taken):
                label = "taken" if taken else "best"
            case Recur():
                label = "state"
            case Reduce(fn=fn):
                label = _LABEL.get(fn, fn.symbol)
        counts[label] = counts.get(label, -1) + 1
        return f"{label}{counts[label]}"

    return name


def _carries(
    items: Sequence[_Item], axes: Sequence[str], name: Name
) -> dict[Fold, tuple[Carry, ...]]:
    """One carry a fold or a payload, and two a list of the best, in the order of dependence;
    folds for inner walks stay in their terms."""
    carries: dict[Fold, tuple[Carry, ...]] = {}
    for item in items:
        fold = item.what
        if isinstance(fold, Store):
            continue
        over = tuple(a for a in axes if a in fold.axes)
        states = _states(carries)
        term = substitute(_term(fold), states)
        if fold.axis not in term.axes:
            raise NoFusion(f"a fold over {fold.axis!r} of a value that lacks the axis")
        match fold:
            case Reduce(fn=fn):
                carries[fold] = (Carry(name(fold), over, fn, term),)
            case Recur():
                carries[fold] = (Carry(name(fold), over, Fn.ADD, term, stepwise=True),)
            case Best(taken=True):
                listed = Listed(fold.into, fold.of, carries[fold.list_of()][0].name, taken=True)
                carries[fold] = (Carry(name(fold), over, Fn.MAX, term, listed=listed),)
            case Best():
                carries[fold] = _list(fold, name(fold), over, term)
    return carries


def _term(fold: Fold) -> Node:
    """What a position adds to a fold; of a recurrence, its states."""
    match fold:
        case Best():
            return (fold.payloads or fold.pairs)[0]
        case Recur():
            return replace(fold, last=False)
        case Reduce(arg=arg):
            return arg


def _list(fold: Best, name: str, over: tuple[str, ...], term: Node) -> tuple[Carry, ...]:
    """The carries of the values and of the places of a list."""
    if fold.args[1:] != (Index(fold.axis),):
        raise NoFusion("only the best of one value are listed in a walk, by their own positions")
    names = (name, f"{name}_at")
    return tuple(
        Carry(mine, over, Fn.MAX, term, listed=Listed(fold.into, fold.of, other, at))
        for mine, other, at in ((*names, False), (*names[::-1], True))
    )


def _states(carries: Mapping[Fold, tuple[Carry, ...]]) -> dict[Node, Node]:
    """Every fold and what stands for it once it is a carry."""
    found: dict[Node, Node] = {}
    for fold, kept in carries.items():
        found[fold] = kept[0].state
        if isinstance(fold, Best) and not fold.taken:
            found[fold.list_of(at=True)] = kept[1].state
    return found


def _home(item: _Item, items: Sequence[_Item], passes: Passes, walk_of: dict[Fold, int]) -> int:
    """The first walk of the store's axis behind every fold that the store reads."""
    last = -1
    for need in item.needs:
        fold = items[need].what
        assert not isinstance(fold, Store)
        last = max(last, walk_of[fold])
    for i, (axis, _) in enumerate(passes):
        if i > last and axis == item.axis:
            return i
    raise NoFusion(f"no walk of {item.axis!r} is left for a store after its folds are final")
