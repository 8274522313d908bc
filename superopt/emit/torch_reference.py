"""The spec as plain torch: what a printed kernel is compared with, in any precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from superopt.emit.host import HostNames
from superopt.emit.host import parameters
from superopt.emit.host import signature_axes
from superopt.emit.names import Namer
from superopt.emit.number import is_pure
from superopt.emit.number import python_number
from superopt.emit.scalar import CLOSED
from superopt.emit.scalar import TORCH
from superopt.emit.scalar import numeral
from superopt.emit.value import Value
from superopt.emit.writer import Writer
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.ugraph.contraction import factors
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Index
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Recur
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import Scan
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST = 3  # an expression of more operations gets a variable


def print_reference(program: Program, names: HostNames) -> str:
    """The function ``reference``: same parameters, results in the precision it computed in."""
    return _Reference(program, names).text()


class _Reference:
    def __init__(self, program: Program, names: HostNames) -> None:
        self.program, self.host = program, names
        self.order = signature_axes(program)
        self.names = Namer()
        for name in names.all():
            self.names.fresh(name)
        self.out = Writer()
        self.known: dict[Node, Value] = {}
        self.count = 0
        self.uses: dict[Node, int] = {}
        for node in topo([s.value for s in program.outputs]):
            for child in _children(node):
                self.uses[child] = self.uses.get(child, 0) + 1

    def text(self) -> str:
        out = self.out
        tensors = [p for p in self.program.params if isinstance(p, Input)]
        public = ", ".join(parameters(self.program, self.host))
        out.line()
        out.line()
        with out.block(f"def reference({public}, *, dtype=None):"):
            out.line(f'"""{self.program.name} in plain torch, unfused.')
            out.line()
            out.line(
                "Computes in `dtype` (default: float64 for such inputs, else float32) and returns"
            )
            out.line("the results in it.")
            out.line('"""')
            floats = [self.host.tensors[p.name] for p in tensors if p.kind is Kind.REAL]
            double = f"torch.float64 in {tuple_text(f'{t}.dtype' for t in floats)}"
            out.line("real = dtype or torch.float32")
            if floats:
                with out.block(f"if dtype is None and {double}:"):
                    out.line("real = torch.float64")
            out.line(f"device = {self.host.tensors[tensors[0].name]}.device")
            self._sizes(tensors)
            for tensor in tensors:
                self._input(tensor)
            results = [self._result(s) for s in self.program.outputs]
            out.line(f"return {', '.join(results)}")
        return out.text()

    def _sizes(self, tensors: Sequence[Input]) -> None:
        fixed = dict(self.program.fixed)
        for axis, size in fixed.items():
            self.out.line(f"{self.host.sizes[axis]} = {size}")
        for axis in self.order:
            if axis in fixed:
                continue
            tensor = next(t for t in tensors if axis in t.order)
            name = self.host.tensors[tensor.name]
            self.out.line(f"{self.host.sizes[axis]} = {name}.shape[{tensor.order.index(axis)}]")

    def _input(self, node: Input) -> None:
        name = self.host.tensors[node.name]
        dims = tuple(a for a in self.order if a in node.order)
        wanted = {Kind.REAL: "real", Kind.INT: "torch.int64", Kind.BOOL: "torch.bool"}[node.kind]
        order = "".join(f", {node.order.index(a)}" for a in dims)[2:]
        turn = "" if dims == node.order else f".permute({order})"
        self.out.line(f"{name} = {name}.to({wanted}){turn}")
        self.known[node] = Value(name, dims, node.kind)

    def _result(self, store: Store) -> str:
        value = self.real(store.value) if store.value.kind is Kind.REAL else self.value(store.value)
        dims = tuple(a for a in self.order if a in store.order)
        text = value.along(dims) if value.dims else f"torch.as_tensor({value.text}, device=device)"
        if value.kind is Kind.REAL and not value.dims:
            text = f"torch.as_tensor({value.text}, dtype=real, device=device)"
        shape = ", ".join(self.host.sizes[a] for a in dims)
        turn = (
            ""
            if dims == store.order
            else f".permute({', '.join(str(dims.index(a)) for a in store.order)})"
        )
        name = self.names.fresh(store.name)
        self.out.line(f"{name} = {text}.expand({shape}){turn}" if dims else f"{name} = {text}")
        return name

    # Values: a scalar that no tensor enters is a Python number, all else a tensor.

    def value(self, node: Node) -> Value:
        if node not in self.known:
            value = self._print(node)
            long = (
                value.weight > MOST
                or self.uses.get(node, 0) > 1
                or isinstance(node, Reduce | Scan | Recur)
            )
            if long and not value.is_name and not isinstance(node, Const):
                self.count += 1
                wish = node.fn.symbol if isinstance(node, Map | Reduce) else "value"
                name = self.names.fresh(f"{'sum' if wish == 'add' else wish}_{self.count}")
                self.out.line(f"{name} = {value.text}")
                value = Value(name, value.dims, value.kind)
            self.known[node] = value
        return self.known[node]

    def real(self, node: Node) -> Value:
        if isinstance(node, Const):
            return Value(
                numeral(node.value), (), Kind.REAL, not numeral(node.value).startswith("-")
            )
        value = self.value(node)
        if node.kind is Kind.INT and not is_pure(node):
            return Value(f"{value.operand}.to(real)", value.dims, Kind.REAL, weight=value.weight)
        return value

    def _print(self, node: Node) -> Value:
        if is_pure(node):
            text = python_number(node, self.host.sizes, self.host.scalars)
            return Value(text, (), node.kind, text.isidentifier())
        match node:
            case Index(axis=axis):
                return Value(
                    f"torch.arange({self.host.sizes[axis]}, device=device)", (axis,), Kind.INT
                )
            case Map():
                return self._map(node)
            case Reduce():
                return self._fold(node)
            case Best():
                return self._taken(node) if node.taken else self._best(node)
            case Recur():
                return self._recurrence(node)
            case Scan(fn=fn):
                value = self._as(node.kind, node.arg)
                text = SCANS[fn].format(value.operand, value.dims.index(node.axis))
                return Value(text, value.dims, node.kind)
            case _:
                raise NotEmittable(f"{type(node).__name__} is no part of a spec")

    def _map(self, node: Map) -> Value:
        args = node.args
        if node.fn is Fn.WHERE:
            values = [self.value(args[0]), *(self._as(node.kind, a) for a in args[1:])]
        elif node.fn in (Fn.AND, Fn.OR, Fn.NOT):
            values = [self.value(a) for a in args]
        elif node.fn in (Fn.LT, Fn.LE, Fn.EQ):
            kind = Kind.INT if all(a.kind is Kind.INT for a in args) else Kind.REAL
            values = [self._as(kind, a) for a in args]
        else:
            values = [self._as(node.kind, a) for a in args]
        dims = tuple(a for a in self.order if any(a in v.dims for v in values))
        bare = node.fn in CLOSED
        texts = [v.text if bare and v.dims in ((), dims) else v.along(dims) for v in values]
        if node.fn in (Fn.WHERE, Fn.MAX, Fn.MIN, Fn.AND, Fn.OR):
            texts = [self._tensor(a, v, t) for a, v, t in zip(args, values, texts, strict=True)]
        closed = node.fn in CLOSED or node.fn is Fn.LOG
        weight = 1 + sum(v.weight for v in values)
        return Value(TORCH[node.fn].format(*texts), dims, node.kind, closed, weight)

    def _as(self, kind: Kind, node: Node) -> Value:
        return self.real(node) if kind is Kind.REAL else self.value(node)

    def _tensor(self, node: Node, value: Value, text: str) -> str:
        """Functions that take tensors only get Python numbers as tensors."""
        if not is_pure(node):
            return text
        dtype = ", dtype=real" if value.kind is Kind.REAL else ""
        return f"torch.tensor({value.text}{dtype}, device=device)"

    def _best(self, node: Best) -> Value:
        """Both halves of a list, the values and their positions, are named at once."""
        values, _ = node.args  # those of a spec are one value and its positions
        value = self.real(values)
        dims = tuple(a for a in self.order if a in node.axes)
        names = [self.names.fresh(wish) for wish in (f"best_{node.into}", f"place_{node.into}")]
        rest = [d for d in value.dims if d != node.axis]
        listed = [*rest, node.into]
        back = f".permute({', '.join(str(listed.index(d)) for d in dims)})"
        turn = "" if list(dims) == listed else back
        call = f"_best({value.text}, {value.dims.index(node.axis)}, {self.host.sizes[node.into]})"
        self.out.line(f"{', '.join(names)} = {call}")
        for at, name in enumerate(names):
            half = replace(node, at=bool(at))
            self.known[half] = Value(f"{name}{turn}", dims, half.kind, bool(turn))
        return self.known[node]

    def _taken(self, node: Best) -> Value:
        """What stands at the places of a list."""
        rest = tuple(a for a in self.order if a in node.axes and a != node.into)
        (payload,) = node.payloads
        sides = [(self._as(node.kind, payload), node.axis)]
        sides.append((self.value(node.list_of(at=True)), node.into))
        texts = []
        for value, last in sides:
            text = value.operand
            if value.dims[-1] != last:
                text = f"{text}.movedim({value.dims.index(last)}, -1)"
            dims = tuple(d for d in value.dims if d != last)
            texts.append(Value(text, (*dims, last), value.kind).along((*rest, last)))
        dims, have = tuple(a for a in self.order if a in node.axes), (*rest, node.into)
        turn = f".permute({', '.join(str(have.index(d)) for d in dims)})" if dims != have else ""
        return Value(f"_taken({', '.join(texts)}){turn}", dims, node.kind)

    def _recurrence(self, node: Recur) -> Value:
        """The states one after another; positions are the first dimension while they are made."""
        dims = tuple(a for a in self.order if a in node.axes)
        state = tuple(a for a in self.order if a in node.state)
        keep, add, *pairs = (self._per_step(arg, (node.axis, *state)) for arg in node.args)
        shape = tuple_text([self.host.sizes[a] for a in (node.axis, *state)])
        parts = [shape, self._per_step(node.first, state), keep, add]
        for names, out, into in zip(node.along, pairs[::2], pairs[1::2], strict=True):
            places = tuple_text([str(state.index(a)) for a in names])
            parts.append(tuple_text([places, out, into]))
        text = f"_recurrence({', '.join(parts)})"
        if node.last:
            return Value(f"{text}[-1]", state, node.kind)
        turn = f".movedim(0, {dims.index(node.axis)})" if dims[0] != node.axis else ""
        return Value(f"torch.stack({text})[1:]{turn}", dims, node.kind)

    def _per_step(self, arg: Node, order: tuple[str, ...]) -> str:
        """A tensor with a dimension for each of ``order``, of length 1 where ``arg`` lacks it."""
        value = self.real(arg)
        text = self._tensor(arg, value, value.operand)
        turned = [value.dims.index(a) for a in order if a in value.dims]
        if turned != sorted(turned):
            text = f"{text}.permute({', '.join(map(str, turned))})"
        if len(turned) == len(order):
            return text
        return f"{text}[{', '.join(':' if a in value.dims else 'None' for a in order)}]"

    def _fold(self, node: Reduce) -> Value:
        dims = tuple(a for a in self.order if a in node.axes)
        parts = factors(node.arg)
        tensors = [f for f in parts if not is_pure(f)]
        if node.fn is Fn.ADD and node.kind is Kind.REAL and len(tensors) > 1:
            values = [self.real(f) for f in tensors]
            letter = dict(zip(self.order, LETTERS, strict=False))
            sides = ",".join("".join(letter[d] for d in v.dims) for v in values)
            result = "".join(letter[d] for d in dims)
            listed = ", ".join(v.text for v in values)
            text = f'torch.einsum("{sides}->{result}", {listed})'
            numbers = [self.real(f).operand for f in parts if is_pure(f)]
            return Value(" * ".join([*numbers, text]), dims, node.kind, not numbers)
        value = self._as(node.kind, node.arg)
        dim = value.dims.index(node.axis)
        method = {Fn.ADD: "sum", Fn.MUL: "prod", Fn.MAX: "amax", Fn.MIN: "amin"}[node.fn]
        if node.fn in (Fn.ADD, Fn.MUL):
            return Value(f"{value.operand}.{method}({dim})", dims, node.kind)
        unit = numeral(node.fn.unit)
        text = f'_fold({value.text}, {dim}, "{method}", {unit})'
        return Value(text, dims, node.kind)


