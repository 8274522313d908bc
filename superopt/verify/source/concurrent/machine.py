"""Executes the text of a file with roles: its launcher as it stands, roles as generators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Generator
from functools import lru_cache
from types import CodeType
from types import GeneratorType
from typing import Any

from superopt.ugraph.domain import Domain
from superopt.verify.source.concurrent.barriers import History
from superopt.verify.source.concurrent.explore import Explored
from superopt.verify.source.concurrent.explore import every_order
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.concurrent.tle import TleRoles
from superopt.verify.source.concurrent.vocabulary import Described
from superopt.verify.source.concurrent.vocabulary import Roles
from superopt.verify.source.concurrent.vocabulary import steps_of
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import roles_of
from superopt.verify.source.machine import Kernel
from superopt.verify.source.machine import Machine
from superopt.verify.source.machine import executable
from superopt.verify.source.machine import file_of
from superopt.verify.source.tle import imported
from superopt.verify.source.vocabulary import Strict

CLOCKS, ORDERS = "values with vector clocks", "every order at barriers"


class RolesMachine(Machine):
    """A machine for files with roles.

    ``explored``: the histories of the programs that were executed, with what was found;
    ``engines``: of a text with a fault, which engines see one, and what each says.
    """

    def __init__(self, text: KernelText, cells: Domain[Any]) -> None:
        self.explored: dict[History, Explored] = {}
        self.engines: dict[str, str] = {}
        super().__init__(text, cells)

    def _namespace(self) -> dict[str, Any]:
        names = super()._namespace()
        self.roles = self._roles()
        self.starting = roles_of(self.text.tree)
        gluon = Strict("gluon", jit=self._kernel)
        return {
            **names,
            **self.roles.namespace(),
            "gluon": gluon,
            "SharedDescriptor": self._described,
            "__call__": _call,
            "__named__": self.roles.named,
        }

    def _roles(self) -> Roles:
        return TleRoles(self.language) if imported(self.text) else Roles(self.language)

    def _jit(self, function: Callable[..., Any]) -> Kernel:
        starting = function.__name__ in self.starting
        return self._kernel(function) if starting else Kernel(self, function)

    def _kernel(self, function: Callable[..., Any]) -> Kernel:
        return RolesKernel(self, function)

    def _code(self) -> CodeType:
        return executable(self.text, _yielding)

    def _described(self, *arguments: Any) -> Described:
        self.host.descriptors += 1
        return Described(*arguments)

    def judge(self, run: Run) -> None:
        """Both engines' verdict on a program that was executed. Raises FaultError."""
        history = run.history
        if history not in self.explored:
            self.explored[history] = every_order(history)
        if wrong := self.explored[history].wrong:
            self.engines[ORDERS] = wrong
        if run.fault is not None:
            what, line = run.fault
            self.engines[CLOCKS] = f"{what} (line {line})"
        if self.engines:
            said = "; ".join(f"{engine}: {what}" for engine, what in self.engines.items())
            raise FaultError(said)


def machine_for(text: KernelText, cells: Domain[Any]) -> Machine:
    """A machine of the kind that a file needs."""
    return (RolesMachine if has_roles(text) else Machine)(text, cells)


@lru_cache(maxsize=64)
def has_roles(text: KernelText) -> bool:
    """Whether a file has functions with roles."""
    return bool(roles_of(text.tree))


class RolesKernel(Kernel):
    """A function under ``gluon.jit``."""

    def _program(self, arguments: dict[str, Any]) -> None:
        machine = self.machine
        assert isinstance(machine, RolesMachine)
        run = Run(machine.cells, machine.clock, file_of(machine.text))
        machine.roles.begin(run)
        try:
            run.program(steps_of(self.function(**arguments)))
        except FaultError:
            if run.fault is None:
                raise
            machine.engines[CLOCKS] = f"{run.fault[0]} (line {run.fault[1]})"
            raise FaultError(f"{CLOCKS}: {machine.engines[CLOCKS]}") from None
        finally:
            machine.roles.end()
        machine.judge(run)


def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Generator[Any, Any, Any]:
    """Every call of a role: what it calls may have to wait."""
    found = function(*arguments, **named)
    return (yield from found) if isinstance(found, GeneratorType) else found


def _yielding(tree: ast.Module) -> ast.Module:
    """The file with the calls of every function that starts or is a role as ``yield from``."""
    roles = roles_of(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in roles:
            node.body = [_Calls().visit(statement) for statement in node.body]
    return tree


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OTHERS = (*_COMPREHENSIONS, ast.Lambda, ast.FunctionDef, ast.Yield, ast.YieldFrom)


class _Calls(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        call = ast.Call(ast.Name("__call__", ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(ast.YieldFrom(call), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        allocates = isinstance(node.value, ast.Call) and "alloc" in ast.unparse(node.value.func)
        self.generic_visit(node)
        match node.targets:
            case [ast.Name(id=name)] if allocates:
                named = ast.Name("__named__", ast.Load())
                node.value = ast.Call(named, [node.value, ast.Constant(name)], [])
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Refuses what has another function in it, which could not wait for this one."""
        if isinstance(node, _OTHERS):
            raise OutsideVocabularyError(f"{type(node).__name__} in a role (line {node.lineno})")
        return super().generic_visit(node)
