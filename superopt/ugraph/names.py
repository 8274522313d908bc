"""Names: the canonical ones that the search works in, and the way back to the user's.

In canonical form axes are ``a0, a1, ...`` and tensors and scalars ``t0, t1, ...`` in order of
first appearance in the signature, arguments of commutative functions are ordered by ``Node.key``,
and lists of the best are ranked by what their order depends on (``order.py``) and bring along
what is read at their places (``payload.py``). Two programs that
differ in names and in the order of such arguments only have the same canonical form, so whatever
is decided by names or keys is decided alike for both.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import TypeVar

from superopt.ugraph.carry import Carry
from superopt.ugraph.carry import Listed
from superopt.ugraph.carry import Move
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Clear
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Pack
from superopt.ugraph.levels import Place
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Best
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.order import by_order
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.split import part_axis
from superopt.ugraph.split import split_axis
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import transform

Renamable = Node | Store | Program | Walk | BlockGraph | KernelGraph | Config
T = TypeVar("T", bound=Renamable)


@dataclass(frozen=True)
class Names:
    """How canonical names translate to the user's: axes, and tensors with scalars."""

    axes: dict[str, str]
    tensors: dict[str, str]

    def back(self, graph: T) -> T:
        """``graph`` in the user's names.

        Intermediates, which the user did not name, keep their names unless the user has
        given that name to something else: then ``_`` is appended.
        """
        taken = set(self.tensors.values())
        tensors = dict(self.tensors)
        for name in _tensor_names(graph):
            if name not in tensors and name in taken:
                tensors[name] = free_name(name, taken)
                taken.add(tensors[name])
        return rename(graph, self.axes, tensors)


def free_name(name: str, taken: Collection[str]) -> str:
    """``name``, with as many ``_`` behind it as it takes to be none of ``taken``."""
    while name in taken:
        name += "_"
    return name


def canonical(program: Program) -> tuple[Program, Names]:
    """``program`` in canonical form, and the names to translate back to."""
    axes, tensors = _numbered(_axes(program), "a"), _numbered(_tensor_names(program), "t")
    renamed = with_payloads(by_order(rename(program, axes, tensors)))
    values = transform([s.value for s in renamed.outputs], ordered)
    outputs = tuple(replace(s, value=values[s.value]) for s in renamed.outputs)
    names = Names({new: old for old, new in axes.items()}, {n: o for o, n in tensors.items()})
    return replace(renamed, outputs=outputs), names


def ordered(node: Node) -> Node:
    """``node`` with the arguments of a commutative function in the order of their keys."""
    match node:
        case Map(fn=fn, args=args) if fn.value.commutative:
            return Map(fn, tuple(sorted(args, key=lambda a: a.key)))
        case _:
            return node


def rename(
    value: T,
    axes: Mapping[str, str],
    tensors: Mapping[str, str],
    carries: Mapping[str, str] | None = None,
) -> T:
    """``value`` with names replaced; a name that is not in the mappings stays.

    ``tensors`` renames stores and scalars, too. A part axis follows the axis it cuts.
    """
    return _Renaming(axes, tensors, carries or {}).of(value)


def _numbered(names: Iterable[str], letter: str) -> dict[str, str]:
    return {name: f"{letter}{i}" for i, name in enumerate(dict.fromkeys(names))}


def _axes(program: Program) -> list[str]:
    found = [a for p in program.params if isinstance(p, Input) for a in p.order]
    found += [a for s in program.outputs for a in s.order]
    found += [a for a, _ in program.fixed]
    for node in topo(s.value for s in program.outputs):
        match node:
            case Size(axis=axis) | Index(axis=axis):
                found.append(axis)
            case Input(order=order):
                found += order
            case _:
                pass
    return found


def _tensor_names(value: Renamable) -> list[str]:
    """Names of tensors and scalars, in order of appearance."""
    match value:
        case Node():
            return [n.name for n in topo([value]) if isinstance(n, Input | Scalar)]
        case Store(name=name, value=node):
            return [*_tensor_names(node), name]
        case Walk(stores=stores):
            return [n for s in stores for n in _tensor_names(s)]
        case BlockGraph():
            read = [n for root in value.roots() for n in _tensor_names(root)]
            return read + [s.name for s in value.all_stores]
        case Program(params=params, outputs=outputs):
            read = [n for s in outputs for n in _tensor_names(s.value)]
            return [p.name for p in params] + [s.name for s in outputs] + read
        case KernelGraph(params=params, outputs=results, kernels=kernels):
            inside = [n for k in kernels for n in _tensor_names(k)]
            return [p.name for p in params] + list(results) + inside
        case Config():
            return []