SCANS = {
    Fn.ADD: "{0}.cumsum({1})",
    Fn.MUL: "{0}.cumprod({1})",
    Fn.MAX: "{0}.cummax({1}).values",
    Fn.MIN: "{0}.cummin({1}).values",
}
EXTREME = '''

def _fold(value, dim, method, unit):
    """An extremum along a dimension; of nothing it is the unit."""
    if value.shape[dim] == 0:
        return value.sum(dim) + unit
    return getattr(value, method)(dim)

'''
BEST = '''

def _best(value, dim, count):
    """The largest values along a dimension (then the last one) and their positions; of equal ones
    the first. What is missing is -inf, at the end; so is all beside a NaN, which all values are."""
    value = value.movedim(dim, -1)
    end = value.shape[-1]
    lost = value.isnan().any(-1, keepdim=True)
    least = value.new_full((*value.shape[:-1], max(0, count - end)), -math.inf)
    found, place = torch.cat([value, least], -1).sort(dim=-1, descending=True, stable=True)
    found, place = found[..., :count], place[..., :count].clamp(max=end)
    return torch.where(lost, math.nan, found), torch.where(lost, end, place)

'''
TAKEN = '''

def _taken(value, place):
    """What stands at places of the last dimension; 0 at its end."""
    value = torch.cat([value, value.new_zeros((*value.shape[:-1], 1))], -1)
    rest = torch.broadcast_shapes(value.shape[:-1], place.shape[:-1])
    return value.expand(*rest, -1).gather(-1, place.expand(*rest, -1))

'''
STEPS = '''

def _recurrence(shape, first, keep, add, *sums):
    """The state before any position and after each one; positions are the first dimension. A step
    is keep * state + add, and out * (into * state).sum(dims) of each of the sums."""
    keep, add = keep.expand(shape), add.expand(shape)
    sums = [(dims, out.expand(shape), into.expand(shape)) for dims, out, into in sums]
    states = [first.expand(shape[1:])]
    for at in range(shape[0]):
        after = keep[at] * states[-1] + add[at]
        for dims, out, into in sums:
            after = after + out[at] * (into[at] * states[-1]).sum(dims, keepdim=True)
        states.append(after)
    return states

'''
ROUNDED = '''

def _rounded(x, bits, least, lowest, largest):
    """x rounded to the nearest number of a format; infinities stay."""
    x = torch.as_tensor(x)
    finite = torch.nan_to_num(x, 0.0, 0.0, 0.0)
    step = torch.ldexp(torch.ones_like(x), (torch.frexp(finite)[1] - 1).clamp(min=least) - bits)
    near = ((finite / step).round() * step).clamp(lowest, largest)
    return torch.where(torch.isfinite(x), near, x)

'''
# By name, in the order in which a file has those that it calls.
FUNCTIONS = {
    "_fold": EXTREME,
    "_rounded": ROUNDED,
    "_best": BEST,
    "_taken": TAKEN,
    "_recurrence": STEPS,
}


def _children(node: Node) -> tuple[Node, ...]:
    """Direct arguments; the factors of a sum of products are arguments of the sum."""
    match node:
        case Reduce(fn=Fn.ADD, arg=arg) if node.kind is Kind.REAL:
            return tuple(dict.fromkeys(factors(arg)))
        case Reduce(arg=arg) | Scan(arg=arg):
            return (arg,)
        case Map() | Best() | Recur():
            return tuple(dict.fromkeys(children(node)))
        case _:
            return ()
