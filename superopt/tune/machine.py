"""What this machine is, as far as a time depends on it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from superopt.errors import UserError
from superopt.tune.record import Machine
from superopt.versions import version_of

NO_GPU = "no GPU: kernels can only be timed where torch sees one"
_MODULE = Path("/proc/driver/nvidia/version")  # the kernel's own word on its driver
_SECONDS = 30.0


def here() -> Machine:
    """The first GPU of this process, its driver, and the versions that make kernels.

    Raises:
        UserError: torch sees no GPU, or the driver does not say its version.
    """
    import torch
    import triton

    if not torch.cuda.is_available():
        raise UserError(NO_GPU)
    return Machine(
        torch.cuda.get_device_name(),
        driver(),
        str(torch.__version__),
        triton.__version__,
        version_of("superopt"),
    )


def driver() -> str:
    """The version of the driver: ``580.95.05``.

    Raises:
        UserError: neither ``nvidia-smi`` nor the kernel module says it.
    """
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):  # often missing in containers
        said = _MODULE.read_text() if _MODULE.is_file() else ""
    if not (found := re.search(r"\b\d+\.\d+(\.\d+)?\b", said)):
        raise UserError(
            "the version of the GPU's driver is unknown, and a time is only kept with it: "
            f"neither nvidia-smi nor {_MODULE} says it"
        )
    return found[0]
