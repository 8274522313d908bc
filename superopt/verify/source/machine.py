"""Executes the text of a kernel file: the launcher as it stands, kernels program by program."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from collections.abc import Iterator
from itertools import product
from types import CodeType
from typing import Any

import numpy as np

from superopt.errors import SuperoptError
from superopt.syntax import parsed
from superopt.ugraph.domain import Domain
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.verify.source import tle
from superopt.verify.source.carried import AFTER
from superopt.verify.source.carried import BEFORE
from superopt.verify.source.carried import Watched
from superopt.verify.source.carried import after_body
from superopt.verify.source.carried import before_loop
from superopt.verify.source.choices import chosen
from superopt.verify.source.choices import joined
from superopt.verify.source.choices import negated
from superopt.verify.source.faults import FaultError
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.helpers import meant
from superopt.verify.source.helpers import meant_by_launcher
from superopt.verify.source.host import Descriptor
from superopt.verify.source.host import Host
from superopt.verify.source.host import Tensor
from superopt.verify.source.load import KernelText
from superopt.verify.source.memory import Clock
from superopt.verify.source.memory import Pointer
from superopt.verify.source.number import Mathematics
from superopt.verify.source.number import Real
from superopt.verify.source.number import divided
from superopt.verify.source.number import extreme
from superopt.verify.source.number import real
from superopt.verify.source.number import selected
from superopt.verify.source.tiles import INT64
from superopt.verify.source.tiles import as_tile
from superopt.verify.source.vocabulary import Constexpr
from superopt.verify.source.vocabulary import Grid
from superopt.verify.source.vocabulary import Vocabulary

MOST_PROGRAMS = 4096  # of one launch
EARLY = "launch_pdl"
OPTIONS = ("num_warps", "num_stages", "maxnreg", "num_ctas", EARLY)
_FOLDS = {
    "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)": Fn.MAX,
    "return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)": Fn.MIN,
    "return a * b": Fn.MUL,
    "return a + b": Fn.ADD,
}


class Machine:
    """One reading of one file over cells of one kind; every call starts from fresh memory.

    ``clock.launch`` counts the launches of all calls.
    """

    def __init__(self, text: KernelText, cells: Domain[Any]) -> None:
        self.text = text
        self.cells = cells
        self.clock = Clock()
        self.host = Host(cells, self.clock)
        self.language = Vocabulary(cells, self.clock)
        self.names = self._namespace()
        self._execute()
        for name, node in text.functions.items():
            if (meaning := meant_by_launcher(node)) is not None:
                self.names[name] = functools.partial(meaning, cells)
        known = {c.value: c for c in Constant}
        for name in text.constants:
            if name in known:
                self.names[name] = Constexpr(real(cells, known[name]))

    def _execute(self) -> None:
        """The text that ships is what is read. Raises OutsideVocabularyError."""
        code = self._code()
        try:
            exec(code, self.names)
        except SuperoptError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}{self._line(error)}"
            raise OutsideVocabularyError(said) from error

    def _code(self) -> CodeType:
        return executable(self.text)

    def _namespace(self) -> dict[str, Any]:
        cells = self.cells

        class Float(type):
            def __instancecheck__(cls, value: object) -> bool:
                return isinstance(value, Real)

            def __call__(cls, value: Any) -> Any:
                return real(cells, value)

        return {
            "__name__": "kernel_text",
            "__file__": self.text.name,
            "__literal__": functools.lru_cache(maxsize=None)(lambda digits: real(cells, digits)),
            BEFORE: before_loop,
            AFTER: after_body,
            "__divide__": lambda a, b: divided(_unwrapped(a), _unwrapped(b), cells),
            "float": Float("float", (), {}),
            "range": self.language.range,
            "__choose__": functools.partial(chosen, select=selected),
            "__and__": functools.partial(joined, Fn.AND),
            "__or__": functools.partial(joined, Fn.OR),
            "__not__": negated,
            "max": lambda *numbers: extreme(cells, Fn.MAX, numbers),
            "min": lambda *numbers: extreme(cells, Fn.MIN, numbers),
            "math": Mathematics(cells),
            "torch": self.host.torch(),
            "triton": self.host.triton(self._jit, Kernel),
            "tl": self.language.namespace(),
            **tle.namespace(self.language, self.text),
            "TensorDescriptor": self.host.described,
        }

    def _jit(self, function: Callable[..., Any]) -> Kernel:
        return Kernel(self, function)

    def call(self, function: str, arguments: tuple[Any, ...], **options: Any) -> Any:
        """Calls the launcher. What goes wrong in the text is a fault.

        Raises:
            FaultError: the text does what it must not, or refuses the arguments.
            OutsideVocabularyError: it uses what has no meaning here.
        """
        try:
            return self.names[function](*arguments, **options)
        except FaultError as error:
            what = f"{error.what}{self._line(error)}"
            raise FaultError(what, (*error.at, *self.where())) from error
        except SuperoptError as error:
            raise OutsideVocabularyError(f"{error}{self._line(error)}") from error
        except Exception as error:
            said = f"{type(error).__name__}: {error}{self._line(error)}"
            if isinstance(error, ValueError) and self._raised_by_text(error):
                raise FaultError(f"the text raises {said}", self.where()) from error
            raise OutsideVocabularyError(said) from error

    def _line(self, error: BaseException) -> str:
        lines = [n for file, n in _frames(error) if file == file_of(self.text)]
        return f" (line {lines[-1]})" if lines else ""

    def _raised_by_text(self, error: BaseException) -> bool:
        frames = list(_frames(error))
        return frames[-1][0] == file_of(self.text)

    def where(self) -> tuple[tuple[str, str], ...]:
        """The kernel and program in hand."""
        if self.clock.program < 0:
            return ()
        program = ", ".join(map(str, self.language.grid.at))
        return (("kernel", self.clock.kernel), ("program", program))


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    """File and line of every frame that an error went through, outermost first."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


