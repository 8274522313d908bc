"""Reads a function that starts roles in the words of TLE.

Pipes, their slots and products under way are opaque, as barriers and tiles in shared memory are
elsewhere: which elements of global memory are touched does not depend on them.
"""

from __future__ import annotations

import ast

from superopt.verify.source.load import STARTS
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic import roles
from superopt.verify.source.symbolic.kernel import Kernel
from superopt.verify.source.symbolic.roles import Roles
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Value

OPAQUE = ("tle.gpu.alloc", "tle.gpu.wgmma", "tle.gpu.wgmma_wait", "tle.pipe")
OF_PIPES = (".writer", ".reader", ".acquire", ".commit", ".wait", ".release", ".reshape")


def reader(text: KernelText, function: str) -> type[Kernel]:
    """What reads ``function``."""
    return TleRoles if _in_tle(text, function) else roles.reader(text, function)


def starts_roles(text: KernelText, function: str) -> bool:
    """Whether ``function`` starts roles, in any words."""
    return issubclass(reader(text, function), Roles)


def _in_tle(text: KernelText, function: str) -> bool:
    """Whether ``function`` starts roles in the words of TLE."""
    calls = (n for n in ast.walk(text.kernels[function]) if isinstance(n, ast.Call))
    return any(ast.unparse(c.func) == STARTS for c in calls)


class TleRoles(Roles):
    """The reading of a function that starts roles, and of these."""

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for. Raises OutsideVocabularyError."""
        match node:
            case ast.Attribute(value=base) if self._of_a_slot(base):
                return Opaque()
            case _:
                return super().value(node)

    def _of_a_slot(self, node: ast.expr) -> bool:
        """Whether an attribute of ``node`` is a slot, or a tile in one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and self.names.get(node.id) == Opaque()

    def call(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        """What a call returns; loads and stores are kept."""
        match name, arguments:
            case "tle.gpu.warp_specialize", [tuple() as found, *_]:
                self._start([roles.started(self.outside(node), role) for role in found])
                return Named(name)
            case "tle.gpu.copy", [Descriptor() as source, Opaque(), tuple(), tuple() as at]:
                self._copied(False, source, at)
                return Named(name)
            case "tle.gpu.local_ptr", [Opaque()]:
                return Named(name)
            case "tl.load", [Named(text="tle.gpu.local_ptr")] if not keywords:
                return Opaque()
            case _ if name in OPAQUE or (name in OF_PIPES and arguments[0] == Opaque()):
                return Opaque()
            case _:
                return super().call(node, name, arguments, keywords)
