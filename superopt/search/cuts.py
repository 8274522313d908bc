"""The ways to cut a program into kernels: which values go through device memory."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from superopt.ugraph.contraction import factors
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo
from superopt.ugraph.walk import users

MOST_VALUES = 3  # intermediates of one cut
MOST_KERNELS = 4
MOST_CANDIDATES = 9  # values considered as intermediates


@dataclass(frozen=True)
class Cut:
    """Kernels in launch order, each as the stores that it writes."""

    kernels: tuple[tuple[Store, ...], ...]


def axes_in_order(program: Program) -> tuple[str, ...]:
    """Every axis of the program, in the order in which the signature (then the text) has them."""
    found: dict[str, None] = {}
    for param in program.params:
        found |= dict.fromkeys(param.order if isinstance(param, Input) else ())
    for store in program.outputs:
        found |= dict.fromkeys(store.order)
    for node in topo([s.value for s in program.outputs]):
        found |= dict.fromkeys(node.axes)
    return tuple(found)


def cuts(program: Program) -> Iterator[Cut]:
    """All cuts into at most ``MOST_KERNELS`` kernels, fewest intermediates first.

    A value that two kernels need and nobody stores is computed by both.
    """
    order = axes_in_order(program)
    found = candidates(program)
    for count in range(MOST_VALUES + 1):
        for chosen in combinations(found, count):
            yield from _cuts(program, chosen, order)


def candidates(program: Program) -> list[Node]:
    """Values worth writing: folds, and operands of products that need a fold first."""
    roots = [s.value for s in program.outputs]
    order = topo(roots)
    folds = {n for n in order if isinstance(n, Reduce | Scan | Recur)}
    above: set[Node] = set()
    for node in order:
        if isinstance(node, Reduce | Best | Recur) or (
            isinstance(node, Map) and any(a in above for a in node.args)
        ):
            above.add(node)
    operands = {
        part
        for fold in order
        if isinstance(fold, Reduce) and fold.fn is Fn.ADD
        for part in _parts(fold.arg)
        if part in above and fold.axis in part.axes
    }
    wanted = [n for n in order if (n in folds or n in operands) and n not in roots and n.axes]
    return [n for n in wanted if n.kind is Kind.REAL][-MOST_CANDIDATES:]


def _parts(term: Node) -> list[Node]:
    """The nodes of a product: its multiplications and its factors."""
    found, stack = [], [term]
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, Map) and node.fn is Fn.MUL:
            stack.extend(reversed(node.args))
    return found[1:] if len(found) > 1 else []


def _cuts(program: Program, chosen: Sequence[Node], order: Sequence[str]) -> Iterator[Cut]:
    taken = {p.name for p in program.params} | {s.name for s in program.outputs}
    names = (n for i in range(1000) if (n := f"w{i}") not in taken)
    stores = [Store(next(names), _memory_order(v, order), None, v) for v in chosen]
    stores = [Store(s.name, s.order, _dtype(s, program), s.value) for s in stores]
    everything = [*stores, *program.outputs]
    direct = _read([s.value for s in everything], {s.value: s.name for s in stores})
    read = {s.name: direct[s.value] for s in everything}
    known: dict[tuple[str, frozenset[str]], Store] = {}
    for groups in _partitions(len(everything)):
        if len(groups) > MOST_KERNELS or (stores and len(groups) == 1):
            continue
        launched = _launch_order([[everything[i].name for i in g] for g in groups], stores, read)
        if launched is None:
            continue
        yield Cut(
            tuple(
                tuple(_written(everything[i], reads, stores, known) for i in groups[kernel])
                for kernel, reads in launched
            )
        )


def _memory_order(value: Node, order: Sequence[str]) -> tuple[str, ...]:
    """That of the first tensor below ``value`` that has just its axes, so that what is read along
    lines is written along lines; else the order of axes in the signature."""
    for node in topo([value]):
        if isinstance(node, Input) and node.axes == value.axes:
            return node.order
    return tuple(a for a in order if a in value.axes)


def _read(values: Sequence[Node], chosen: Mapping[Node, str]) -> dict[Node, frozenset[str]]:
    """For every value the chosen ones below it that it reads directly."""
    found: dict[Node, frozenset[str]] = {}
    for node in topo(values):
        parts = (frozenset((chosen[c],)) if c in chosen else found[c] for c in children(node))
        found[node] = frozenset().union(*parts)
    return found


def _launch_order(
    kernels: Sequence[Sequence[str]], stores: Sequence[Store], read: Mapping[str, frozenset[str]]
) -> list[tuple[int, frozenset[str]]] | None:
    """The kernels (positions) in launch order, each with what it reads of others; None if they
    need each other, or if only its own kernel reads an intermediate.

    ``kernels``: what each stores, by name. ``read``: by name.
    """
    reads = [frozenset().union(*(read[n] for n in own)) - set(own) for own in kernels]
    if any(all(s.name not in names for names in reads) for s in stores):
        return None
    home = {name: i for i, own in enumerate(kernels) for name in own}
    done: list[int] = []
    while len(done) < len(kernels):
        ready = [
            i
            for i in range(len(kernels))
            if i not in done and all(home[name] in done for name in reads[i])
        ]
        if not ready:
            return None
        done.append(ready[0])
    return [(i, reads[i]) for i in done]


def _written(
    store: Store,
    reads: frozenset[str],
    stores: Sequence[Store],
    known: dict[tuple[str, frozenset[str]], Store],
) -> Store:
    """``store`` of a kernel that reads the stores named ``reads`` from memory."""
    key = (store.name, reads)
    if key not in known:
        by: dict[Node, Node] = {s.value: s.as_input() for s in stores if s.name in reads}
        known[key] = Store(store.name, store.order, store.dtype, substitute(store.value, by))
    return known[key]


def _dtype(store: Store, program: Program) -> str | None:
    """None (the case's) for a value that only products of matrices read, else ``fp32``."""
    value = store.value
    order = topo([s.value for s in program.outputs])
    above = users([s.value for s in program.outputs])
    absorbed: dict[Node, set[Node]] = {}  # node -> users that are part of a product with it
    for fold in order:
        if not isinstance(fold, Reduce) or fold.fn is not Fn.ADD or len(factors(fold.arg)) < 2:
            continue
        tree = [*_parts(fold.arg), fold.arg]
        for node in tree:
            if isinstance(node, Map) and node.fn is Fn.MUL:
                for arg in node.args:
                    absorbed.setdefault(arg, set()).add(node)
        if value in tree and fold.axis not in value.axes:
            return "fp32"
    only = value in absorbed and all(u in absorbed[value] for u in above[value])
    return None if only else "fp32"


def _partitions(count: int) -> Iterator[list[list[int]]]:
    """All set partitions of ``range(count)``, by growth strings."""

    def grow(i: int, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        if i == count:
            yield [list(g) for g in groups]
            return
        for group in groups:
            group.append(i)
            yield from grow(i + 1, groups)
            group.pop()
        groups.append([i])
        yield from grow(i + 1, groups)
        groups.pop()

    yield from grow(0, [])
