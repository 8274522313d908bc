"""How nodes are printed inside a kernel: one rule for each kind of node.

It gets a variable, in the scope where it belongs, if it is used more than once; else it is printed
into its user.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.emit import descriptor
from superopt.emit.dialect import Dialect
from superopt.emit.distance import converted
from superopt.emit.flagtree import lite
from superopt.emit.kernel import TRITON_DTYPES
from superopt.emit.number import is_pure
from superopt.emit.program import Frame
from superopt.emit.room import widened
from superopt.emit.scalar import CLOSED
from superopt.emit.scalar import FOLD_NEEDS
from superopt.emit.scalar import FOLDS
from superopt.emit.scalar import NEEDS
from superopt.emit.scalar import SCANS
from superopt.emit.scalar import TRITON
from superopt.emit.scalar import exact
from superopt.emit.scalar import integer_unit
from superopt.emit.scalar import numeral
from superopt.emit.scopes import Scopes
from superopt.emit.sides import side
from superopt.emit.value import Value
from superopt.errors import NotEmittable
from superopt.ugraph.contraction import MatrixProduct
from superopt.ugraph.contraction import factors
from superopt.ugraph.contraction import matrix_product
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.node import Best
from superopt.ugraph.node import Const
from superopt.ugraph.node import Hole
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
from superopt.ugraph.scalar import Fn
from superopt.ugraph.scalar import Kind
from superopt.ugraph.unseen import Unseen

MOST = 4  # an expression of more operations gets a variable
COMPARISONS = (Fn.LT, Fn.LE, Fn.EQ)
LOGIC = (Fn.AND, Fn.OR, Fn.NOT)


class Expressions(Scopes):
    """Prints nodes into the lines of a ``Frame``; what is already there is not printed again."""

    def __init__(self, frame: Frame, roots: Sequence[Node]) -> None:
        super().__init__(frame, roots)
        self._printing: list[int] = []  # inside how many walks the values in the making belong
        self.unseen: Unseen = {}  # where tensors that are loaded from here on are hidden

    def value(self, node: Node) -> Value:
        """``node`` as an expression of its own kind (floats in fp32)."""
        depth = self._depth(node)
        known = self._known(depth)
        if node not in known:
            hoisted = depth < (self._printing or [len(self._bodies)])[-1]
            self._printing.append(depth)
            value = self._print(node)
            self._printing.pop()
            named = isinstance(node, Reduce | Scan) or hoisted or value.weight > MOST
            if (
                (named or self._uses.get(node, 2) > 1)
                and not value.is_name
                and not value.is_literal
            ):
                value = self.assign(node, value)
            known[node] = value
        return known[node]

    def real(self, node: Node) -> Value:
        """``node`` as fp32."""
        if isinstance(node, Const):
            if exact(node.value):
                return Value(
                    numeral(node.value), (), Kind.REAL, not numeral(node.value).startswith("-")
                )
            return self._passed(node)
        if node.kind is not Kind.INT:
            return self.value(node)
        if is_pure(node):
            return self._passed(node)
        return converted(self, node)

    def loaded(self, node: Input) -> Value:
        """The tile of a tensor in its storage dtype; lanes that do not exist hold 0."""
        known = self._place(node)
        key = ("loaded", node)
        if key not in known:
            known[key] = self.assign(node, self._load(node), node.name)
        return known[key]

    def union(self, values: Sequence[Value]) -> tuple[str, ...]:
        """The tile dimensions of what ``values`` give together."""
        return tuple(a for a in self.frame.order if any(a in v.dims for v in values))

    def product(self, node: Reduce, onto: Value | None = None) -> Value | None:
        """A fold as a matrix product (added ``onto`` a tile of equal shape), or None."""
        found = matrix_product(node.fn, node.axis, node.arg, self.frame.order, self.frame.host)
        if found is None:
            return None
        dims = (found.row, found.column)
        left = self._operand(found, found.left, (found.row, node.axis), node.axis)
        right = self._operand(found, found.right, (node.axis, found.column), node.axis)
        self.frame.precise = True
        inside = onto is not None and onto.dims == dims and found.after is None
        third = f"{onto.text}, " if onto is not None and inside else ""
        text = f"tl.dot({left}, {right}, {third}input_precision=PRECISION)"
        value = Value(text, dims, Kind.REAL)
        if found.after is not None:
            text = f"{self.frame.along(self.real(found.after), dims)} * {value.text}"
            value = Value(text, dims, Kind.REAL, closed=False)
        if onto is None or inside:
            return value
        return Value(
            f"{self.frame.along(onto, dims)} + {value.text}", dims, Kind.REAL, closed=False
        )

    def _print(self, node: Node) -> Value:
        match node:
            case Map():
                if node.kind is Kind.REAL and is_pure(node):
                    return self._passed(node)
                return self._map(node)
            case Reduce():
                return self._fold(node)
            case Scan():
                return self._scan(node)
            case Best():
                return side(self, node)
            case Recur():
                raise NotEmittable(f"a recurrence along {node.axis!r} is read before its state")
            case State(carry=carry, old=old):
                when = "old" if old else "new"
                raise NotEmittable(
                    f"the {when} value of carry {carry!r} is not known where it is read"
                )
            case _:
                return self._leaf(node)

    def _leaf(self, node: Node) -> Value:
        match node:
            case Const():
                if node.kind is Kind.REAL:
                    return self.real(node)
                return Value(numeral(node.value, real=False), (), Kind.INT, node.value >= 0)
            case Named(name=name):
                self.frame.helpers[name.value] = None
                return Value(name.value, (), Kind.REAL)
            case Input():
                return self._converted(node)
            case Scalar(name=name, dtype=dtype):
                type_ = "fp32" if dtype == "fp32" else "i32"
                return Value(self.frame.scalar(node, type_, name), (), node.kind)
            case Size(axis=axis):
                return Value(self.frame.size(axis), (), Kind.INT)
            case Index(axis=axis):
                return self.frame.at(axis)
            case Hole() | _:
                raise NotEmittable(f"{type(node).__name__} is no value of a kernel")

    def _passed(self, node: Node) -> Value:
        """A scalar that the launcher computes in double precision and passes as fp32."""
        match node:
            case Map(fn=fn, args=(Size(axis=axis),)):
                wish = f"{fn.symbol}_{self.frame.stem(axis)}"
            case Size(axis=axis):
                wish = f"{self.frame.stem(axis)}_count"
            case _:
                wish = "factor"
        return Value(self.frame.scalar(node, "fp32", wish), (), Kind.REAL)

    def _converted(self, node: Input) -> Value:
        value = self.loaded(node)
        wanted = {Kind.REAL: "fp32", Kind.INT: "int32"}.get(node.kind)
        if wanted is None or node.dtype in (wanted, "int64"):
            return value
        return Value(f"{value.text}.to({TRITON_DTYPES[wanted]})", value.dims, node.kind)

    def _load(self, node: Input) -> Value:
        frame = self.frame
        tensor = frame.tensor(node.name, node.order, node.dtype, written=False)
        dims = frame.dims(node.order)
        if tensor.described:
            return Value(descriptor.load(frame, tensor, dims), dims, node.kind)
        address = self.address(node, node.order, node.dtype, written=False)
        exist = [inside] if (inside := frame.mask(dims)) else []
        exist += [frame.along(self.value(m), dims) for m in self.unseen.get(node, ())]
        mask = f", mask={' & '.join(exist)}, other=0" if exist else ""
        if mask and tensor.dtype not in ("int8", "int16", "int32", "int64", "bool"):
            mask += ".0"
        if frame.dialect is Dialect.FLAGTREE and lite.ahead(node, frame.walked, dims):
            return Value(lite.load(f"{address}{mask}"), dims, node.kind)
        return Value(f"tl.load({address}{mask})", dims, node.kind)

    def address(
        self, at: Node, order: tuple[str, ...], dtype: str | None, written: bool, name: str = ""
    ) -> str:
        """Pointers to the tile of a tensor; what does not vary over the walk is made outside."""
        frame = self.frame
        tensor = frame.tensor(name or at.name, order, dtype, written)  # type: ignore[attr-defined]
        fixed = " + ".join([tensor.pointer, *frame.offset(tensor, walked=False)])
        moving = frame.offset(tensor, walked=True) if frame.walked in order else []
        if not moving:
            return fixed
        depth = max(frame.depth(a) for a in order if a != frame.walked) if len(order) > 1 else 0
        known, key = self._known(depth), ("address", tensor.pointer)
        if key not in known:
            known[key] = self._assigned(Value(fixed, (), Kind.INT), f"{tensor.name}_tile", depth)
        return " + ".join([known[key].text, *moving])

    def _map(self, node: Map) -> Value:
        fn = node.fn
        if fn in LOGIC:
            values = [self.value(a) for a in node.args]
        elif fn is Fn.WHERE:
            arms = [self._as(node.kind, a) for a in node.args[1:]]
            values = [self.value(node.args[0]), *arms]
        elif fn in COMPARISONS:
            whole = all(a.kind is Kind.INT for a in node.args)
            values = [self._as(Kind.INT if whole else Kind.REAL, a) for a in node.args]
        else:
            values = [self._as(node.kind, a) for a in node.args]
        if (at := widened(node)) is not None:
            text = f"tl.cast({values[at].text}, tl.int64)"
            values[at] = Value(text, values[at].dims, Kind.INT)
        if need := NEEDS.get(fn):
            self.frame.helpers[need] = None
        if fn in (Fn.EXP, Fn.SIGMOID):
            self.frame.helpers["LOG2E"] = None
        if fn is Fn.LOG:
            self.frame.helpers["LN2"] = None
        if isinstance(node.args[0], Named):
            values = self._constant_second(fn, values)
        dims = self.union(values)
        if fn is Fn.DIV and node.args[1].axes and (below := values[1]).dims != dims:
            # One division for all that have a denominator in common, then no more than a product.
            fn, text = Fn.MUL, f"1.0 / {below.operand}"
            values[1] = Value(text, below.dims, below.kind, False, below.weight)
        bare = fn in CLOSED and fn is not Fn.EXP
        texts = [
            v.text if bare and v.dims in ((), dims) else self.frame.along(v, dims) for v in values
        ]
        weight = 1 + sum(v.weight for v in values)
        return Value(TRITON[fn].format(*texts), dims, node.kind, fn in CLOSED, weight)

    def _constant_second(self, fn: Fn, values: list[Value]) -> list[Value]:
        """Arguments of which the first is a named constant, so that Python's operators find the
        method of a tensor: a constexpr's own takes no tensor in the interpreter."""
        first, *rest = values
        if len(rest) == 1 and fn in (Fn.ADD, Fn.MUL, Fn.EQ):
            return [*rest, first]
        return [Value(f"tl.full([], {first.text}, tl.float32)", (), first.kind), *rest]

    def _as(self, kind: Kind, node: Node) -> Value:
        return self.real(node) if kind is Kind.REAL else self.value(node)

    def _fold(self, node: Reduce) -> Value:
        if self._alone(node.axis):
            return self._folded(node)
        if node.axis not in self.frame.order:
            raise NotEmittable(f"{node.fn.symbol} over {node.axis!r}, which is no tile dimension")
        if (product := self.product(node)) is not None:
            return product
        value = self._folded(node)
        text = FOLDS[node.fn].format(value.text, value.dims.index(node.axis))
        return Value(text, tuple(d for d in value.dims if d != node.axis), node.kind)

    def _scan(self, node: Scan) -> Value:
        alone = self._alone(node.axis)
        if not alone and node.axis not in self.frame.order:
            raise NotEmittable(f"a scan along {node.axis!r}, which is no tile dimension")
        value = here = self._folded(node)
        if not alone:
            text = SCANS[node.fn].format(value.text, value.dims.index(node.axis))
            here = Value(text, value.dims, node.kind)
        before = self.running(node)
        if before is None:
            return here
        text = TRITON[node.fn].format(self.value(before).along(here.dims), here.text)
        return Value(text, here.dims, node.kind, closed=False)

    def _alone(self, axis: str) -> bool:
        """Whether a walk has one position of ``axis`` at a time, which is all that there is to
        fold."""
        return axis not in self.frame.order and axis in self.frame.walks

    def stepped(self, node: Recur) -> Value:
        """The state of a recurrence after the position in hand; no variable has it."""
        before = self.running(node)
        if before is None or not self._alone(node.axis):
            raise NotEmittable(f"a recurrence along {node.axis!r} outside of a walk of positions")
        after = step(node, before)
        return self._print(after) if isinstance(after, Map | Reduce) else self.value(after)

    def _folded(self, node: Reduce | Scan) -> Value:
        """What is folded, with the unit at the lanes that do not exist."""
        value = self._as(node.kind, node.arg)
        if node.kind is Kind.INT:  # a sum of many needs the room
            value = Value(f"{value.operand}.to(tl.int64)", value.dims, Kind.INT)
        if not _vanishes(node.fn, node.axis, node.arg):
            unit = numeral(node.fn.unit) if node.kind is Kind.REAL else integer_unit(node.fn)
            value = self._masked(node.arg, value, node.axis, unit)
        if need := FOLD_NEEDS.get(node.fn):
            self.frame.helpers[need] = None
        return value

    def _masked(self, node: Node, value: Value, axis: str, unit: str) -> Value:
        """``node`` with ``unit`` at the lanes of ``axis`` that do not exist."""
        if self.frame.full(axis):
            return value
        depth = max(self._depth(node), self.frame.depth(axis))
        known = self._known(depth)
        key = ("masked", node, axis, unit)
        if key not in known:
            inside = self.frame.along(self.frame.inside(axis), value.dims)
            text = f"tl.where({inside}, {value.text}, {unit})"
            known[key] = Value(text, value.dims, value.kind)
            if self._uses.get(node, 2) > 1:
                known[key] = self._assigned(known[key], f"{self._wish(node)}_in", depth)
        return known[key]

    def _operand(self, product: MatrixProduct, node: Node, dims: tuple[str, str], axis: str) -> str:
        """One operand of a matrix product, rounded to the dtype of the product; lanes of the
        folded axis that do not exist are 0."""
        wanted = operand_dtype(product)
        if isinstance(node, Input):
            value = self.loaded(node)
            same = node.dtype == wanted
        else:
            value = self.real(node)
            if not _vanishes(Fn.ADD, axis, node):
                value = self._masked(node, value, axis, "0.0")
            same = False
        text = value.text
        if not same:
            dtype = TRITON_DTYPES[wanted] if wanted else self._case_dtype(product)
            text = f"{value.operand}.to({dtype})"
        return text if value.dims == dims else f"tl.trans({text})"

    def _case_dtype(self, product: MatrixProduct) -> str:
        """The dtype of the case, as a tensor operand has it, else as any tensor of the kernel."""
        for operand in (product.left, product.right):
            if isinstance(operand, Input) and operand.dtype is None:
                return f"{self.loaded(operand).text}.dtype"
        return self.frame.case_dtype()


def _vanishes(fold: Fn, axis: str, term: Node) -> bool:
    """Whether ``term`` is the unit of a sum at lanes of ``axis`` that do not exist, because every
    factor is a tensor with that axis, whose loads give 0 there."""
    return fold is Fn.ADD and all(isinstance(f, Input) and axis in f.order for f in factors(term))
