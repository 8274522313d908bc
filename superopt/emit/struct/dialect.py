"""The vocabulary of explicit layouts, where it differs from that of plain tiles.

Both languages name the same functions, in another module; functions written for plain tiles may
be called with tiles that have a layout. What makes a tile out of nothing must say its layout.
"""

from __future__ import annotations

import re

_OF_TILES = re.compile(r"\btl\.(?!(?:PropagateNan|swizzle2d)\b)(\w+)")

IMPORTS = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared
from triton.experimental.gluon.language.nvidia.hopper import mbarrier
from triton.experimental.gluon.language.nvidia.hopper import tma
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as SharedDescriptor
"""


def spelled(text: str) -> str:
    """``text`` with the functions of plain tiles as those of tiles with layouts."""
    return _OF_TILES.sub(r"gl.\1", text)


def used(text: str) -> set[str]:
    """The identifiers in ``text``."""
    return set(re.findall(r"[^\W\d]\w*", text))
