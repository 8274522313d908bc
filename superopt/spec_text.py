"""A program as the text of a spec, which is traced to the same nodes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from fractions import Fraction

from superopt.case import Case
from superopt.errors import NotEmittable
from superopt.ugraph.grids import BY_NAME
from superopt.ugraph.levels import Program
from superopt.ugraph.node import ZERO
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Named
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scalar
from superopt.ugraph.node import Scan
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.recurrence import step
from superopt.ugraph.scalar import INF
from superopt.ugraph.scalar import Constant
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

_INFIX = {  # sign, and how tightly it binds in Python
    Fn.EQ: ("==", 1),
    Fn.LT: ("<", 1),
    Fn.LE: ("<=", 1),
    Fn.OR: ("|", 2),
    Fn.AND: ("&", 3),
    Fn.ADD: ("+", 4),
    Fn.SUB: ("-", 4),
    Fn.MUL: ("*", 5),
    Fn.DIV: ("/", 5),
}
_PREFIX, _ATOM = 6, 7
_CALLED = {Fn.MAX: "maximum", Fn.MIN: "minimum"}
_METHOD = {Fn.ADD: "sum", Fn.MUL: "prod", Fn.MAX: "max", Fn.MIN: "min"}
_NAMED_ROUNDINGS = {fn: name for name, fn in BY_NAME.items()}
_LONG = 60  # letters of a term that gets a name of its own


def spec_text(program: Program, cases: Sequence[str], dtype: str, about: str, what: str) -> str:
    """A file with one spec, ``program``.

    ``cases``: texts of ``Case``. ``about``: the file's docstring; ``what``: the function's.

    Raises:
        NotEmittable: the language of specs has no word for some node.
    """
    body = _Body(program)
    lines = [f"    {line}" for line in body.lines()]
    values = ", ".join(body.text(s.value) for s in program.outputs)
    params = [f"    {p.name}: {_annotation(p)}," for p in program.params]
    outputs = [_tensor(s.order, s.dtype) for s in program.outputs]
    several = f"tuple[{', '.join(outputs)}]" if len(outputs) > 1 else outputs[0]
    rules = [w for w in ("Segments", "Uniform") if any(f"{w}(" in case for case in cases)]
    used = {"Case", "Tensor", "spec", *rules, *body.names, *_scalars(program)}
    names = sorted(used, key=lambda name: (name[0].islower(), name))
    fractions = ["from fractions import Fraction"] if body.fractions else []
    head = [f'"""{about}"""', "", *fractions, "from typing import Annotated", ""]
    return "\n".join(
        [
            *head,
            *(f"from superopt import {name}" for name in names),
            "",
            "CASES = [",
            *(f"    {case}," for case in cases),
            "]",
            "",
            "",
            f'@spec(cases=CASES, dtype="{dtype}")',
            f"def {program.name}(",
            *params,
            f") -> {several}:",
            f'    """{what}"""',
            *lines,
            f"    return {values}",
            "",
        ]
    )


def _scalars(program: Program) -> list[str]:
    return ["Scalar"] if any(isinstance(p, Scalar) for p in program.params) else []


def case_texts(
    cases: Sequence[Case],
    program: Program,
    dtype: str,
    sizes: Mapping[str, int | str],
    more: Sequence[str] = (),
) -> list[str]:
    """``cases`` for ``program``, the same one once. ``dtype``: of the spec; ``sizes``: of axes that
    a case does not have; ``more``: arguments that every case gets."""
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    names = {p.name for p in program.params}
    found: dict[str, str] = {}
    for case in cases:
        words = [f"{a}={sizes[a] if a in sizes else case.sizes[a]}" for a in axes]
        words += [f"{n}={v!r}" for n, v in case.scalars.items() if n in names]
        words += [f"{n}={rule!r}" for n, rule in case.integers.items() if n in names]
        words += more
        words += [f'dtype="{case.dtype}"'] if case.dtype != dtype else []
        words += ["tf32=True"] if case.tf32 else []
        text = ", ".join(words)
        found.setdefault(text, f'Case("{case.name}", {text})')
    return list(found.values())


def _annotation(param: Input | Scalar) -> str:
    if isinstance(param, Scalar):
        return "Scalar" if param.dtype == "fp32" else f'Annotated[Scalar, "{param.dtype}"]'
    return _tensor(param.order, param.dtype)


def _tensor(order: Iterable[str], dtype: str | None) -> str:
    stored = "" if dtype is None else f', "{dtype}"'
    return f'Annotated[Tensor, "{" ".join(order)}"{stored}]'


class _Body:
    """The lines of a function: folds, and what is read more than once, have names.

    ``names``: the words of the language that are used; ``fractions``: whether exact quotients are.
    """

    def __init__(self, program: Program) -> None:
        self.names: set[str] = set()
        self.fractions = False
        self.known: dict[Node, str] = {}
        self.roots = [s.value for s in program.outputs]
        taken = {p.name for p in program.params} | {a for n in topo(self.roots) for a in n.axes}
        self.free = _free(taken)

    def lines(self) -> Iterator[str]:
        """The assignments in order; afterwards their names stand for what they hold."""
        reads = Counter(self.roots)
        for node in topo(self.roots):
            reads.update(children(node))
        for node in topo(self.roots):
            if not children(node):
                continue
            text = self.text(node)
            if isinstance(node, Reduce | Scan | Recur) or reads[node] > 1 or len(text) > _LONG:
                name = next(self.free)
                self.known[node] = name
                yield f"{name} = {text}"

    def text(self, node: Node) -> str:
        """The expression of ``node``."""
        return self._text(node)[0]

    def _closed(self, node: Node, least: int) -> str:
        text, binding = self._text(node)
        return text if binding >= least else f"({text})"

    def _call(self, name: str, args: Iterable[str]) -> tuple[str, int]:
        self.names.add(name)
        return f"{name}({', '.join(args)})", _ATOM

    def _text(self, node: Node) -> tuple[str, int]:
        """The expression, and how tightly its outermost operator binds."""
        if node in self.known:
            return self.known[node], _ATOM
        match node:
            case Input(name=name) | Scalar(name=name):
                return name, _ATOM
            case Const(value=value):
                return self._number(value)
            case Named(name=Constant.PI):
                self.names.add("pi")
                return "pi", _ATOM
            case Index(axis=axis):
                return self._call("index", [f'"{axis}"'])
            case Size(axis=axis):
                return self._call("size", [f'"{axis}"'])
            case Reduce(fn=fn, axis=axis, arg=arg):
                return f'{self._closed(arg, _ATOM)}.{_METHOD[fn]}("{axis}")', _ATOM
            case Scan(fn=fn, axis=axis, arg=arg):
                return f'{self._closed(arg, _ATOM)}.cum{_METHOD[fn]}("{axis}")', _ATOM
            case Recur():
                return self._recurrence(node)
            case Map():
                return self._map(node)
        raise NotEmittable(f"a spec has no word for {type(node).__name__}")

    def _recurrence(self, node: Recur) -> tuple[str, int]:
        state = State("state", node.state, old=True)
        self.known[state] = name = next(self.free)
        after = self.text(step(node, state))
        del self.known[state]
        words = [f'"{node.axis}"', f'"{" ".join(node.state)}"', f"lambda {name}: {after}"]
        words += [self.text(node.first)] if node.first is not ZERO else []
        text, binding = self._call("recur", words)
        return self._call("last", [text, f'"{node.axis}"']) if node.last else (text, binding)

    def _map(self, node: Map) -> tuple[str, int]:
        match node:
            case Map(fn=Fn.MUL, args=(Const(value=-1), a)) if not isinstance(a, Const):
                return f"-{self._closed(a, _PREFIX)}", _PREFIX
            case Map(fn=Fn.NOT, args=(a,)):
                return f"~{self._closed(a, _PREFIX)}", _PREFIX
            case Map(fn=fn, args=(Const(), Const())) if fn in _INFIX:
                raise NotEmittable("Python would compute with two numbers itself")
            case Map(fn=fn, args=(a, b)) if fn in _INFIX:
                sign, binding = _INFIX[fn]
                left = binding + (binding == 1)
                return f"{self._closed(a, left)} {sign} {self._closed(b, binding + 1)}", binding
            case Map(fn=fn, args=(a,)) if fn in _NAMED_ROUNDINGS:
                return self._call("round_to", [self.text(a), f'"{_NAMED_ROUNDINGS[fn]}"'])
            case Map(fn=fn, args=args):
                return self._call(_CALLED.get(fn, fn.symbol), map(self.text, args))

    def _number(self, value: Fraction | float) -> tuple[str, int]:
        if not isinstance(value, Fraction):
            self.names.add("inf")
            return ("inf", _ATOM) if value == INF else ("-inf", _PREFIX)
        binding = _ATOM if value >= 0 else _PREFIX
        if value.denominator == 1:
            return str(value.numerator), binding
        if Fraction(repr(float(value))) == value:
            return repr(float(value)), binding
        self.fractions = True
        return f"Fraction({value.numerator}, {value.denominator})", _ATOM


def _free(taken: set[str]) -> Iterator[str]:
    letters = (*"abcdefghijkmnpqrstuvwxyz", *(f"t{i}" for i in range(10_000)))  # no l, no o
    return (name for name in letters if name not in taken)
