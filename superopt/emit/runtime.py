"""The fixed part of every printed file: checks, dispatch and scalar arithmetic of the launcher.

It is text, not imported code, because a printed file needs torch and triton only.
"""

from __future__ import annotations

TYPES = '''

class Launch(NamedTuple):
    """Numbers of one launch: positions per tile by axis, parts of a split axis, options."""

    tiles: dict[str, int]
    parts: int = 1
    warps: int = 4
    stages: int = 2


class Plan(NamedTuple):
    """Which graph runs, and how; ``sizes`` are those that it was chosen for."""

    name: str
    graph: int
    launches: tuple[Launch, ...]
    sizes: dict[str, int]
    dtype: str = ""
    tf32: bool = False
    target: str = ""

'''

CHECKS = '''

def _check(name, tensor, axes, dtypes, sizes, device=None):
    """Checks a tensor and records the sizes of its axes. Raises ValueError."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    if tensor.dim() != len(axes):
        wanted = " ".join(axes)
        raise ValueError(f"{name}: expected axes [{wanted}], got shape {tuple(tensor.shape)}")
    if tensor.dtype not in dtypes:
        wanted = " or ".join(map(str, dtypes))
        raise ValueError(f"{name}: expected dtype {wanted}, got {tensor.dtype}")
    if device is not None and tensor.device != device:
        raise ValueError(f"{name}: expected device {device}, got {tensor.device}")
    if not tensor.is_cuda and not INTERPRETED:
        hint = "a CUDA device, or TRITON_INTERPRET=1 in the environment before the import"
        raise ValueError(f"{name}: expected {hint}, got a tensor on {tensor.device}")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"{name}: requires grad, but this operator has no backward pass")
    for axis, size in zip(axes, tensor.shape):
        known, owner = sizes.setdefault(axis, (size, name))
        if size != known:
            raise ValueError(f"{name}: axis {axis} has size {size}, but {owner} has {known}")
        if size >= LARGEST:
            raise ValueError(f"{name}: axis {axis} has size {size}; positions are 32-bit")
    if axes and tensor.numel() > 0 and tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
        raise ValueError(f"{name}: the innermost axis {axes[-1]} must have stride 1, got "
                         f"{tensor.stride(-1)}")


def _output(name, tensor, shape, dtype, device):
    """A new output, or the caller's after a check. Raises ValueError."""
    if tensor is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    if tensor.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {tuple(tensor.shape)}")
    if tensor.dtype != dtype or tensor.device != device:
        raise ValueError(f"{name}: expected {dtype} on {device}, got {tensor.dtype} on "
                         f"{tensor.device}")
    for size, stride in zip(shape, tensor.stride()):
        if size > 1 and stride == 0:
            raise ValueError(f"{name}: elements overlap (an axis has stride 0)")
    if shape and shape[-1] > 1 and tensor.numel() > 0 and tensor.stride(-1) != 1:
        raise ValueError(f"{name}: the innermost axis must have stride 1, got {tensor.stride(-1)}")
    return tensor


def _scalar(name, value, kind):
    """A run-time scalar as a Python number. Raises ValueError (a tensor would synchronise)."""
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        raise ValueError(f"{name}: expected a Python {kind.__name__}, got {type(value).__name__}")
    return kind(value)


@functools.lru_cache(maxsize=1024)
def _choose(sizes, dtype, target):
    """The plan for these sizes (in the order of SIZES): an exact one, else the nearest.

    Distances are sums of binary logarithms of size ratios; a dtype of another width counts as
    8 doublings, a plan for another target as 64.
    """
    now = dict(zip(SIZES, sizes))

    def distance(plan):
        far = 8.0 * (BYTES.get(plan.dtype, dtype.itemsize) != dtype.itemsize)
        far += 64.0 * (plan.target not in ("", target))
        for axis, size in plan.sizes.items():
            far += abs(math.log2(max(now[axis], 1) / max(size, 1)))
        return far

    return min(PLANS, key=distance)


@functools.lru_cache(maxsize=64)
def _target(device):
    """What plans call this device: ``sm_90``, ...; empty without CUDA."""
    if device.type != "cuda":
        return ""
    return "sm_{}{}".format(*torch.cuda.get_device_capability(device))


def _even(size, tile):
    """Whether no lane of any tile is beyond the end."""
    return size > 0 and size % tile == 0


def _whole(size, least):
    """The tile that holds an entire axis."""
    return max(least, triton.next_power_of_2(size))

'''

ARITHMETIC = {
    "_div": '''

def _div(a, b):
    """a / b as floats divide: by zero it is an infinity or NaN, no exception."""
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a)
    return a / b

''',
    "_sqrt": """

def _sqrt(a):
    return math.sqrt(a) if a >= 0 else math.nan

""",
    "_exp2": """

def _exp2(a):
    return 2.0**a if a < 1024 else a * math.inf

""",
    "_log2": """

def _log2(a):
    return math.log2(a) if a > 0 else (-math.inf if a == 0 else math.nan)

""",
}