@dataclass
class _Renaming:
    """One renaming, applied to whatever holds names."""

    axes: Mapping[str, str]
    tensors: Mapping[str, str]
    carries: Mapping[str, str]
    done: dict[Node, Node] = field(default_factory=dict)

    def of(self, value: T) -> T:
        """``value`` renamed."""
        new: object
        match value:
            case Node():
                new = self.node(value)
            case Store():
                new = self._store(value)
            case Walk():
                new = self._walk(value)
            case Program():
                params = tuple(self.node(p) for p in value.params)
                fixed = self._fixed(value.fixed)
                new = Program(value.name, params, self._stores(value.outputs), fixed)  # type: ignore[arg-type]
            case BlockGraph():
                new = self._block(value)
            case KernelGraph():
                params = tuple(self.node(p) for p in value.params)
                outputs = tuple(self._tensor(o) for o in value.outputs)
                kernels = tuple(self._block(k) for k in value.kernels)
                new = KernelGraph(value.name, params, outputs, kernels, self._fixed(value.fixed))  # type: ignore[arg-type]
            case Config():
                tiles = tuple((self._axis(a), t) for a, t in value.tiles)
                new = replace(value, tiles=tiles)
        return new  # type: ignore[return-value]  # each case keeps the class

    def node(self, node: Node) -> Node:
        """``node`` renamed."""
        # Not ``transform``: an argument under its new name may lack the old axis of a fold.
        for below in topo([node]):
            if below not in self.done:
                parts = tuple(self.done[c] for c in children(below))
                self.done[below] = self._one(below, parts)
        return self.done[node]

    def _one(self, node: Node, parts: tuple[Node, ...]) -> Node:
        match node:
            case Map(fn=fn):
                return Map(fn, parts)
            case Reduce(fn=fn, axis=axis):
                return Reduce(fn, self._axis(axis), parts[0])
            case Scan(fn=fn, axis=axis):
                return Scan(fn, self._axis(axis), parts[0])
            case Best(axis=axis, into=into, of=of, at=at, taken=taken):
                axes = self._axis(axis), self._axis(into), self._axis(of)
                return Best(*axes, parts, at, taken)
            case Recur(axis=axis, along=along, last=last):
                summed = tuple(tuple(sorted(self._order(names))) for names in along)
                return Recur(self._axis(axis), summed, parts[:-1], last, parts[-1])
            case Input(name=name, order=order, dtype=dtype):
                return Input(self._tensor(name), self._order(order), dtype)
            case Scalar(name=name, dtype=dtype):
                return Scalar(self._tensor(name), dtype)
            case Size(axis=axis):
                return Size(self._axis(axis))
            case Index(axis=axis):
                return Index(self._axis(axis))
            case State(carry=carry, over=over, old=old, whole=whole):
                return State(self._carry(carry), self._order(over), old, whole)
            case _:
                return node

    def _axis(self, axis: str) -> str:
        if axis in self.axes:
            return self.axes[axis]
        cut = split_axis(axis)
        return axis if cut is None else part_axis(self.axes.get(cut, cut))

    def _fixed(self, sizes: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple((self._axis(a), n) for a, n in sizes)

    def _listed(self, listed: Listed) -> Listed:
        into, of = self._axis(listed.into), self._axis(listed.of)
        return Listed(into, of, self._carry(listed.other), listed.at, listed.taken)

    def _place(self, place: Place) -> Place:
        return Pack(self._axis(place.into)) if isinstance(place, Pack) else place

    def _order(self, order: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._axis(a) for a in order)

    def _tensor(self, name: str) -> str:
        return self.tensors.get(name, name)

    def _carry(self, name: str) -> str:
        return self.carries.get(name, name)

    def _stores(self, stores: tuple[Store, ...]) -> tuple[Store, ...]:
        return tuple(self._store(s) for s in stores)

    def _store(self, s: Store) -> Store:
        return Store(self._tensor(s.name), self._order(s.order), s.dtype, self.node(s.value))

    def _bounds(self, bounds: tuple[Bound, ...]) -> tuple[Bound, ...]:
        return tuple(
            Bound(tuple((self._axis(a), c) for a, c in b.terms), self.node(b.offset))
            for b in bounds
        )

    def _clear(self, clear: Clear) -> Clear:
        conditions = tuple(self.node(c) for c in clear.conditions)
        return Clear(conditions, self._bounds(clear.start), self._bounds(clear.stop))

    def _walk(self, walk: Walk) -> Walk:
        carries = tuple(
            Carry(
                self._carry(c.name),
                self._order(c.over),
                c.fold,
                self.node(c.term),
                tuple(Move(self._carry(m.source), self.node(m.factor)) for m in c.moves),
                c.action,
                c.listed and self._listed(c.listed),
                c.stepwise,
            )
            for c in walk.carries
        )
        return Walk(
            self._axis(walk.axis),
            carries,
            self._stores(walk.stores),
            self._bounds(walk.start),
            self._bounds(walk.stop),
            walk.reverse,
            walk.clear and self._clear(walk.clear),
            tuple(self._walk(w) for w in walk.inner),
        )

    def _block(self, block: BlockGraph) -> BlockGraph:
        return BlockGraph(
            tuple((self._axis(a), self._place(p)) for a, p in block.places),
            tuple(self._walk(w) for w in block.walks),
            self._stores(block.stores),
            tuple(Turn(self._axis(t.axis), t.reverse) for t in block.order),
        )
