"""The third level: which instructions the warps of one program execute, and when.

A ``ThreadGraph`` says how one kernel (a ``BlockGraph`` with its ``Config``) runs on one
multiprocessor. A **producer** warp copies tiles into shared memory, in order. Several **consumers**
(warpgroups) execute the same instructions on different rows: they split the tile of one grid axis,
or take tiles in turn. Every tile that crosses from the producer to the consumers goes through a
``Pipe``, a ring of slots. The body of a walk is a list of instructions (``Instr``), and a
``Schedule`` says when each is issued: its stage (how many steps of the loop after the first
instruction of the same iteration) and its order within a step.

Meaning: that of the block graph. Nothing here changes a value; a schedule only decides what is
in flight at the same time. What follows from the rest is derived where it is needed and not kept:
how many products are outstanding at a wait, slots and phases, copies of values that live longer
than a step, conversions of layouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from superopt.errors import IllTyped
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.node import Input
from superopt.ugraph.node import Map
from superopt.ugraph.node import Node
from superopt.ugraph.node import Reduce
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from superopt.ugraph.walk import children
from superopt.ugraph.walk import topo


class Op(Enum):
    """What kind of instruction it is.

    ``PRODUCT``: an asynchronous matrix product; its result is in registers, but only once a wait
    for it is over. ``COMPUTE``: an expression, pointwise or a fold over a tile axis, in registers.
    ``OPERAND``: an expression rounded to the dtype of a product, laid out as its left operand.
    """

    PRODUCT = "product"
    COMPUTE = "compute"
    OPERAND = "operand"


@dataclass(frozen=True)
class Use:
    """An instruction reads the result of instruction ``name`` from ``back`` iterations ago."""

    name: str
    back: int = 0


@dataclass(frozen=True)
class Instr:
    """One instruction of a body.

    ``value``: the node whose value it computes, in which other instructions of the body stand as
    their own nodes. ``carry``: the carry whose new value that is, if it is one. ``onto``: of a
    product, the result that it adds to and whose registers it takes; () if it starts from 0.
    """

    name: str
    op: Op
    value: Node
    carry: str = ""
    onto: Use | None = None


@dataclass(frozen=True)
class Place:
    """When something happens: ``stage`` steps of the loop after the step of its iteration, and at
    which place among all that happens in a step (instructions and waits share one order)."""

    stage: int
    order: int


@dataclass(frozen=True)
class Schedule:
    """When everything in a body happens; places by name, all orders different.

    ``places``: of each instruction, in the order of the body. ``waits``: when each product is
    awaited, in that order, too; behind it, its result may be read, and slots that it was the last
    to read are released. ``loads``: the order in which the producer fills the pipes in a step, with
    the stage of each. ``interval``, ``registers``: what a model expects: cycles between iterations,
    and registers a thread of a consumer (0: not asked). ``phase``: cycles between neighbouring
    consumers.
    """

    places: tuple[tuple[str, Place], ...]
    waits: tuple[tuple[str, Place], ...]
    loads: tuple[tuple[str, Place], ...]
    interval: int = 0
    registers: int = 0
    phase: int = 0

    @property
    def place(self) -> dict[str, Place]:
        """Places of instructions by name."""
        return dict(self.places)

    @property
    def wait(self) -> dict[str, Place]:
        """Places of waits by the product that is awaited."""
        return dict(self.waits)

    @property
    def stages(self) -> int:
        """How many iterations are in hand in one step."""
        return 1 + max((p.stage for _, p in (*self.places, *self.waits)), default=0)


@dataclass(frozen=True)
class Pipe:
    """A ring of ``capacity`` slots in shared memory between the producer and all consumers.

    Each slot holds one tile of each of ``tensors``. ``walk``: the axis along which new tiles come;
    empty if they come once for each tile of the grid, before the first instruction (then nothing is
    released unless the program is persistent).
    """

    name: str
    tensors: tuple[Input, ...]
    capacity: int = 1
    walk: str = ""


@dataclass(frozen=True)
class Body:
    """The instructions of one walk over ``axis``, in an order in which they could be executed one
    by one, and when they are."""

    axis: str
    instrs: tuple[Instr, ...]
    schedule: Schedule

    @property
    def by_name(self) -> dict[str, Instr]:
        """Instructions by name."""
        return {i.name: i for i in self.instrs}

    @property
    def by_carry(self) -> dict[str, str]:
        """The instruction that gives each carry its new value."""
        return {i.carry: i.name for i in self.instrs if i.carry}

    @property
    def operands(self) -> dict[Node, str]:
        """The instruction that makes a left operand of each value that is one."""
        return {i.value: i.name for i in self.instrs if i.op is Op.OPERAND}

    def uses(self, instr: Instr) -> tuple[Use, ...]:
        """The results that ``instr`` reads, each once, in the order of its expression."""
        nodes = {i.value: i.name for i in reversed(self.instrs) if i.op is not Op.OPERAND}
        if instr.op is Op.OPERAND and instr.value in nodes:
            return (Use(nodes[instr.value]),)
        if instr.op is Op.PRODUCT:
            left = self.operands.get(operands_of(instr)[0])
            found = dict.fromkeys(() if left is None else (Use(left),))
        else:
            found = dict.fromkeys(self._read(instr, nodes))
        if instr.onto is not None:
            found[instr.onto] = None
        return tuple(found)

    def tensors(self, instr: Instr) -> tuple[Input, ...]:
        """The tensors that ``instr`` reads itself, each once. (A left operand that is computed
        before the walk reads none in it.)"""
        if instr.op is Op.PRODUCT:
            return tuple(s for s in dict.fromkeys(operands_of(instr)) if isinstance(s, Input))
        others = {i.value for i in self.instrs if i is not instr and i.op is not Op.OPERAND}
        if instr.value in others:
            return ()
        below = topo([instr.value], lambda n: () if n in others else children(n))
        return tuple(n for n in below if isinstance(n, Input) and n not in others)

    def _read(self, instr: Instr, nodes: dict[Node, str]) -> Iterator[Use]:
        carries = self.by_carry
        for node in _down_to(instr.value, nodes):
            if node in nodes and node is not instr.value:
                yield Use(nodes[node])
            elif isinstance(node, State) and node.carry in carries:
                yield Use(carries[node.carry], int(node.old))


def operands_of(product: Instr) -> tuple[Node, Node]:
    """The left and the right operand of a product."""
    match product.value:
        case Reduce(arg=Map(fn=Fn.MUL, args=(left, right))) if product.op is Op.PRODUCT:
            return left, right
        case _:
            raise IllTyped(f"instruction {product.name!r} is no product of two operands")


@dataclass(frozen=True)
class ThreadGraph:
    """How one kernel runs on one multiprocessor.

    ``config``: tiles. A program has ``consumers`` warpgroups, each with its own tile of the axis
    ``rows``, one after the other; all else is the same for all of them. ``registers``: a thread of
    a consumer, of the producer. ``pipes``: in the order in which they are first filled. ``bodies``:
    one for each walk of ``block``, in order. ``ring``: consumers take turns to issue their products
    (an ordering token goes around). ``joined``: a walk with a clear part is one loop, which asks of
    every tile whether it is clear, and so takes tiles in the order of positions. ``persistent``: a
    program takes several tiles of the grid; rings go on from one to the next, so that the producer
    is ahead of the consumers at borders, too. ``pingpong``: consumers take the tiles of a
    persistent program in turn, each as a whole, so that one stores while another multiplies; walks
    follow each other (an ordering token goes around), so rings are filled and read in order.
    """

    block: BlockGraph
    config: Config
    rows: str
    consumers: int
    registers: tuple[int, int]
    pipes: tuple[Pipe, ...]
    bodies: tuple[Body, ...]
    ring: bool = False
    joined: bool = False
    persistent: bool = False
    pingpong: bool = False

    @property
    def split(self) -> str:
        """The axis whose tile the consumers split; empty if they take tiles in turn."""
        return "" if self.pingpong else self.rows

    @property
    def by_tensor(self) -> dict[Input, Pipe]:
        """The pipe through which each tensor comes."""
        return {t: p for p in self.pipes for t in p.tensors}


def _down_to(root: Node, stops: dict[Node, str]) -> list[Node]:
    """The nodes below ``root``, arguments first, without what is below ``stops``."""
    return topo([root], lambda n: () if n in stops and n is not root else children(n))
