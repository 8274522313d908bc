"""Program ids, sizes and lanes, and what min, max and choices make of them; the same atoms for
another program."""

from __future__ import annotations

from superopt.verify.source.symbolic.division import Divisions
from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.formula import substituted
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.table import Definition
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.table import name_of


class Atoms(Divisions):
    """All atoms of one launch."""

    def free(
        self, wish: str, shared: bool = False, upper: tuple[Poly, ...] = (), op: Op = Op.FREE
    ) -> Poly:
        """An atom that is not computed, nonnegative if it has an ``upper`` bound."""
        name = self.fresh(wish)
        self.definitions[name] = Definition(op, shared=shared, upper=upper)
        if upper:
            self.assume(name, at_least(atom(name), ZERO), *(below(atom(name), u) for u in upper))
        return atom(name)

    def least(self, a: Poly, b: Poly) -> Poly:
        """The minimum."""
        return self._extreme(Op.LEAST, a, b)

    def greatest(self, a: Poly, b: Poly) -> Poly:
        """The maximum."""
        return self._extreme(Op.GREATEST, a, b)

    def _extreme(self, op: Op, a: Poly, b: Poly) -> Poly:
        difference = (a - b).constant
        if difference is not None:
            return b if (difference > 0) == (op is Op.LEAST) else a
        found, new = self.make(op, (a, b))
        if new:
            for one in (a, b):
                low, high = (found, one) if op is Op.LEAST else (one, found)
                self.assume(name_of(found), at_least(high, low))
            self.assume(name_of(found), either((equal(found, a), equal(found, b))))
            if op is Op.LEAST:
                for one in (a, b):
                    self.limit(found, one + ONE)
        return found

    def choice(self, condition: Formula, a: Poly, b: Poly) -> Poly:
        """``a`` where ``condition`` holds, else ``b``."""
        if a == b or condition == both(()):
            return a
        if condition == FALSE:
            return b
        found, new = self.make(Op.CHOICE, (a, b), condition)
        if new:
            yes = both((condition, equal(found, a)))
            no = both((negated(condition), equal(found, b)))
            self.assume(name_of(found), either((yes, no)))
        return found

    def power(self, size: Poly, least: int) -> Poly:
        """The smallest power of two that is no less than ``size``, and at least ``least``."""
        value = size.constant
        if value is not None:
            return number(max(least, 1 << max(value - 1, 0).bit_length()))
        found, new = self.make(Op.POWER, (size, number(least)))
        if new:
            self.assume(
                name_of(found), at_least(found, size), at_least(found, number(max(least, 1)))
            )
        return found

    def instance(self, poly: Poly, by: dict[str, Poly], suffix: str) -> Poly:
        """``poly`` in another program, lane and iteration: free atoms that vary are replaced (in
        ``by``, which grows, or by new ones named with ``suffix``), and all that is made of them."""
        for name in poly.atoms:
            if name not in by:
                self._instance(name, by, suffix)
        return poly.substitute({a: by[a] for a in poly.atoms})

    def _instance(self, name: str, by: dict[str, Poly], suffix: str) -> None:
        one = self.definitions[name]
        if one.op not in (Op.FREE, Op.DATA):
            by[name] = self.again(name, by, suffix)
            return
        if one.shared:
            by[name] = atom(name)
            return
        new = self.fresh(name + suffix)
        by[name] = atom(new)
        upper = tuple(self.instance(u, by, suffix) for u in one.upper)
        self.definitions[new] = Definition(one.op, upper=upper)
        self.assume(new, *(self.condition(f, by, suffix) for f in self.facts(name)))

    def again(self, name: str, by: dict[str, Poly], suffix: str) -> Poly:
        """What a computed atom is, computed of what its arguments are in ``by``."""
        one = self.definitions[name]
        args = tuple(self.instance(a, by, suffix) for a in one.args)
        return self._again(one.op, args, self.condition(one.condition, by, suffix))

    def condition(self, formula: Formula, by: dict[str, Poly], suffix: str) -> Formula:
        """A condition in another program, lane and iteration."""
        for poly in polys(formula):
            self.instance(poly, by, suffix)
        return substituted(formula, by, suffix)

    def _again(self, op: Op, args: tuple[Poly, ...], condition: Formula) -> Poly:
        match op:
            case Op.QUOTIENT:
                return self.divided(*args)[0]
            case Op.REMAINDER:
                return self.divided(*args)[1]
            case Op.LEAST | Op.GREATEST:
                return self._extreme(op, *args)
            case Op.CHOICE:
                return self.choice(condition, *args)
            case _:
                return self.power(args[0], args[1].constant or 1)
