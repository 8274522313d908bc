"""Folds within folds of another walked axis: they become walks inside the walk around them.

The logits of a linear layer are folds over its features, one for each class. Where classes are
walked as well, each of their tiles needs the whole walk over features first::

    walk n
      walk k
        carry sum0 over m n by add of mul(x[m k], w[k n])
      carry max0 over m by max of new(sum0[m n])

What an inner walk reads of other folds has to be final before the walk around it begins.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from superopt.errors import NoFusion
from superopt.ugraph.carry import Carry
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Best
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import substitute
from superopt.ugraph.walk import topo

Name = Callable[[Reduce | Best | Recur], str]


def around(node: Node, looped: Collection[str]) -> str | None:
    """The axis of the walk in which a walk has to lie that computes ``node``, a fold over a
    ``looped`` axis; None if ``node`` is no such fold, or its walk needs none around it.

    Raises:
        NoFusion: it would have to lie in two of them, or is a list, which no inner walk keeps.
    """
    if not isinstance(node, Reduce | Best) or node.axis not in looped:
        return None
    others = [a for a in node.axes if a in looped]
    if len(others) > 1:
        raise NoFusion(
            f"a fold over {node.axis!r} inside walks of {others[0]!r} and {others[1]!r}: "
            "walks nest two deep at most"
        )
    if others and isinstance(node, Best):
        raise NoFusion(f"a list of the best along {node.axis!r} inside a walk of {others[0]!r}")
    return others[0] if others else None


def nested(walk: Walk, looped: Collection[str], axes: Sequence[str], name: Name) -> Walk:
    """``walk`` with inner walks for the folds over other ``looped`` axes that it reads.

    Folds share an inner walk if they are over one axis and equally deep in each other. ``axes``:
    all of the kernel's in order; ``name`` gives a new carry's for its fold.
    """
    roots = [*(c.term for c in walk.carries), *(s.value for s in walk.stores)]
    folds = [n for n in topo(roots) if isinstance(n, Reduce) and around(n, looped) == walk.axis]
    states: dict[Node, Node] = {}
    depths: dict[Node, int] = {}
    groups: dict[tuple[int, str], list[Carry]] = {}
    for fold in folds:
        below = topo([fold.arg])
        depths[fold] = 1 + max((depths[n] for n in below if n in depths), default=-1)
        over = tuple(a for a in axes if a in fold.axes)
        carry = Carry(name(fold), over, fold.fn, substitute(fold.arg, states))
        if fold.axis not in carry.term.axes:
            raise NoFusion(f"a fold over {fold.axis!r} of a value that lacks the axis")
        states[fold] = carry.state
        groups.setdefault((depths[fold], fold.axis), []).append(carry)
    inner = tuple(Walk(axis, tuple(groups[depth, axis])) for depth, axis in sorted(groups))
    return replace(
        walk,
        carries=tuple(replace(c, term=substitute(c.term, states)) for c in walk.carries),
        stores=tuple(_store(s, states) for s in walk.stores),
        inner=inner,
    )


def _store(store: Store, states: Mapping[Node, Node]) -> Store:
    return replace(store, value=substitute(store.value, states))
