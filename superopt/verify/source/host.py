"""What the launcher's text finds where torch and triton would be: tensors without numbers in them.

Its checks, its sizes and strides, its workspaces and its launches are executed as they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from superopt.ugraph.domain import Domain
from superopt.verify.source.cells import Plain
from superopt.verify.source.memory import Buffer
from superopt.verify.source.memory import Clock
from superopt.verify.source.tiles import DTYPES
from superopt.verify.source.tiles import DType
from superopt.verify.source.tiles import Tile
from superopt.verify.source.vocabulary import Strict

STRIDED = "strided"
ROOM = 232_448  # bytes of shared memory of sm_90
MULTIPROCESSORS = 2  # fewer than a launch has tiles
APART = 1 << 32  # bytes between tensors: no two share memory


@dataclass(frozen=True)
class Place:
    """A device, of which there is one."""

    type: str = "cuda"


DEVICE = Place()


class Tensor:
    """Shape, strides (in elements) and dtype, before a buffer."""

    is_nested = False
    layout = STRIDED
    requires_grad = False
    is_cuda = True
    device = DEVICE

    def __init__(
        self, buffer: Buffer, shape: Sequence[int], strides: Sequence[int], address: int
    ) -> None:
        self.buffer = buffer
        self.shape = tuple(shape)
        self.dtype = buffer.dtype
        self._strides = tuple(strides)
        self._address = address

    def is_neg(self) -> bool:
        """Whether it is a lazy negation."""
        return False

    def dim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def numel(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def stride(self, axis: int | None = None) -> Any:
        """Elements from one position of an axis to the next, or of all axes."""
        return self._strides if axis is None else self._strides[axis]

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._address


class Descriptor:
    """A tensor descriptor: tiles by position, 0 past the ends.

    Raises:
        ValueError: strides or the address are none that the copy engine takes.
    """

    def __init__(self, tensor: Tensor, shape: Any, strides: Any, box: Any) -> None:
        self.tensor = tensor
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.box = tuple(map(int, box))
        unit = 16 // tensor.element_size()
        if any(s % unit for s in self.strides[:-1]) or self.strides[-1] != 1:
            raise ValueError(f"strides {self.strides} of a descriptor")
        if tensor.data_ptr() % 16 or len(self.box) != len(self.shape):
            raise ValueError("the address or the rank of a descriptor")

    @property
    def dtype(self) -> DType:
        """That of the elements."""
        return self.tensor.dtype

    def places(self, at: Sequence[Any]) -> tuple[Plain, Plain]:
        """The offsets of the tile whose first position is ``at``, and which of them there are."""
        offsets = np.zeros(self.box, np.int64)
        inside = np.ones(self.box, np.bool_)
        for axis, (first, length) in enumerate(zip(map(int, at), self.box, strict=True)):
            position = (first + np.arange(length)).reshape(
                [length if a == axis else 1 for a in range(len(self.box))]
            )
            inside &= (position >= 0) & (position < self.shape[axis])
            offsets += position * self.strides[axis]
        return offsets, inside

    def load(self, at: Sequence[Any]) -> Tile:
        """The tile whose first position is ``at``."""
        offsets, inside = self.places(at)
        return self.tensor.buffer.load(offsets, inside, 0)


class Host:
    """The world of one call of a launcher, over cells of one kind."""

    def __init__(self, cells: Domain[Any], clock: Clock) -> None:
        self.cells = cells
        self.clock = clock
        self.multiprocessors = MULTIPROCESSORS
        self._made = 0
        self.descriptors = 0

    def tensor(
        self, name: str, shape: Sequence[int], strides: Sequence[int], dtype: DType
    ) -> Tensor:
        """A new tensor whose elements nobody has written."""
        places = np.zeros(tuple(shape), np.int64)
        for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
            along = np.arange(length) * stride
            places += along.reshape([length if a == axis else 1 for a in range(len(shape))])
        self._made += 1
        buffer = Buffer(name, self.cells, dtype, places, self.clock)
        return Tensor(buffer, shape, strides, APART * self._made)

    def empty(self, shape: Any, dtype: DType, device: Any = None) -> Tensor:
        """``torch.empty``: rows without gaps."""
        shape = tuple(map(int, shape))
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return self.tensor("", shape, strides, dtype)  # called as the kernel calls it

    def torch(self) -> Strict:
        """``torch``."""
        named = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "bool": "bool"}
        named |= {n: n for n in DTYPES if n.startswith("int")}
        operators = Strict("torch.ops", superopt=type("Operators", (), {})())
        operator = Strict("operator", register_fake=lambda fake: fake)
        library = Strict("torch.library", custom_op=lambda *_, **__: operator)
        cuda = Strict(
            "torch.cuda",
            is_available=lambda: True,
            device_of=lambda _: nullcontext(),
            get_device_capability=lambda _=None: (9, 0) if self.clock.capable else (8, 9),
            get_device_properties=lambda _: Strict(
                "properties",
                shared_memory_per_block_optin=ROOM,
                multi_processor_count=self.multiprocessors,
            ),
        )
        return Strict(
            "torch",
            **{n: DTYPES[d] for n, d in named.items()},
            Tensor=Tensor,
            strided=STRIDED,
            empty=self.empty,
            is_grad_enabled=lambda: False,
            ops=operators,
            library=library,
            cuda=cuda,
        )

    def described(self, *arguments: Any) -> Descriptor:
        """``TensorDescriptor``."""
        self.descriptors += 1
        return Descriptor(*arguments)

    def triton(self, jit: Callable[[Any], Any], compiled: type) -> Strict:
        """``triton``; ``jit`` makes kernels, which are instances of ``compiled``."""
        return Strict(
            "triton",
            jit=jit,
            JITFunction=compiled,
            cdiv=lambda a, b: -(-a // b),
            next_power_of_2=lambda n: 1 << max(0, n - 1).bit_length() if n else 0,
        )
