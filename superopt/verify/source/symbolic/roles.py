"""Reads a function that starts roles: each role is called, with what it is given.

Only accesses of global memory matter here. Tiles in shared memory, barriers and products under way
are opaque, and the order of roles is that of the text: what each of them touches does not depend on
it. Roles that differ by one number, 0, 1, ..., are read as one, for any of these numbers, as the
trips of a loop are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic.dealt import Alike
from superopt.verify.source.symbolic.dealt import Deal
from superopt.verify.source.symbolic.dealt import deal
from superopt.verify.source.symbolic.dealt import depends
from superopt.verify.source.symbolic.dealt import in_turn
from superopt.verify.source.symbolic.dealt import is_fair
from superopt.verify.source.symbolic.dealt import waves_of
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import polys
from superopt.verify.source.symbolic.kernel import Kernel
from superopt.verify.source.symbolic.kernel import changed
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.value import merged

OPAQUE = {
    *("tl.BlockedLayout", "tl.DotOperandLayout", "tl.NVMMADistributedLayout", "tl.SliceLayout"),
    *("mbarrier.MBarrierLayout", "mbarrier.arrive", "mbarrier.expect", "mbarrier.init"),
    *("mbarrier.wait", "tl.allocate_shared_memory", "tma.store_wait"),
    *("fence_async_shared", "tl.split", "warpgroup_mma", "warpgroup_mma_wait"),
}
OF_TILES = (".index", ".load", ".permute", ".reshape", ".store")  # and of tiles in registers
Started = tuple[str, tuple[Value, ...]]  # a role and its arguments


def reader(text: KernelText, function: str) -> type[Kernel]:
    """What reads ``function``."""
    return Roles if has_roles(text, function) else Kernel


def has_roles(text: KernelText, function: str) -> bool:
    """Whether ``function`` may start roles."""
    decorators = text.kernels[function].decorator_list
    return any(ast.unparse(d) == "gluon.jit" for d in decorators)


class Roles(Kernel):
    """The reading of a function that starts roles, and of these."""

    def read(self) -> Kernel:
        """Reads the whole body. Raises OutsideVocabularyError."""
        self.block(_plain(self.function).body)
        if self.share != self.pid and len(self.accesses) > self.dealt:
            raise OutsideVocabularyError(
                "memory is touched outside of the tiles that are dealt out"
            )
        return self

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for. Raises OutsideVocabularyError."""
        match node:
            case ast.Attribute(attr="nbytes"):
                return Opaque()
            case ast.Subscript(value=ast.Name(id=name)) if self.names.get(name) == (Opaque(),):
                return Opaque()  # a tile of one part
            case _:
                return super().value(node)

    def call(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        """What a call returns; loads and stores are kept."""
        match name, arguments:
            case "tl.warp_specialize", [tuple() as roles, *_]:
                self._start([started(self.outside(node), role) for role in roles])
            case "tma.async_copy_global_to_shared", [Descriptor() as source, tuple() as at, _, _]:
                self._copied(False, source, at)
            case "tma.async_copy_shared_to_global", [Descriptor() as target, tuple() as at, _]:
                self._copied(True, target, at)
            case "tl.convert_layout", [value, *_]:
                return value
            case "tl.cast", [value, Named(text=dtype)]:
                return self._cast(value, dtype)
            case _ if name in OPAQUE or (name in OF_TILES and arguments[0] == Opaque()):
                return Opaque()
            case _:
                return super().call(node, name, arguments, keywords)
        return Named(name)

    # Roles.

    def _start(self, roles: list[Started]) -> None:
        """Reads roles, those that differ by their number together."""
        while roles:
            place, count = _alike(roles) if self.atoms.deriver is not None else (0, 1)
            (name, arguments), roles = roles[0], roles[count:]
            if count == 1:
                self._role(name, arguments)
                continue
            which = self.atoms.free(f"{name}_number")
            assert which.atom is not None
            inside = (at_least(which, ZERO), below(which, number(count)))
            self.atoms.assume(which.atom, *inside)
            self.path += inside
            self.trips.append(which.atom)
            self.alike = Alike(which, count, inside)
            self._role(name, (*arguments[:place], Whole(which), *arguments[place + 1 :]))
            self.alike = None
            self.trips.pop()
            del self.path[-len(inside) :]

    def _role(self, name: str, arguments: tuple[Value, ...]) -> None:
        if name not in self.text.kernels:
            raise OutsideVocabularyError(f"line {self.line}: role {name}")
        function = _plain(self.text.kernels[name])
        parameters = function.args.args
        if len(parameters) != len(arguments):
            raise OutsideVocabularyError(f"line {self.line}: {name} with {len(arguments)} values")
        names, ranges = self.names, self.ranges
        self.names, self.ranges = {}, {}
        for parameter, given in zip(parameters, arguments, strict=True):
            kind = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
            if isinstance(given, Whole) and not given.bits and kind != "tl.constexpr":
                given = replace(given, bits=32)
            self.names[parameter.arg] = given
        self.block(function.body)
        self.names, self.ranges = names, ranges

    # Loops over tiles that programs deal out; loops whose number of trips is no matter of memory.

    dealt = 0  # accesses within the former
    wave = ""  # the variable of the one in hand, if nothing else sets it
    alike: Alike | None = None  # the roles that are read as one

    def _deals(self, name: str, call: ast.Call, parts: Deal, body: Sequence[ast.stmt]) -> None:
        """Reads a loop as any one of its tiles, if programs have each of them once."""
        atoms, programs, (first, waves, step) = self.atoms, self.programs, self._range(call)
        count = self.value(parts.count)
        before, set_ = dict(self.names), (name, *changed(body))
        wave = atoms.free(name)
        assert wave.atom is not None
        assert programs is not None
        atoms.assume(wave.atom, at_least(wave, ZERO), below(wave, waves.poly))
        if atoms.follows(at_least(programs, ZERO)):  # so its multiples lie as the waves do
            between = wave, waves.poly - ONE - wave
            atoms.assume(wave.atom, *(at_least(b * programs, ZERO) for b in between))
        self.names |= {n: Opaque() for n in set_ if n in before}
        self.names[name] = Whole(wave, 32)
        self.block(parts.before)
        tile = self.names.get(parts.tile)
        if (
            not (isinstance(tile, Whole) and isinstance(count, Whole))
            or (first.poly, step.poly) != (ZERO, ONE)
            or waves.poly != waves_of(count.poly, programs, atoms)
            or not is_fair(tile.poly, wave, waves.poly, self.pid, programs, atoms)
        ):
            raise OutsideVocabularyError(f"line {self.line}: does one program have each tile once?")
        if self.share == self.pid:
            self.share = atoms.free("tile", upper=(count.poly,))
        self.use(merged(waves.steps, count.steps, tile.steps))
        self.names |= {n: Opaque() for n in set_ if n in self.names}
        self.names[parts.tile] = Whole(self.share, 32)
        there, path = len(self.accesses), self.path
        # How many programs there are says nothing of a tile, and would burden every question.
        self.path = [f for f in path if not any(programs.atom in p.atoms for p in polys(f))]
        self.wave = name if name not in changed(body) else ""
        self.block(parts.body)
        self.wave = ""
        self.path = path
        self.dealt += len(self.accesses) - there
        self.names = before | {n: Opaque() for n in set_ if n in before}

    def _branches(
        self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]
    ) -> None:
        match in_turn(test, self.wave) if self.wave and self.alike else None:
            case (count, which) if not other and self._whose(count, which):
                self._in_turn(body)
            case _:
                super()._branches(test, body, other)

    def _whose(self, count: ast.expr, which: ast.expr) -> bool:
        """Whether all roles that are alike take tiles in turn by these numbers."""
        assert self.alike is not None
        found = self.value(count), self.value(which)
        return found == (Whole(number(self.alike.count)), Whole(self.alike.which))

    def _in_turn(self, body: Sequence[ast.stmt]) -> None:
        """Reads what the role does whose turn the tile in hand is, of those that are alike: there
        is one for each tile, and which one it is must not matter to memory."""
        assert self.alike is not None
        atoms, name, before = self.atoms, self.alike.which.atom, dict(self.names)
        assert name is not None
        path, trips, there = self.path, self.trips, len(self.accesses)
        self.path = [f for f in path if f not in self.alike.inside]
        self.trips = [t for t in trips if t != name]
        self.block(body)
        self.path, self.trips = path, trips
        for one in self.accesses[there:]:
            touched = (one.offset, *(p for f in (one.mask, *one.path) for p in polys(f)))
            if depends(atoms, touched, name):
                raise OutsideVocabularyError(
                    f"line {one.line}: which element of {one.tensor.name} it is depends on the role"
                )
        self.names = before | {n: Opaque() for n in changed(body) if n in before}

    def _loop(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        if self.pid.atom and self.programs and (parts := deal(call, body)):
            self._deals(name, call, parts, body)
            return
        if not any(isinstance(self.value(a), Opaque) for a in call.args):
            super()._loop(name, call, body)
            return
        before = len(self.accesses)
        self.names |= dict.fromkeys((name, *changed(body)), Opaque())
        self.block(body)
        if len(self.accesses) > before:
            raise OutsideVocabularyError(f"line {self.line}: memory in a loop of unknown length")
        self.names |= dict.fromkeys((name, *changed(body)), Opaque())


def started(refusal: OutsideVocabularyError, role: Value) -> Started:
    """A role and its arguments, as they stand in a call that starts several; or the refusal."""
    match role:
        case (Named(text=name), tuple() as arguments):
            return name, arguments
        case _:
            raise refusal


def _alike(roles: Sequence[Started]) -> tuple[int, int]:
    """How many roles from the first on are the same but for one argument, which counts them from
    0, and the place of that."""
    (name, first), *others = roles
    place, count = 0, 1
    for other, arguments in others:
        if other != name or len(arguments) != len(first):
            break
        differ = [i for i, a in enumerate(first) if a != arguments[i]]
        if len(differ) != 1 or (count > 1 and differ != [place]):
            break
        (at,) = differ
        if first[at] != Whole(ZERO) or arguments[at] != Whole(number(count)):
            break
        place, count = at, count + 1
    return place, count


def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function without layouts, in the words that plain functions have."""
    found = _Plain().visit(deepcopy(function))
    assert isinstance(found, ast.FunctionDef)
    return found


class _Plain(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name("tl" if node.id == "gl" else node.id, node.ctx), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [k for k in node.keywords if k.arg not in ("layout", "assert_trivial")]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        made = ast.Assign([node.target], node.value)
        return self.generic_visit(ast.copy_location(made, node))
