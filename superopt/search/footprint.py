"""What one program of a launch occupies, and how many of them one multiprocessor holds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from superopt.device import Device
from superopt.ugraph.cost import Cost
from superopt.ugraph.levels import Config

BASE_REGISTERS = 40  # registers a thread needs for addresses and bookkeeping
ADDRESS_REGISTERS = 24  # those of them that tensor descriptors spare
FRAGMENT_REGISTERS = 36  # operands of a matrix instruction, where it reads registers
ORDINARY = 1.8  # registers for each one that is alive, where ordinary units compute products
MOST_REGISTERS = 255
THREADS = 32
STATIC_SHARED = 1024  # scratch of reductions


@dataclass(frozen=True)
class Footprint:
    """What one program occupies. ``shared``: bytes; ``registers``: per thread."""

    shared: int
    registers: int

    def fits(self, device: Device) -> bool:
        """Whether a program can run at all without spilling much."""
        return self.shared <= device.shared_block and self.registers <= MOST_REGISTERS

    def resident(self, config: Config, device: Device) -> int:
        """Programs of one multiprocessor at a time."""
        by_shared = device.shared_sm // (self.shared + device.shared_reserved)
        used = min(max(self.registers, 32), MOST_REGISTERS) * THREADS * config.warps
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
    change the registers alone.
    """
    modern = device.capability >= 90
    spared = ADDRESS_REGISTERS if config.descriptors else 0
    buffers = max(1, config.stages if modern else config.stages - 1)
    base = BASE_REGISTERS + (FRAGMENT_REGISTERS if cost.products and not modern else 0)
    ordinary = 0 if tf32 else sum(p.dtype == "fp32" for p in cost.products)
    live = cost.live * (ORDINARY if ordinary > 1 else 1)
    return Footprint(
        shared=cost.shared_fixed + cost.shared_stage * buffers + STATIC_SHARED,
        registers=base - spared + ceil(live / (4 * THREADS * config.warps)),
    )