class Kernel:
    """A function under ``triton.jit``: ``kernel[grid](...)`` runs all programs, one by one.

    ``fold``: which fold it is, if it combines two scalars.
    """

    def __init__(self, machine: Machine, function: Callable[..., Any]) -> None:
        self.machine = machine
        self.function = function
        self.name = function.__name__
        node = machine.text.kernels[self.name]
        self.fold = _folds(node)
        self.meaning = meant(node)
        self.types = {a.arg: a.annotation for a in node.args.args}

    def __call__(self, *arguments: Any) -> Any:
        """A call from another kernel."""
        if self.meaning is not None:
            return self.meaning(self.machine.language, *map(_unwrapped, arguments))
        return self.function(*arguments)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return functools.partial(self._launch, grid)

    def _launch(self, grid: Any, *arguments: Any, **named: Any) -> None:
        shape = tuple(map(int, grid))
        options = {name: named.pop(name) for name in OPTIONS if name in named}
        if any(int(value) < 1 for name, value in options.items() if name != EARLY):
            raise FaultError(f"{self.name} is launched with {options}")
        count = functools.reduce(lambda a, b: a * b, shape, 1)
        if not 0 < count <= MOST_PROGRAMS:
            raise FaultError(f"{self.name} is launched with {count} programs")
        bound = inspect.signature(self.function).bind(*arguments, **named)
        taken = {n: self._argument(n, value) for n, value in bound.arguments.items()}
        machine = self.machine
        machine.clock.begin(self.name, bool(options.get(EARLY, False)))
        for program, at in enumerate(_programs(shape)):
            machine.clock.enter(program)
            machine.language.grid = Grid(at, shape)
            self._program(taken)
            machine.clock.leave()

    def _program(self, arguments: dict[str, Any]) -> None:
        self.function(**arguments)

    def _argument(self, name: str, value: Any) -> Any:
        """What the compiler makes of an argument of a launch."""
        annotation = ast.unparse(a) if (a := self.types.get(name)) is not None else ""
        if annotation in ("tl.constexpr", "gl.constexpr"):
            return value
        if isinstance(value, Tensor):
            value.buffer.name = value.buffer.name or name.removesuffix("_ptr")
            return Pointer(value.buffer, np.zeros((), np.int64))
        if isinstance(value, Descriptor):
            return value
        if isinstance(value, bool) or not isinstance(value, int | Real):
            raise OutsideVocabularyError(f"an argument of type {type(value).__name__}")
        tile = as_tile(self.machine.cells, value)
        return tile.to(INT64) if annotation in ("tl.int64", "gl.int64") else tile


@functools.lru_cache(maxsize=1024)
def _folds(node: ast.FunctionDef) -> Fn | None:
    return _FOLDS.get(ast.unparse(node.body[-1]))


def _programs(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All programs; the first grid axis is the fastest."""
    for at in product(*(range(n) for n in reversed(shape))):
        yield tuple(reversed(at))


def _unwrapped(value: Any) -> Any:
    return value.value if isinstance(value, Constexpr) else value


def file_of(text: KernelText) -> str:
    """What the file is called in frames of its functions."""
    return f"<{text.name}>"


@functools.lru_cache(maxsize=16)
@functools.lru_cache(maxsize=64)
def executable(
    text: KernelText, also: Callable[[ast.Module], ast.Module] | None = None
) -> CodeType:
    """The file ready to be executed: floats and quotients by their digits, imports left out.

    ``also``: a further change of its syntax tree.
    """
    tree = parsed(text.text)
    tree.body = [node for node in tree.body if not _is_left_out(node)]
    tree = tree if also is None else also(tree)
    return compile(
        ast.fix_missing_locations(Watched().visit(_Exact().visit(tree))), file_of(text), "exec"
    )


def _is_left_out(node: ast.stmt) -> bool:
    match node:
        case ast.Import(names=names):
            return any(n.name.split(".")[0] in ("torch", "triton", "math") for n in names)
        case ast.ImportFrom(module=str(module)):
            return module.split(".")[0] in ("torch", "triton")
        case ast.Try(body=body, handlers=[ast.ExceptHandler(body=[ast.Raise()])]):
            return all(map(_is_left_out, body))  # a message in place of the module
        case _:
            return False


class _Exact(ast.NodeTransformer):
    """Numerals become what their digits say, and ``/`` is exact; the launcher's choices between
    two numbers are ``chosen``."""

    _compiled = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._compiled = bool(node.decorator_list)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if self._compiled:
            return node
        arms = (ast.Lambda(_no_arguments(), arm) for arm in (node.body, node.orelse))
        return ast.copy_location(_called("__choose__", _whole_condition(node.test), *arms), node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float):
            digits = ast.Constant(repr(node.value))
            return ast.copy_location(_called("__literal__", digits), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.copy_location(_called("__divide__", node.left, node.right), node)
        return node


def _whole_condition(node: ast.expr) -> ast.expr:
    """A condition without ``and``, ``or`` and ``not``, which would ask it for one truth value."""
    match node:
        case ast.BoolOp(op=op, values=values):
            name = "__and__" if isinstance(op, ast.And) else "__or__"
            return _called(name, *map(_whole_condition, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _called("__not__", _whole_condition(operand))
        case _:
            return node


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _called(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def flat(value: Any) -> tuple[Any, ...]:
    """One result or several, as several."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)
