"""What a target can do: the numbers of data sheets, and the share of them that programs reach."""

from __future__ import annotations

from dataclasses import dataclass

from superopt.errors import UserError

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class Device:
    """One GPU, as the cost model sees it.

    ``shared_block``: bytes of shared memory that one block may use; ``shared_sm``: bytes of
    one multiprocessor (``sm``), of which every resident block also takes ``shared_reserved``.
    ``registers``: 32-bit registers of one sm. Rates are operations (bytes) per second of the
    whole chip. ``matrix``: matrix FLOP per second by operand dtype (dense; fp32 means full
    precision, that is, the ordinary units; tf32 is a row of its own). ``special`` and
    ``plain``: special-function results, and fp32 lane operations (a fused multiply-add is one).
    ``latency_us``: from a load to its data, as far as a program waits for it, and
    ``l2_latency_us``: if the L2 has it; ``launch_us``: what one more kernel costs before its first
    load in a stream whose launches are recorded (CUDA graphs); ``dependent_us``: what it
    costs if it is set up while the one before still runs (0.45 us less, measured on an H200).
    """

    name: str
    arch: str
    sms: int
    shared_block: int
    shared_sm: int
    l2_bytes: int
    dram: float
    l2: float
    matrix: tuple[tuple[str, float], ...]
    special: float
    plain: float
    registers: int = 65536
    warps: int = 64
    blocks: int = 32
    shared_reserved: int = KIB
    latency_us: float = 0.75
    l2_latency_us: float = 0.55
    launch_us: float = 1.8
    dependent_us: float = 1.35

    def matrix_rate(self, dtype: str) -> float:
        """Matrix FLOP per second with operands of ``dtype``."""
        return dict(self.matrix)[dtype]

    @property
    def capability(self) -> int:
        """The number in ``arch``: 90 for sm_90."""
        return int(self.arch.removeprefix("sm_"))


def _device(
    name: str,
    arch: str,
    sms: int,
    ghz: float,
    shared_block: int,
    l2_bytes: int,
    dram_gbs: float,
    dense_tflops: float,
    lanes: int = 128,
) -> Device:
    """A row of the table from a data sheet.

    The sustained shares are those of an H200 (copy 4257 to 4421 of 4800 GB/s, the largest
    matrix product 700 of 989 TFLOP/s); other chips are taken to reach the same shares. The
    L2 serves 60 bytes a clock to every sm, the special function unit 16 results, the
    ordinary units ``lanes``.
    """
    clock = ghz * 1e9
    plain = sms * lanes * clock
    sustained = 0.71 * dense_tflops * 1e12
    return Device(
        name=name,
        arch=arch,
        sms=sms,
        shared_block=shared_block,
        shared_sm=shared_block + KIB,
        l2_bytes=l2_bytes,
        dram=0.90 * dram_gbs * 1e9,
        l2=sms * 60 * clock,
        matrix=(
            ("bf16", sustained),
            ("fp16", sustained),
            ("tf32", sustained / 2),
            ("fp32", 2 * plain),
        ),
        special=sms * 16 * clock,
        plain=plain,
    )


TARGETS = {
    d.name: d
    for d in (
        _device("a100", "sm_80", 108, 1.41, 163 * KIB, 40 * MIB, 2039, 312, lanes=64),
        _device("h100", "sm_90", 132, 1.755, 227 * KIB, 50 * MIB, 3350, 989),
        _device("h200", "sm_90", 132, 1.755, 227 * KIB, 60 * MIB, 4800, 989),
        _device("b200", "sm_100", 148, 1.85, 227 * KIB, 126 * MIB, 8000, 2250),
    )
}
_ARCHITECTURES = {"sm_80": "a100", "sm_90": "h200", "sm_100": "b200"}
_DEFAULT = "h200"


def target(name: str = "auto") -> Device:
    """The device called ``name``: a row of the table, an architecture, or ``auto``.

    ``auto`` is the local GPU when there is one that the table knows, else the default.

    >>> target("sm_80").name
    'a100'

    Raises:
        UserError: no such target.
    """
    check_target(name)
    if name == "auto":
        return TARGETS[_local() or _DEFAULT]
    return TARGETS[_ARCHITECTURES.get(name, name)]


def check_target(name: str) -> None:
    """Raises a ``UserError`` if there is no such target; asks no device."""
    known = ["auto", *TARGETS, *_ARCHITECTURES]
    if name not in known:
        raise UserError(f"unknown target {name!r}; known targets: {', '.join(known)}")


def _local() -> str | None:
    """The table's name of the GPU in this machine, if torch sees one that the table has."""
    import torch

    if not torch.cuda.is_available():
        return None
    full = torch.cuda.get_device_name().lower()
    by_name = [name for name in TARGETS if name in full]
    major, minor = torch.cuda.get_device_capability()
    return by_name[0] if by_name else _ARCHITECTURES.get(f"sm_{major}{minor}")
