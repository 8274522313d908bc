"""The claim that no element is stored twice in one launch.

Two stores at equal coordinates are by the same program, in the same iteration, from the same lane:
the atoms that coordinates are made of are shown to be equal one by one, then what they are
remainders and quotients of, until the program id is reached.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.verify.source.symbolic.addresses import addresses_differ
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.coordinates import NoCoordinates
from superopt.verify.source.symbolic.coordinates import coordinates
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import substituted
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.value import Access


def stored_once(stores: Sequence[Access], pid: str, atoms: Atoms, prover: Prover) -> list[str]:
    """What is not proved of "at most one program, iteration and lane stores an element"."""
    tensor = stores[0].tensor
    if not tensor.apart:
        return [f"the launcher does not see to it that elements of {tensor.name} are apart"]
    wanting = addresses_differ(tensor.kind == "workspace", prover) if tensor.shape else []
    for number, one in enumerate(stores):
        for other in stores[number:]:
            try:
                problem = _Pair(one, other, pid, atoms, prover).problem()
            except NoCoordinates as error:
                problem = str(error)
            if problem:
                wanting.append(f"lines {one.line} and {other.line}: {problem}")
    return wanting


class _Pair:
    """Two stores, the second one by any program, iteration and lane."""

    def __init__(self, one: Access, other: Access, pid: str, atoms: Atoms, prover: Prover) -> None:
        self.one, self.other, self.pid = one, other, pid
        self.atoms, self.prover = atoms, prover
        self.twin: dict[str, Poly] = {}  # by atom: what it is in the second program
        self.same: dict[str, Poly] = {}  # twins that are known to be equal to their atoms
        first = coordinates(one.tensor, one.offset)
        second = coordinates(other.tensor, other.offset)
        self.equations = [
            (a, self.atoms.instance(b, self.twin, "'")) for a, b in zip(first, second, strict=True)
        ]
        facts = [self.atoms.condition(f, self.twin, "'") for f in (*other.path, other.mask)]
        self.facts = [*one.path, one.mask, *facts]

    def problem(self) -> str:
        """What is not proved; empty if all is."""
        if self.one is not self.other:
            return "" if self._proves(FALSE) else "both may store one element"
        targets = [self.pid, *self.one.trips, *(d for d in self.one.dims if d is not None)]
        for name in targets:
            self.atoms.instance(atom(name), self.twin, "'")
        while self._more():
            continue
        unequal = [t for t in targets if not self._equal(t) and not self._settle(t)]
        return f"an element may be stored at two values of {unequal[0]}" if unequal else ""

    def _more(self) -> bool:
        """Shows that further atoms are equal."""
        before = len(self.same)
        for left, _ in self.equations:
            for name in left.atoms:
                if not self._equal(name) and self._settle(name):
                    self._mark(name)
        self._follow()
        return len(self.same) > before

    def _settle(self, name: str) -> bool:
        return self._proves(equal(atom(name), self.twin[name]))

    def _mark(self, name: str) -> None:
        twin = self.twin[name].atom
        if twin is not None:
            self.same[twin] = atom(name)

    def _follow(self) -> None:
        """What is computed of equal numbers is equal, and so is what two equal numbers are the
        quotient and the remainder of."""
        for name in list(self.twin):
            one = self.atoms.definitions[name]
            if one.op in (Op.FREE, Op.DATA) or self._equal(name):
                continue
            if all(self._equal(a) for p in one.args for a in p.atoms) and one.op is not Op.CHOICE:
                self._mark(name)
        for name in list(self.twin):
            one = self.atoms.definitions[name]
            if one.op is not Op.REMAINDER or not self._equal(name):
                continue
            dividend, divisor = one.args
            quotient = self.atoms.divided(dividend, divisor)[0].atom
            known = quotient is not None and quotient in self.twin and self._equal(quotient)
            if known and all(map(self._equal, divisor.atoms)):
                pair = (dividend, self.atoms.instance(dividend, self.twin, "'"))
                if pair not in self.equations:
                    self.equations.append(pair)

    def _equal(self, name: str) -> bool:
        twin = self.twin.get(name)
        return twin is None or twin == atom(name) or twin.atom in self.same

    def _proves(self, goal: Formula) -> bool:
        facts = [*self.facts, *(equal(a, b) for a, b in self.equations)]
        facts = [substituted(f, self.same) for f in facts]
        goal = substituted(goal, self.same)
        return self.prover.proves(facts, goal, self.atoms, keep=goal == FALSE)
