"""Reads one printed function with symbolic program ids and sizes: its accesses, as functions of
lanes, programs and iterations.

The body of a loop is read twice: once to find by how much each carried number grows, then at
``first + trips * growth``. Nothing of a text is executed; what has no meaning here is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Sequence

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.formula import TRUE
from superopt.verify.source.symbolic.formula import Formula
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import negated
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.table import Op
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Step
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.value import merged
from superopt.verify.source.symbolic.vocabulary import Vocabulary

MOST_TRIPS = 64  # of a loop with numbers for its limits


class Kernel(Vocabulary):
    """The reading of one function.

    After ``read``: ``accesses`` in the order of the text, ``uses`` of numbers that must fit.
    ``share``: the program, or the tile that one of the programs has.
    """

    def __init__(
        self,
        text: KernelText,
        function: ast.FunctionDef,
        arguments: Mapping[str, Value],
        atoms: Atoms,
        pid: Poly,
        path: Sequence[Formula] = (),
        data: int | None = None,
        programs: Poly | None = None,
    ) -> None:
        super().__init__(text, atoms, pid, dict(arguments), data)
        self.function = function
        self.path = list(path)
        self.programs = programs
        self.share = pid  # what tells one part of the launch's work from another

    def read(self) -> Kernel:
        """Reads the whole body.

        Raises:
            OutsideVocabularyError: something in it has no meaning here; the message names it.
        """
        self.block(self.function.body)
        return self

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements, one after another."""
        for statement in body:
            self.line = statement.lineno
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.names[name] = self.value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                found = self.value(value)
                if isinstance(found, Opaque):
                    found = (found,) * len(targets)
                if not isinstance(found, tuple) or len(found) != len(targets):
                    raise self.outside(statement)
                for target, one in zip(targets, found, strict=True):
                    self.names[ast.unparse(target)] = one
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                before = ast.copy_location(ast.Name(name, ast.Load()), statement)
                self.names[name] = self.value(ast.BinOp(before, op, value))
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.If(test=test, body=body, orelse=other):
                self._branches(test, body, other)
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as call, body=body, orelse=[]):
                self._loop(name, call, body)
            case _:
                raise self.outside(statement)

    # Branches.

    def _branches(
        self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]
    ) -> None:
        condition = self.truth(self.value(test))
        self.use(condition.steps)
        before = dict(self.names)
        ends = []
        for formula, part in ((condition.formula, body), (negated(condition.formula), other)):
            self.names = dict(before)
            if formula != negated(TRUE):
                self.path.append(formula)
                self.branches += 1
                self.block(part)
                self.branches -= 1
                self.path.pop()
                ends.append((formula, self.names))
        if len(ends) == 1:
            self.names = ends[0][1]
            return
        self.names = {}
        for name in {**ends[0][1], **ends[1][1]}:
            there = [end.get(name) for _, end in ends]
            if there[0] is not None and there[1] is not None:
                self.names[name] = self.chosen(condition, there[0], there[1])

    # Loops.

    def _loop(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        first, stop, step = self._range(call)
        growth = step.poly.constant
        if growth is None or growth < 1:
            raise OutsideVocabularyError(f"line {self.line}: a loop with a step of {step.poly}")
        if first.poly.constant is not None and stop.poly.constant is not None:
            positions = range(first.poly.constant, stop.poly.constant, growth)
            if self.atoms.deriver is None:
                self.use(merged(first.steps, stop.steps))
                self._unrolled(name, self._some(positions, body), growth, body)
                return
        known = set(self.atoms.definitions)
        placed = self._placeholders(body)
        before, kept = dict(self.names), (len(self.accesses), len(self.uses))
        self._once(name, first, stop, growth, body, placed, {})
        carried = {n: self._growth(n, p, known) for n, p in placed.items()}
        del self.accesses[kept[0] :], self.uses[kept[1] :]
        self.names = dict(before)
        self._once(name, first, stop, growth, body, placed, carried)
        gap = self.atoms.greatest(stop.poly - first.poly, ZERO)
        count, _ = self.atoms.divided(gap + number(growth - 1), number(growth))
        for one in {*changed(body), name}:
            self._behind(one, before.get(one), carried.get(one), count)

    def _behind(self, name: str, before: Value | None, by: Poly | None, count: Poly) -> None:
        """What a changed variable is behind the loop, if that is known."""
        match before, self.names.pop(name, None):
            case Opaque(), Opaque():
                self.names[name] = Opaque()
            case Whole() | Address(), _ if by is not None:
                self.names[name] = _moved(before, by * count)
            case Whole(), Opaque():
                self.names[name] = Opaque()
            case Whole(), Whole(bits=bits, dims=dims):  # any number, like data
                self.names[name] = Whole(self.atoms.free(name, op=Op.DATA), bits, dims)
            case _:
                return

    def _range(self, call: ast.Call) -> tuple[Whole, Whole, Whole]:
        if ast.unparse(call.func) not in ("range", "tl.range", "tl.static_range"):
            raise self.outside(call)
        found = [self.value(a) for a in call.args]
        if len(found) == 1:
            found = [Whole(ZERO), *found]
        if len(found) == 2:
            found.append(Whole(number(1)))
        for keyword in call.keywords:
            self.value(keyword.value)
        match found:
            case [Whole() as first, Whole() as stop, Whole() as step]:
                return first, stop, step
            case _:
                raise self.outside(call)

    def _some(self, positions: range, body: Sequence[ast.stmt]) -> list[int]:
        """All trips, or the first and the last of many if no number is carried."""
        if len(positions) <= MOST_TRIPS:
            return list(positions)
        carried = (n for n in changed(body) if not _set_first(n, body))
        if any(isinstance(self.names.get(n), Whole | Address) for n in carried):
            raise OutsideVocabularyError(f"line {self.line}: a loop of {len(positions)} trips")
        return [*positions[:2], *positions[-2:]]

    def _unrolled(
        self, name: str, positions: Sequence[int], growth: int, body: Sequence[ast.stmt]
    ) -> None:
        """A loop whose limits are numbers, each trip by itself."""
        line = self.line
        for at in positions:
            self.use((Step(number(at + growth), 32, line),))
            self.names[name] = Whole(number(at), 32)
            self.block(body)

    def _placeholders(self, body: Sequence[ast.stmt]) -> dict[str, Poly]:
        """An unknown for each number that was known before the loop and is set in it."""
        return {
            name: self.atoms.free(name)
            for name in changed(body)
            if isinstance(self.names.get(name), Whole | Address | Mask)
            and not _set_first(name, body)
        }

    def _once(
        self,
        name: str,
        first: Whole,
        stop: Whole,
        growth: int,
        body: Sequence[ast.stmt],
        placed: Mapping[str, Poly],
        carried: Mapping[str, Poly | None],
    ) -> None:
        """Reads the body at any one trip, with unknowns for what does not grow evenly."""
        trip = self.atoms.free(f"{name}_trip")
        mark = trip.atom
        assert mark is not None
        here = first.poly + trip.times(growth)
        inside = (at_least(trip, ZERO), below(here, stop.poly))
        self.atoms.assume(mark, *inside)
        for one, place in placed.items():
            self.names[one] = self._started(self.names[one], place, carried.get(one), trip)
        self.names[name] = Whole(here, 32)
        self.path += inside
        self.trips.append(mark)
        self.use(merged(first.steps, stop.steps, (Step(here + number(growth), 32, self.line),)))
        self.block(body)
        self.trips.pop()
        del self.path[-len(inside) :]

    def _started(self, value: Value, place: Poly, by: Poly | None, trip: Poly) -> Value:
        """A carried value at the beginning of a trip."""
        match value:
            case Whole() | Address() if by is not None:
                return _moved(value, by * trip)
            case Whole(bits=bits, dims=dims):
                return Whole(place, bits or 32, dims)
            case Address(tensor=tensor, dims=dims):
                return Address(tensor, place, dims)
            case _:
                return self.unknown_truth(())

    def _growth(self, name: str, place: Poly, known: set[str]) -> Poly | None:
        """By how much a carried number grows in each trip, if that is always the same."""
        match self.names.get(name):
            case Whole(poly=poly) | Address(offset=poly):
                change = poly - place
                return change if all(a in known for a in change.atoms) else None
            case _:
                return None


def changed(body: Sequence[ast.stmt]) -> list[str]:
    """The variables that statements set, in order."""
    found = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Name))
    return list(dict.fromkeys(n.id for n in found if isinstance(n.ctx, ast.Store)))


def _set_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether each trip sets the variable before it reads it."""
    for statement in body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
        if any(isinstance(n.ctx, ast.Load) for n in names):
            return False
        if names:
            return isinstance(statement, ast.Assign)
    return False


def _moved(value: Value | None, by: Poly) -> Value:
    match value:
        case Whole(poly=poly, bits=bits, dims=dims, steps=steps):
            moved = poly + by
            return Whole(moved, bits or 32, dims, merged(steps, (Step(moved, bits or 32, 0),)))
        case Address(tensor=tensor, offset=offset, dims=dims, steps=steps):
            return Address(tensor, offset + by, dims, steps)
        case _:
            raise AssertionError(value)
