"""The vocabulary of TLE-Struct, where it differs from that of Gluon.

Kernels with roles are printed by the same rules. Here the compiler chooses all layouts, so none is
said: ``ANY`` stands in their place until the text is spelled.
"""

from __future__ import annotations

import re

from superopt.emit.struct.frames import LANES

ANY = "ANY_LAYOUT"
_LAYOUT = re.compile(rf", layout=({ANY}|{re.escape(LANES)})")
_OF_TILES = re.compile(r"\bgl\.(\w+)")


def spelled(text: str) -> str:
    """``text`` without layouts, with the functions of plain tiles."""
    return _OF_TILES.sub(r"tl.\1", _LAYOUT.sub("", text))
