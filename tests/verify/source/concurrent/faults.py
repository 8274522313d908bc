"""Faults of concurrency, seeded into texts: what is replaced by what, and which engine sees it."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.verify.source.concurrent.machine import CLOCKS
from superopt.verify.source.concurrent.machine import ORDERS

BOTH = frozenset((CLOCKS, ORDERS))
ONLY_CLOCKS = frozenset((CLOCKS,))
ONLY_ORDERS = frozenset((ORDERS,))


@dataclass(frozen=True)
class Fault:
    name: str
    old: str
    new: str
    engines: frozenset[str]
    says: str  # a part of what is said


FAULTS = (
    Fault(
        "dropped wait",
        "        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)\n",
        "",
        BOTH,
        "may still write",
    ),
    Fault(
        "wrong phase",
        "((step // SLOTS) & 1) ^ 1)",
        "(step // SLOTS) & 1)",
        BOTH,
        "deadlock",
    ),
    Fault(
        "wrong arrival count",
        "mbarrier.init(empty.index(slot), count=2)",
        "mbarrier.init(empty.index(slot), count=1)",
        BOTH,
        "phase",
    ),
    Fault("missing fence before a store", "    fence_async_shared()\n", "", ONLY_CLOCKS, "fence"),
    Fault(
        "swapped stage index",
        "y_tiles.index(slot), acc, is_async",
        "y_tiles.index((step - 1) % SLOTS), acc, is_async",
        ONLY_CLOCKS,
        "may still read",
    ),
    Fault(
        "early release",
        "mbarrier.arrive(empty.index((step - 1) % SLOTS), count=1)",
        "mbarrier.arrive(empty.index(step % SLOTS), count=1)",
        BOTH,
        "deadlock",
    ),
    Fault("one stage too few", "COUNT=6, SLOTS=3", "COUNT=6, SLOTS=1", BOTH, "deadlock"),
    Fault(
        "release of the wrong stage",
        "empty.index((step - 1) % SLOTS), count=1)",
        "empty.index((step + 1) % SLOTS), count=1)",
        ONLY_ORDERS,
        "deadlock",
    ),
    Fault(
        "nothing is expected",
        """        mbarrier.expect(
            full.index(slot), 2 * x_desc.block_type.nbytes + y_desc.block_type.nbytes
        )
""",
        "",
        BOTH,
        "deadlock",
    ),
    Fault(
        "fewer bytes are expected",
        "2 * x_desc.block_type.nbytes + y_desc.block_type.nbytes",
        "2 * x_desc.block_type.nbytes",
        BOTH,
        "may still write",
    ),
    Fault(
        "an accumulator is used before the wait",
        "    acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])\n",
        "",
        ONLY_CLOCKS,
        "before it waits",
    ),
    Fault(
        "one arrival twice",
        "count=1)\n    acc = ",
        "count=2)\n    acc = ",
        BOTH,
        "or 3",
    ),
    Fault(
        "store before the products are over",
        "num_outstanding=0, deps=[acc]",
        "num_outstanding=1, deps=[acc]",
        ONLY_CLOCKS,
        "before it waits",
    ),
    Fault(
        "exit with stores under way",
        "    tma.store_wait(pendings=0)\n",
        "",
        ONLY_CLOCKS,
        "ends with",
    ),
)
