"""Helper: loads a spec's file that is wrong, and looks at how that is said."""

from __future__ import annotations

import pytest

from superopt.errors import UserError
from superopt.loading import load

HEAD = "from typing import Annotated\nfrom superopt import *\n"


def check_refused(body, message, folder, monkeypatch):
    """One line with file and line: that of the line of ``body`` that says ``# HERE``."""
    text = body.replace("\n        ", "\n")
    future = "from __future__ import annotations\n"
    text = future + HEAD + text.replace(future, "") if future in text else HEAD + text
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "# HERE" in row)
    (folder / "bad.py").write_text(text)
    monkeypatch.chdir(folder)
    with pytest.raises(UserError, match=message) as error:
        load("bad.py")
    assert error.value.where == f"bad.py:{line}"
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"bad.py:{line}: ")
