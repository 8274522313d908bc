"""A thread graph from any block graph with one walk whose body holds products of matrices.

The rules are those of the hardware (sm_90): a product is issued by a warpgroup for a multiple of
64 rows; its right operand, and its left one unless that is computed, lie in shared memory, where
a copy engine brings them; results and what is computed from them are in registers. So the axis
that is the row of every product is what consumers can split, tensors that are operands come
through pipes, and so do others with two tile dimensions. All else is loaded where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from superopt.errors import NotEmittable
from superopt.threads.body import Products
from superopt.threads.body import instructions
from superopt.threads.check import check
from superopt.threads.default import EMPTY
from superopt.threads.default import in_turn
from superopt.threads.default import overlapped
from superopt.threads.layouts import ROWS
from superopt.threads.layouts import WIDEST
from superopt.threads.parts import parted
from superopt.threads.parts import parts
from superopt.threads.written import scheduled
from superopt.ugraph.contraction import operand_dtype
from superopt.ugraph.cost import BYTES
from superopt.ugraph.described import RANK_MOST
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.scalar import Kind
from superopt.ugraph.split import split_axis
from superopt.ugraph.threads import Body
from superopt.ugraph.threads import Instr
from superopt.ugraph.threads import Op
from superopt.ugraph.threads import Pipe
from superopt.ugraph.threads import ThreadGraph
from superopt.ugraph.threads import operands_of
from superopt.ugraph.unscaled import unscaled
from superopt.ugraph.unseen import everywhere

WARPS = 4  # of a consumer
WARPGROUP = 32 * WARPS  # threads
REGISTERS = 65536  # of one multiprocessor
PRODUCER_REGISTERS = 24  # a thread: the least that can be asked for
CONSUMER_REGISTERS = 240  # a thread: the most that leaves the compiler its own
CONSUMERS_MOST = 3
OPERANDS = 26  # registers of a thread that a product takes beside its result, by the assembler
SLOTS_LEAST = 2


def build(
    block: BlockGraph,
    config: Config,
    dtype: str,
    consumers: int = 2,
    capacity: int = 2,
    early: bool = True,
) -> ThreadGraph:
    """The thread graph of ``block`` (one of ``split.launches``), scheduled without search.

    Scales are put behind maxima first (``unscaled``), which is exact and leaves one operation an
    element between a score and its exponential.

    ``config``: its tile of the axis that consumers split is that of one consumer. ``dtype``: of
    the case. ``capacity``: slots of the pipes along the walk. ``early``: work of the next
    iteration begins early (``default.overlapped``), else everything is done in turn.

    Raises:
        NotEmittable: a term has no place at this level; the message names it.
    """
    block = unscaled(block)
    if len(block.walks) != 1:
        raise NotEmittable(f"{len(block.walks)} walks; only kernels with one get roles")
    (walk,) = block.walks
    products = Products(block)
    found = instructions(walk, products)
    rows = _rows(block, found, products, config)
    _check(found, products, config, dtype)
    _check_stores(block)
    if not 1 <= consumers <= CONSUMERS_MOST:
        raise NotEmittable(f"{consumers} consumers; a program has 1 to {CONSUMERS_MOST}")
    _check_widths(found, products, config, consumers)
    pipes = _pipes(block, walk, found, products, capacity, rows)
    schedule = (overlapped if early else in_turn)(walk.axis, found, pipes)
    registers = consumer_registers(consumers), PRODUCER_REGISTERS
    bodies = (Body(walk.axis, found, schedule),)
    graph = ThreadGraph(block, config, rows, consumers, registers, pipes, bodies)
    if problems := check(graph):
        raise NotEmittable(problems[0])
    return graph


def of_config(block: BlockGraph, config: Config, dtype: str) -> ThreadGraph:
    """The thread graph of ``block`` that ``config`` asks for.

    Raises:
        NotEmittable: there is none; the message says why.
    """
    slots = max(config.stages, SLOTS_LEAST)
    graph = build(block, config, dtype, config.consumers, slots)
    if config.schedule:
        (body,) = graph.bodies
        schedule = scheduled(config.schedule, body.axis, body.instrs, graph.pipes)
        graph = replace(graph, bodies=(replace(body, schedule=schedule),))
    graph = replace(graph, ring=config.ring, joined=config.joined, pingpong=config.pingpong)
    if config.persistent:
        graph = _persistent(graph, config.persistent)
    asked = config.ring or config.schedule or config.persistent or config.pingpong
    if asked and (problems := check(graph)):
        raise NotEmittable(problems[0])
    return graph


def _persistent(graph: ThreadGraph, kept: int) -> ThreadGraph:
    """``graph`` as a program of several tiles. ``kept``: slots of what comes once for each."""
    pipes = tuple(p if p.walk else replace(p, capacity=kept) for p in graph.pipes)
    return replace(graph, pipes=pipes, persistent=True)


def has_thread_graph(block: BlockGraph, config: Config, dtype: str) -> bool:
    """Whether there is a thread graph of ``block`` that ``config`` asks for."""
    try:
        of_config(block, config, dtype)
    except NotEmittable:
        return False
    return True


def consumer_registers(consumers: int) -> int:
    """Registers that a thread of each of so many consumers gets."""
    spare = (REGISTERS - WARPGROUP * PRODUCER_REGISTERS) // (WARPGROUP * consumers) // 8 * 8
    return min(CONSUMER_REGISTERS, spare)


def shared_bytes(graph: ThreadGraph, dtype: str) -> int:
    """Bytes of shared memory that the tiles of ``graph`` take: in pipes, on their way out, and
    where the warps of a consumer meet in a fold."""
    products = Products(graph.block)
    found = [
        p.capacity * _tile_bytes(graph, t.order, t.dtype or dtype)
        for p in graph.pipes
        for t in p.tensors
    ]
    for store in copied_out(graph.block, products):
        axis = parted(graph.block, store)
        tile = _tile_bytes(graph, store.order, store.dtype or dtype)
        tile *= graph.consumers if graph.pingpong else 1
        found.append(tile // parts(graph.config.tile[axis]) if axis else tile)
    return sum(found) + graph.consumers * max(_met(graph, products), default=0)


def _met(graph: ThreadGraph, products: Products) -> Iterator[int]:
    """Bytes through which the four warps of a consumer, each of which has other rows of a tile,
    exchange what they fold over rows: as many as each fold takes, one after the other."""
    for instr in (i for b in graph.bodies for i in b.instrs if i.op is Op.COMPUTE):
        match instr.value:
            case Reduce(axis=axis, arg=arg) if len(dims := products.dims(arg)) == 2:
                if dims[0] == axis:
                    yield WARPS * BYTES["fp32"] * graph.config.tile[dims[1]]


def copied_out(block: BlockGraph, products: Products) -> tuple[Store, ...]:
    """The stores of ``block`` that the copy engine makes, out of shared memory."""
    return tuple(
        s
        for s in block.stores
        if s.value.kind is Kind.REAL
        and not refusal(s.as_input(), products)
        and products.dims(s.value) == tuple(a for a in s.order if a in products.order)
    )


def _tile_bytes(graph: ThreadGraph, order: Iterable[str], dtype: str) -> int:
    tiles = graph.config.tile
    positions = prod(tiles.get(a, 1) for a in order)
    return positions * BYTES[dtype] * (graph.consumers if graph.split in order else 1)


def _rows(block: BlockGraph, instrs: tuple[Instr, ...], products: Products, config: Config) -> str:
    """The axis that is the row of every product, cut into tiles by the grid."""
    found = [p for i in instrs if i.op is Op.PRODUCT and (p := products.of(i.value))]
    if not found:
        raise NotEmittable("no product of matrices in the walk, so nothing for roles to overlap")
    axes = dict.fromkeys(p.row for p in found)
    if len(axes) > 1:
        raise NotEmittable(f"products with different rows {' '.join(axes)!r} in one walk")
    (rows,) = axes
    if block.place[rows] != Grid():
        raise NotEmittable(f"the rows {rows!r} of the products are no tiles of the grid")
    if products.host and rows in {*products.host, *products.host.values()}:
        raise NotEmittable(f"axes that share the tile of {rows!r} are no box of a tensor")
    if config.tile[rows] % ROWS:
        raise NotEmittable(
            f"a consumer has {config.tile[rows]} positions of {rows!r}, no multiple of {ROWS}"
        )
    return rows


def _check_stores(block: BlockGraph) -> None:
    """What is stored is computed without products, which are instructions of walks alone."""
    for store in block.stores:
        products = Products(block)
        products.apart([store.value])
        if products.any:
            raise NotEmittable(f"a product of matrices behind the walk, in store {store.name!r}")


def _check(instrs: tuple[Instr, ...], products: Products, config: Config, dtype: str) -> None:
    for instr in instrs:
        if len(products.dims(instr.value)) > 2:
            raise NotEmittable(f"{instr.name!r} has {len(products.dims(instr.value))} tile axes")
        if instr.op is not Op.PRODUCT:
            continue
        product = products.of(instr.value)
        assert product is not None
        axis = instr.value.axis if isinstance(instr.value, Reduce) else ""
        if not isinstance(product.left, Input) and products.dims(product.left) != (
            product.row,
            axis,
        ):
            raise NotEmittable(f"the left operand of {instr.name!r} would have to be transposed")
        if (operand_dtype(product) or dtype) not in ("fp16", "bf16"):
            raise NotEmittable(f"{instr.name!r} multiplies {operand_dtype(product) or dtype}")
        if not isinstance(product.right, Input):
            raise NotEmittable(f"the right operand of {instr.name!r} is computed")
        for side in (product.left, product.right):
            if isinstance(side, Input) and side.dtype != operand_dtype(product):
                raise NotEmittable(f"{side.name!r} would have to be rounded to be an operand")
        if config.tile[product.column] > WIDEST:
            raise NotEmittable(
                f"{instr.name!r} has {config.tile[product.column]} columns; at most {WIDEST}"
            )


def _check_widths(
    instrs: tuple[Instr, ...], products: Products, config: Config, consumers: int
) -> None:
    """What a consumer has more of than the producer, the assembler gives to no one instruction."""
    most = REGISTERS // (WARPGROUP * (consumers + 1)) // 8 * 8
    for instr in instrs:
        if (product := products.of(instr.value)) is not None:
            needed = ROWS * config.tile[product.column] // WARPGROUP + OPERANDS
            if needed > most:
                raise NotEmittable(
                    f"{instr.name!r} takes {needed} registers at once; with {consumers} consumers "
                    f"an instruction has {most}"
                )


def _pipes(
    block: BlockGraph,
    walk: Walk,
    instrs: tuple[Instr, ...],
    products: Products,
    capacity: int,
    rows: str,
) -> tuple[Pipe, ...]:
    """One pipe for the tensors that the same instructions read; what does not move comes first."""
    readers, needed = _readers(walk.axis, instrs)
    for tensor, name in needed.items():
        if why := refusal(tensor, products):
            raise NotEmittable(f"{tensor.name!r}, an operand of {name!r}, {why}")
    # Rows that end elsewhere have masks, under which a weight of 0 hides all that is finite.
    if any(not b.terms and rows not in b.offset.axes for b in (*walk.start, *walk.stop)):
        raise NotEmittable(f"the walk of {walk.axis!r} ends within tiles that copies bring whole")
    if hidden := everywhere(block):
        (first, *_) = hidden
        raise NotEmittable(f"data hide a part of {first.name!r}, which copies bring whole")
    groups: dict[tuple[bool, tuple[str, ...]], list[Input]] = {}
    for tensor, names in readers.items():
        if not refusal(tensor, products):
            groups.setdefault((walk.axis in tensor.order, names), []).append(tensor)
    pipes = []
    for (moving, _), tensors in sorted(groups.items(), key=lambda g: g[0][0]):
        name = "_".join(t.name for t in tensors)
        axis = walk.axis if moving else ""
        pipes.append(Pipe(name, tuple(tensors), capacity if moving else 1, axis))
    return tuple(pipes)


def _readers(
    axis: str, instrs: tuple[Instr, ...]
) -> tuple[dict[Input, tuple[str, ...]], dict[Input, str]]:
    """Which instructions read each tensor, and which product each operand is needed for."""
    body = Body(axis, instrs, EMPTY)
    readers: dict[Input, list[str]] = {}
    needed: dict[Input, str] = {}
    for instr in instrs:
        for tensor in body.tensors(instr):
            readers.setdefault(tensor, []).append(instr.name)
        if instr.op is Op.PRODUCT:
            sides = (s for s in operands_of(instr) if isinstance(s, Input))
            needed |= dict.fromkeys(sides, instr.name)
    return {t: tuple(names) for t, names in readers.items()}, needed


def refusal(tensor: Input, products: Products) -> str:
    """Why no copy can bring a tile of ``tensor``; empty if one can."""
    dims = products.dims(tensor)
    if len(dims) != 2:
        return f"has {len(dims)} tile axes"
    if len(tensor.order) > RANK_MOST:
        return f"has {len(tensor.order)} axes; a copy knows {RANK_MOST}"
    if tensor.order[-1] not in dims:
        return f"has no tile along its innermost axis {tensor.order[-1]!r}"
    if any(a in products.host or a in products.host.values() for a in tensor.order):
        return "has axes that share one tile dimension"
    if any(split_axis(a) for a in tensor.order):
        return "is cut into parts"
    return ""
