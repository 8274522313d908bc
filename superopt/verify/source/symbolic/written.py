"""The claim that every element of a tensor is stored: by which program, iteration and lane.

The coordinates of any element are given, and the definitions of the text are run backwards: tiles
and lanes are quotients and remainders of coordinates, the program id is made of tiles. That the
numbers found are such that the text, run forwards, arrives at the element is then proved fact by
fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.coordinates import NoCoordinates
from superopt.verify.source.symbolic.coordinates import coordinates
from superopt.verify.source.symbolic.formula import AllOf
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import words
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.value import Access


def all_stored(stores: Sequence[Access], pid: str, atoms: Atoms, prover: Prover) -> list[str]:
    """What is not proved of "each element of the tensor of ``stores`` is stored by one of them"."""
    tensor = stores[0].tensor
    place = [
        atoms.free(f"{tensor.name}_at_{i}", upper=(size,)) for i, size in enumerate(tensor.shape)
    ]
    given = atoms.given
    atoms.given = tuple(f for p in place for f in atoms.facts(p.atom or ""))
    try:
        return _all_stored(stores, pid, place, given, atoms, prover)
    except NoCoordinates as error:
        return [str(error)]
    finally:
        atoms.given = given


def _all_stored(
    stores: Sequence[Access],
    pid: str,
    place: list[Poly],
    base: Sequence[Formula],
    atoms: Atoms,
    prover: Prover,
) -> list[str]:
    reached: list[Formula] = []
    wanting: list[str] = []
    for store in stores:
        found = _Witness(store, pid, place, atoms, base)
        if lost := found.lost():
            wanting.append(f"line {store.line}: no way to tell {lost} from the element")
            continue
        missed = [g for g in found.goals() if not prover.proves(atoms.given, g, atoms)]
        if missed:
            wanting.append(
                f"line {store.line}: is it the program of an element? {words(missed[0])}"
            )
            continue
        reached.append(both(found.conditions()))
    if not reached:
        return wanting
    goal = either(reached)
    parts = goal.parts if isinstance(goal, AllOf) else (goal,)
    missed = [p for p in parts if not prover.proves(atoms.given, p, atoms)]
    if missed:
        return [
            *wanting,
            f"line {stores[0].line}: an element may be passed over: {words(missed[0])}",
        ]
    return []


class _Witness:
    """The program, iteration and lane of one store that store the element at ``place``."""

    def __init__(
        self,
        store: Access,
        pid: str,
        place: list[Poly],
        atoms: Atoms,
        base: Sequence[Formula],
    ) -> None:
        self.store, self.pid, self.atoms, self.base = store, pid, atoms, base
        self.found: dict[str, Poly] = {}
        self.solved: list[str] = []  # computed atoms that were found backwards
        self.checks: list[Formula] = []
        self.completed: list[str] = []  # remainders whose dividend has an equation
        parts = coordinates(store.tensor, store.offset)
        self.equations = list(zip(parts, place, strict=True))
        while self._step():
            continue
        for name in self._wanted():  # what has one value only has that
            if name not in self.found and ONE in self.atoms.upper(atom(name)):
                self.found[name] = ZERO

    def _wanted(self) -> list[str]:
        store = self.store
        return [self.pid, *store.trips, *(d for d in store.dims if d is not None)]

    def lost(self) -> str:
        """What was not found; empty if all was."""
        return next((w for w in self._wanted() if w not in self.found), "")

    def goals(self) -> list[Formula]:
        """That what was found backwards is what the text computes forwards."""
        goals = list(self.checks)
        for name in (self.pid, *(d for d in self.store.dims if d is not None)):
            goals += self._within(name)
        for name in self.solved:
            goals += self._forwards(name)
        return list(dict.fromkeys(goals))

    def _forwards(self, name: str) -> list[Formula]:
        """That the text computes of an atom what was found for it."""
        one = self.atoms.definitions[name]
        if one.op in (Op.QUOTIENT, Op.REMAINDER):
            dividend, divisor = self._known(one.args[0]), self._known(one.args[1])
            pair = [p.atom for p in self.atoms.divided(*one.args)]
            q, r = (self.found.get(a or "") for a in pair)
            if q is not None and r is not None and dividend == q * divisor + r:  # so says Euclid
                return [at_least(r, ZERO), below(r, divisor), at_least(q, ZERO)]
        return [equal(self.atoms.again(name, self.found, "?"), self.found[name])]

    def conditions(self) -> list[Formula]:
        """Under which the store happens in the launch: its path and its mask."""
        path = [f for f in self.store.path if f not in self.base]
        formulas = (*path, self.store.mask)
        return [self.atoms.condition(f, self.found, "?") for f in formulas]

    def _within(self, name: str) -> list[Formula]:
        one = self.atoms.definitions[name]
        return [
            at_least(self.found[name], ZERO),
            *(below(self.found[name], self._known(u)) for u in one.upper),
        ]

    def _step(self) -> bool:
        """Solves one more equation, or completes one more division."""
        for place, (left, right) in enumerate(self.equations):
            unknown = [a for a in left.atoms if self._unknown(a)]
            if not unknown:
                self.checks.append(equal(self._known(left), right))
            elif not (
                self._isolated(left, right, unknown)
                or self._peeled(left, right, unknown)
                or self._numbered(left, right, unknown)
            ):
                continue
            del self.equations[place]
            return True
        return self._divided()

    def _unknown(self, name: str) -> bool:
        """Whether the atom varies and is neither found nor computed of what is."""
        one = self.atoms.definitions[name]
        if name in self.found or one.shared:
            return False
        if one.op in (Op.FREE, Op.DATA):
            return True
        return any(self._unknown(a) for p in one.args for a in p.atoms)

    def _known(self, poly: Poly) -> Poly:
        return self.atoms.instance(poly, self.found, "?")

    def _set(self, name: str, value: Poly) -> None:
        self.found[name] = value
        if self.atoms.definitions[name].op not in (Op.FREE, Op.DATA):
            self.solved.append(name)

    def _isolated(self, left: Poly, right: Poly, unknown: list[str]) -> bool:
        """An equation with one unknown, once or with a minus."""
        (name, *more) = unknown
        sign = left.coefficient(name).constant
        if more or sign not in (1, -1) or left != left.without(name) + atom(name).times(sign):
            return False
        self._set(name, (right - self._known(left.without(name))).times(sign))
        return True

    def _peeled(self, left: Poly, right: Poly, unknown: list[str]) -> bool:
        """``tile * unknown + lane``: quotient and remainder by the tile."""
        for lane in unknown:
            others = [(m, c) for m, c in left.without(lane).terms if set(m) & set(unknown)]
            tile = gcd(*(c for _, c in others))
            if left.coefficient(lane) != ONE or tile < 1 or not self._narrow(lane, tile):
                continue
            rest = left.without(lane)
            whole = Poly(tuple((m, c) for m, c in rest.terms if c % tile == 0))
            over, inside = self.atoms.divided(right - self._known(rest - whole), number(tile))
            count = whole.divided(number(tile))
            assert count is not None
            self._set(lane, inside)
            self.equations.append((count, over))
            return True
        return False

    def _numbered(self, left: Poly, right: Poly, unknown: list[str]) -> bool:
        """``count * unknown + remainder`` by that count: a number of a pair."""
        for lane in unknown:
            one = self.atoms.definitions[lane]
            if one.op is not Op.REMAINDER or left.coefficient(lane) != ONE:
                continue
            count = one.args[1]
            rows = left.without(lane).divided(count)
            if rows is None or any(map(self._unknown, count.atoms)):
                continue
            over, inside = self.atoms.divided(right, self._known(count))
            self._set(lane, inside)
            self.equations.append((rows, over))
            return True
        return False

    def _narrow(self, lane: str, tile: int) -> bool:
        """Whether an atom is below a bound no larger than ``tile``."""
        return self.atoms.follows(below(atom(lane), number(tile)))

    def _divided(self) -> bool:
        """A dividend of which both the quotient and the remainder are found."""
        for name in list(self.found):
            one = self.atoms.definitions.get(name)
            if one is None or one.op is not Op.REMAINDER:
                continue
            dividend, divisor = one.args
            quotient = self.atoms.divided(dividend, divisor)[0].atom
            if quotient not in self.found or any(map(self._unknown, divisor.atoms)):
                continue
            if name in self.completed or not any(map(self._unknown, dividend.atoms)):
                continue
            self.completed.append(name)
            total = self.found[quotient] * self._known(divisor) + self.found[name]
            self.equations.append((dividend, total))
            return True
        return False
