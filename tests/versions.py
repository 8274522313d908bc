"""A pytest plugin for runs under another Triton: says which one it is, and insists on it.

The other Triton lies in the directory that PYTHONPATH names first; a run that silently took the
installed one ends at once. (``make test-triton36``)
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_report_header() -> str:
    import triton

    front = Path(os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]).resolve()
    if front not in Path(triton.__file__).resolve().parents:
        raise pytest.UsageError(f"triton {triton.__version__} is not the one in {front}")
    return f"triton {triton.__version__} from {front}"
