"""Named atoms: what each of them is, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from enum import Enum
from typing import Protocol
from typing import Self

from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.formula import truths
from superopt.verify.source.symbolic.poly import Monomial
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number


class Op(Enum):
    """How an atom is computed from others (FREE: it is not; DATA: it is read from memory)."""

    FREE = "free"
    DATA = "data"
    QUOTIENT = "quot"
    REMAINDER = "rem"
    LEAST = "min"
    GREATEST = "max"
    CHOICE = "choice"
    POWER = "power"


@dataclass(frozen=True)
class Definition:
    """``op`` of ``args``, where ``condition`` holds (CHOICE: else the second of them).

    ``shared``: it is the same in all programs of a launch. ``upper``: bounds that it stays below.
    """

    op: Op
    args: tuple[Poly, ...] = ()
    condition: Formula = FALSE
    shared: bool = False
    upper: tuple[Poly, ...] = ()


FREE = Definition(Op.FREE)


class Deriver(Protocol):
    """Proves consequences of facts."""

    def follows(self, goal: Formula, atoms: Table) -> bool:
        """Whether ``goal`` holds for all values that meet the facts of its atoms."""


class Table:
    """All atoms of one launch. ``deriver`` None: nothing is derived (numbers are concrete)."""

    def __init__(self, deriver: Deriver | None) -> None:
        self.deriver = deriver
        self.definitions: dict[str, Definition] = {}
        self.given: tuple[Formula, ...] = ()  # what holds wherever the text in hand runs
        self.unsure: list[tuple[Poly, Poly]] = []  # divisions whose divisor is not known positive
        self.signed: list[Poly] = []  # dividends that are not known to be nonnegative
        self._facts: dict[str, list[Formula]] = {}
        self.known: dict[tuple[Op, tuple[Poly, ...], Formula], str] = {}
        self._counts: dict[str, int] = {}

    def copied(self) -> Self:
        """A table that begins with what this one knows."""
        other = copy(self)
        other.definitions, other.known = dict(self.definitions), dict(self.known)
        other.unsure, other.signed = list(self.unsure), list(self.signed)
        other._facts = {name: list(facts) for name, facts in self._facts.items()}
        other._counts = dict(self._counts)
        return other

    def facts(self, name: str) -> tuple[Formula, ...]:
        """What the atom's definition says of it, and what has been derived from that."""
        return tuple(self._facts.get(name, ()))

    def assume(self, name: str, *facts: Formula) -> None:
        """Adds what is known of an atom by other means."""
        kept = self._facts.setdefault(name, [])
        kept += [f for f in facts if f not in kept]

    def cone(self, formulas: Iterable[Formula]) -> list[Formula]:
        """The facts of all atoms that matter to ``formulas``."""
        found: dict[Formula, None] = {}
        seen: dict[str, None] = {}
        open_ = [a for f in formulas for p in polys(f) for a in p.atoms]
        while open_:
            name = open_.pop()
            if name in seen:
                continue
            seen[name] = None
            for fact in self.facts(name):
                found[fact] = None
                open_ += [a for p in polys(fact) for a in p.atoms]
        return list(found)

    def upper(self, poly: Poly) -> tuple[Poly, ...]:
        """Known bounds that ``poly`` stays below."""
        rest = Poly(tuple(t for t in poly.terms if not t[0]))
        match (poly - rest).terms:
            case [((name,), 1)]:
                return tuple(u + rest for u in self.definitions[name].upper)
            case [((name,), tile)] if tile > 1:
                return tuple(u + rest for u in self._tiled(name, tile))
            case terms:
                return tuple(self._counted(poly, terms))

    def _counted(self, poly: Poly, terms: tuple[tuple[Monomial, int], ...]) -> Iterator[Poly]:
        """The sizes that ``poly`` stays below in which tiles are counted from the last one."""
        for factors, tile in terms:
            less = all(c < 0 for m, c in terms if m != factors)
            one = self.definitions[factors[0]] if less and len(factors) == 1 else FREE
            if one.op is Op.QUOTIENT and one.args[1] == number(tile):
                size = one.args[0] - number(tile - 1)
                if self.follows(below(poly, size)):
                    yield size

    def _tiled(self, name: str, tile: int) -> list[Poly]:
        """What ``tile`` times a tile's number stays below: the size that tiles are cut from."""
        found = []
        for bound in self.definitions[name].upper:
            number_of = self.definitions[bound.atom] if bound.atom else FREE
            if number_of.op is Op.QUOTIENT and number_of.args[1] == number(tile):
                size = number_of.args[0] - number(tile - 1)
                if self.follows(below(atom(name).times(tile), size)):
                    found.append(size)
        return found

    def varies(self, poly: Poly) -> bool:
        """Whether ``poly`` may differ between programs, lanes and iterations."""
        return any(not self.definitions[a].shared for a in poly.atoms)

    def fixed(self, data: bool = True) -> dict[str, Poly]:
        """Every atom that is not computed, by its name; ``data``: also those read from memory."""
        ops = (Op.FREE, Op.DATA) if data else (Op.FREE,)
        return {n: atom(n) for n, d in self.definitions.items() if d.op in ops}

    def follows(self, goal: Formula) -> bool:
        """Whether the facts of its atoms imply ``goal``."""
        if goal == both(()):
            return True
        return self.deriver is not None and self.deriver.follows(goal, self)

    def limit(self, poly: Poly, bound: Poly) -> None:
        """Adds that an atom stays below ``bound``."""
        name = name_of(poly)
        old = self.definitions[name]
        self.definitions[name] = Definition(
            old.op, old.args, old.condition, old.shared, (*old.upper, bound)
        )
        self.assume(name, below(poly, bound))

    def make(self, op: Op, args: tuple[Poly, ...], condition: Formula = FALSE) -> tuple[Poly, bool]:
        """The atom of a definition, and whether it is new."""
        if (op, args, condition) in self.known:
            return atom(self.known[op, args, condition]), False
        name = self.fresh(op.value)
        shared = not any(map(self.varies, (*args, *polys(condition)))) and not truths(condition)
        self.known[op, args, condition] = name
        self.definitions[name] = Definition(op, args, condition, shared)
        return atom(name), True

    def fresh(self, wish: str) -> str:
        """A name that no atom has."""
        count = self._counts.get(wish, 0)
        self._counts[wish] = count + 1
        name = wish if not count else f"{wish}.{count}"
        return name if name not in self.definitions else self.fresh(wish)


def name_of(poly: Poly) -> str:
    """The atom that ``poly`` is."""
    name = poly.atom
    assert name is not None
    return name
