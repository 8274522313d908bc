"""Quotients and remainders, as Triton has them: it truncates.

They come in pairs. Of a dividend that may be negative, nothing but the size of the remainder is
said, so that claims hold for either way of rounding.
"""

from __future__ import annotations

from superopt.verify.source.symbolic.formula import FALSE
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import either
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import atom
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.table import Definition
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.table import Table
from superopt.verify.source.symbolic.table import name_of


class Divisions(Table):
    """A table with divisions."""

    def divided(self, dividend: Poly, divisor: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder as Triton has them (truncated)."""
        p, y = self.recombined(dividend), divisor
        if y == ONE:
            return p, ZERO
        if p.constant is not None and y.constant:
            rest = abs(p.constant) % abs(y.constant)
            rest = rest if p.constant >= 0 else -rest
            return number((p.constant - rest) // y.constant), number(rest)
        if (parts := self._parted(p, y)) is not None:
            return parts
        self._swap(p, y)
        q, _ = self.make(Op.QUOTIENT, (p, y))
        r, new = self.make(Op.REMAINDER, (p, y))
        if new:
            self._division(p, y, q, r)
        elif (p, y) in self.unsure:
            self.unsure.append((p, y))
        return q, r

    def _parted(self, p: Poly, y: Poly) -> tuple[Poly, Poly] | None:
        """Euclid: of ``a * y + b`` with ``0 <= b < y`` and no negative ``a``, these are quotient
        and remainder."""
        terms = [(Poly((t,)), Poly((t,)).divided(y)) for t in p.terms]
        count = sum((q for _, q in terms if q is not None), ZERO)
        rest = sum((t for t, q in terms if q is None), ZERO)
        if count == ZERO or (Op.QUOTIENT, (p, y), FALSE) in self.known:
            return None
        goals = (at_least(count, ZERO), at_least(rest, ZERO), below(rest, y))
        return (count, rest) if all(map(self.follows, goals)) else None

    def _swap(self, p: Poly, y: Poly) -> None:
        """``(p // a) // b`` is ``(p // b) // a``, if that has a name."""
        inner = self.definitions[p.atom] if p.atom else Definition(Op.FREE)
        if inner.op is not Op.QUOTIENT:
            return
        dividend, first = inner.args
        other = self.known.get((Op.QUOTIENT, (dividend, y), FALSE), "")
        count = self.known.get((Op.QUOTIENT, (atom(other), first), FALSE))
        goals = (at_least(dividend, ZERO), at_least(first, ONE), at_least(y, ONE))
        if count is not None and all(map(self.follows, goals)):
            self.known.setdefault((Op.QUOTIENT, (p, y), FALSE), count)

    def _division(self, p: Poly, y: Poly, q: Poly, r: Poly) -> None:
        """The facts of a quotient and its remainder."""
        given = self.given
        self._positive(y)
        if self.definitions[name_of(q)].shared:  # it is known where the text in hand does not run
            self.given = ()
        always = self.follows(at_least(y, ONE)) and self.follows(at_least(p, ZERO))
        if always:
            self._assumed(p, y, q, r)
        self.given = given
        if always:
            return
        if not self.follows(at_least(y, ONE)):
            self.unsure.append((p, y))
        else:
            self._assumed(p, y, q, r)

    def _positive(self, y: Poly) -> None:
        """Adds that a minimum of positive numbers is one."""
        args, given = self._least(y), self.given
        if args and self.definitions[name_of(y)].shared:
            self.given = ()
        if args and all(self.follows(at_least(a, ONE)) for a in args):
            self.assume(name_of(y), at_least(y, ONE))
        self.given = given

    def _least(self, y: Poly) -> tuple[Poly, ...]:
        """The numbers of which ``y`` is the minimum; none if it is none."""
        one = self.definitions.get(y.atom or "")
        return one.args if one is not None and one.op is Op.LEAST else ()

    def _assumed(self, p: Poly, y: Poly, q: Poly, r: Poly) -> None:
        """Adds the facts, under ``given`` if others than the text in hand know the quotient."""
        shape = [equal(p, q * y + r), below(r, y)]
        if self.follows(at_least(p, ZERO)):
            shape += [at_least(r, ZERO), at_least(q, ZERO)]
        else:
            self.signed.append(p)
            shape += [below(-y, r), either((below(p, ZERO), at_least(r, ZERO)))]
        if self.definitions[name_of(q)].shared:
            shape = [either((*map(negated, self.given), f)) for f in shape]
        for name in (name_of(q), name_of(r)):
            self.assume(name, *shape)
        if self.definitions[name_of(q)].shared and self.given:
            return
        bounds = [b for b in self._bounds(p, y) if self._stays_below(p, y, q, b)]
        for bound in bounds:
            self.limit(q, bound)
        if not bounds:
            self._nested(p, y, q)
        for bound in (y, *(u - q * y for u in self.upper(p))):
            self.limit(r, bound)

    def _nested(self, p: Poly, y: Poly, q: Poly) -> None:
        """Of a quotient that is divided again: ``(p // a) // b`` is ``p // (a * b)``."""
        inner = self.definitions[p.atom] if p.atom else Definition(Op.FREE)
        while inner.op is Op.QUOTIENT and self.follows(at_least(inner.args[0], ZERO)):
            p, y = inner.args[0], inner.args[1] * y
            self.assume(name_of(q), at_least(p, q * y), below(p, (q + ONE) * y))
            for bound in self._bounds(p, y):
                if self.follows(below(q, bound)):
                    self.limit(q, bound)
            inner = self.definitions[p.atom] if p.atom else Definition(Op.FREE)

    def _bounds(self, p: Poly, y: Poly) -> list[Poly]:
        """Bounds that a quotient may have, by exact division of those of the dividend, or rounded
        up if such a number of tiles is known."""
        known = self.upper(p)
        found = [u.divided(w) for u in known for w in (y, *self._least(y))]
        tiles = [(Op.QUOTIENT, (u + y - ONE, y), FALSE) for u in known]
        found += [atom(self.known[t]) for t in tiles if t in self.known]
        return list(dict.fromkeys(b for b in found if b is not None))

    def _stays_below(self, p: Poly, y: Poly, q: Poly, bound: Poly) -> bool:
        """Whether the quotient does: where it is more, ``p`` is ``y * bound`` or more, and ``y`` is
        one of the numbers of which it is the minimum."""
        if self.follows(below(q, bound)):
            return True
        args = self._least(y)
        return bool(args) and all(self.follows(below(p, a * bound)) for a in args)

    def recombined(self, poly: Poly) -> Poly:
        """``poly`` with ``p`` in the place of ``(p // y) * y + p % y``."""
        for name in poly.atoms:
            one = self.definitions.get(name)
            if one is None or one.op is not Op.REMAINDER or poly.coefficient(name) != ONE:
                continue
            p, y = one.args
            quotient = atom(self.known[Op.QUOTIENT, one.args, one.condition])
            rest = poly - quotient * y - atom(name)
            if len(rest.terms) < len(poly.terms) - 1:
                return self.recombined(rest + p)
        return poly
