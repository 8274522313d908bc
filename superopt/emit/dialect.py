"""The languages in which a kernel file can be printed.

They differ in how a kernel is said, never in which: graphs, Configs and launchers are the same.
"""

from __future__ import annotations

from enum import Enum


class Dialect(Enum):
    """``TRITON``: upstream's, with Gluon where warps have roles. ``FLAGTREE``: the extensions of
    the FlagTree compiler, TLE, whose words are named ``tle``."""

    TRITON = "triton"
    FLAGTREE = "flagtree"
