"""What one program of a launch occupies, and how many of them one multiprocessor holds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from superopt.device import Device
from superopt.ugraph.counts import Cost
from superopt.ugraph.levels import Config

BASE_REGISTERS = 40  # registers a thread needs for addresses and bookkeeping
ADDRESS_REGISTERS = 24  # those of them that tensor descriptors spare
FRAGMENT_REGISTERS = 36  # operands of a matrix instruction, where it reads registers
ORDINARY = 1.8  # registers for each one that is alive, where ordinary units compute products
PLAIN_REGISTERS = 13  # what a thread needs beside values, where there is no matrix product
PIECES = 0.3  # of the values that may be alive, those that are, there
PIECE = 16  # bytes that one thread loads with one address
MOST_REGISTERS = 255
LEAST_REGISTERS = 24
UNIT = 8  # registers of a thread are given out in multiples of these
THREADS = 32
STATIC_SHARED = 1024  # scratch of reductions


@dataclass(frozen=True)
class Footprint:
    """What one program occupies. ``shared``: bytes; ``registers``: per thread, if all that may be
    alive at once is; ``likely``: as compilers are seen to need."""

    shared: int
    registers: int
    likely: int

    def fits(self, device: Device) -> bool:
        """Whether a program can run at all without spilling much."""
        return self.shared <= device.shared_block and self.registers <= MOST_REGISTERS

    def resident(self, config: Config, device: Device) -> int:
        """Programs of one multiprocessor at a time."""
        by_shared = device.shared_sm // (self.shared + device.shared_reserved)
        each = -(-min(max(self.likely, LEAST_REGISTERS), MOST_REGISTERS) // UNIT) * UNIT
        used = each * THREADS * config.warps
        return max(
            1,
            min(by_shared, device.registers // used, device.warps // config.warps, device.blocks),
        )


def footprint(cost: Cost, config: Config, device: Device, tf32: bool = False) -> Footprint:
    """Estimated shared memory and registers of one program.

    Loads of a walk are buffered once a stage (before sm_90 the last one is not buffered);
    operands of products that stay, and computed right ones, are kept once. Values alive at
    once are spread over the program's threads; before sm_90 operands pass through registers.
    So do those of fp32 products (without ``tf32``), along the whole folded axis: one product
    reads them as it goes, but where a second one follows they are seen to pile up. Descriptors
    change the registers alone. Without matrix products compilers take values piece by piece.
    """
    modern = device.capability >= 90
    spared = ADDRESS_REGISTERS if config.descriptors else 0
    buffers = max(1, config.stages if modern else config.stages - 1)
    base = BASE_REGISTERS + (FRAGMENT_REGISTERS if cost.products and not modern else 0)
    ordinary = 0 if tf32 else sum(p.dtype == "fp32" for p in cost.products)
    live = cost.live * (ORDINARY if ordinary > 1 else 1)
    values = live / (4 * THREADS * config.warps)
    if cost.products:
        likely = base + values + (0 if config.descriptors else _pointers(cost, config))
    else:
        likely = PLAIN_REGISTERS + PIECES * values
    return Footprint(
        shared=cost.shared_fixed + cost.shared_stage * buffers + STATIC_SHARED,
        registers=base - spared + ceil(values),
        likely=ceil(likely),
    )


def _pointers(cost: Cost, config: Config) -> float:
    """Registers of a thread for the addresses of a walk's tiles: two for each of its pieces."""
    pieces = PIECE * THREADS * config.warps
    return sum([2 * max(1.0, size / pieces) for size in cost.walked])
