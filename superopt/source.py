"""What a printed kernel file is to the stages that compile, run and store it."""

from __future__ import annotations

from dataclasses import dataclass

SPILL_BYTES_MOST = 128  # a few bytes of spills cost nothing; more say that the tiles are too large


@dataclass(frozen=True)
class LaunchSpec:
    """All that Triton needs to compile one printed function ahead of time.

    ``signature``: parameter -> Triton type (``*bf16``, ``i32``, ``fp32``, ``constexpr``), in
    order. ``constexprs``: the values of the constexpr ones. ``warps``, ``stages``: options.
    ``divisible``: integer parameters that are multiples of 16 in the case at hand (strides,
    sizes); a launch is specialised on that, and its loads are vectorised only then. ``dependent``:
    compiled for a launch that begins before the one before it has ended.
    """

    function: str
    signature: tuple[tuple[str, str], ...]
    constexprs: tuple[tuple[str, int | bool | str], ...]
    warps: int
    stages: int
    divisible: tuple[str, ...] = ()
    dependent: bool = False


@dataclass(frozen=True)
class Facts:
    """What the compiler says of one compiled launch. Units: bytes; registers per thread."""

    function: str
    target: str
    shared_bytes: int
    registers: int
    spill_bytes: int

    @property
    def spills(self) -> bool:
        """Whether more than a few bytes of its registers are kept in memory."""
        return self.spill_bytes > SPILL_BYTES_MOST
