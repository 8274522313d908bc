"""TLE-Lite: a plain kernel with hints for the compiler.

``tle.load`` is ``tl.load`` with one more argument: ``is_async=True`` has the compiler copy through
shared memory (cp.async) and wait where the value is used. It says nothing about the value. The
other words of Lite serve no graph that there is: tiles are loaded as they are used, so none is cut
out of another (``extract_tile``, ``insert_tile``), and a scan of ours includes its own position,
which ``tle.cumsum`` leaves out.
"""

from __future__ import annotations

from superopt.ugraph.node import Input

NEEDS = "FlagTree (branch triton_v3.6.x)"
NEEDS_ROLES = "FlagTree (branch triton_v3.6.x, with tle.gpu.wgmma: July 2026)"

IMPORT = """
try:
    import triton.experimental.tle.language as tle
except ImportError as error:
    raise ImportError(
        f"{__file__} needs @NEEDS@, "
        "in place of triton: there is no triton.experimental.tle here. For upstream Triton, print "
        "the kernel by superopt print KERNEL --dialect triton"
    ) from error
"""


def imported(roles: bool) -> str:
    """The lines that import TLE, or say what is missing. ``roles``: the file has some."""
    return IMPORT.replace("@NEEDS@", NEEDS_ROLES if roles else NEEDS)


def ahead(tensor: Input, walked: str | None, dims: tuple[str, ...]) -> bool:
    """Whether a tile of ``tensor`` with ``dims`` is worth a hint: it is another one in each step of
    the walk in hand, and is copied in whole vectors. (Of truths, what is loaded is not yet what
    ``tle.load`` returns and marks.)"""
    vectors = bool(tensor.order) and tensor.order[-1] in dims and tensor.dtype != "bool"
    return walked in tensor.order and vectors


def load(arguments: str) -> str:
    """A load that may be under way while what comes before its use is computed."""
    return f"tle.load({arguments}, is_async=True)"
