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
    descriptors: bool = False
    group: int = 1
    dependent: bool = False


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

# What a launch knows besides, in files that have kernels with roles.
LAUNCH_ROLES = (
    "    dependent: bool = False\n",
    '    dependent: bool = False\n    consumers: int = 0\n    roles: str = ""\n',
)

CHECKS = '''

def _plain(name, tensor):
    """Refuses what holds its elements otherwise than its strides say. Raises ValueError."""
    if tensor.is_nested or tensor.layout != torch.strided:
        raise ValueError(f"{name}: expected a dense tensor, got layout {tensor.layout}")
    if tensor.is_neg():
        raise ValueError(f"{name}: is a lazy negation; pass {name}.resolve_neg()")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"{name}: requires grad, but this operator has no backward pass")


def _check(name, tensor, axes, dtypes, sizes, device=None):
    """Checks a tensor and records the sizes of its axes. Raises ValueError."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    _plain(name, tensor)
    if tensor.dim() != len(axes):
        wanted = " ".join(axes)
        raise ValueError(f"{name}: expected axes [{wanted}], got shape {tuple(tensor.shape)}")
    if tensor.dtype not in dtypes:
        wanted = " or ".join(map(str, dtypes))
        raise ValueError(f"{name}: expected dtype {wanted}, got {tensor.dtype}")
    if device is not None and tensor.device != device:
        raise ValueError(f"{name}: expected device {device}, got {tensor.device}")
    if not tensor.is_cuda and not (INTERPRETED and tensor.device.type == "cpu"):
        hint = "a CUDA device, or TRITON_INTERPRET=1 in the environment before the import"
        raise ValueError(f"{name}: expected {hint}, got a tensor on {tensor.device}")
    for axis, size in zip(axes, tensor.shape):
        known, owner = sizes.setdefault(axis, (size, name))
        if size != known:
            raise ValueError(f"{name}: axis {axis} has size {size}, but {owner} has {known}")
        if size >= LARGEST:
            raise ValueError(f"{name}: axis {axis} has size {size}; positions are 32-bit")
    if axes and tensor.numel() > 0 and tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
        raise ValueError(f"{name}: the innermost axis {axes[-1]} must have stride 1, got "
                         f"{tensor.stride(-1)}")


def _span(tensor):
    """The addresses from the first element of a tensor to behind its last one."""
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    size = (last + 1) * tensor.element_size() if tensor.numel() else 0
    return tensor.data_ptr(), tensor.data_ptr() + size


def _output(name, tensor, shape, dtype, device, others):
    """A new output, or the caller's after a check. Raises ValueError.

    It must lie apart from ``others`` (name -> tensor), for programs run in any order.
    """
    if tensor is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    _plain(name, tensor)
    if tensor.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {tuple(tensor.shape)}")
    if tensor.dtype != dtype or tensor.device != device:
        raise ValueError(f"{name}: expected {dtype} on {device}, got {tensor.dtype} on "
                         f"{tensor.device}")
    reach = 0
    for stride, size in sorted((s, n) for n, s in zip(shape, tensor.stride()) if n > 1):
        if stride <= reach and tensor.numel() > 0:
            raise ValueError(f"{name}: elements overlap (strides {tensor.stride()})")
        reach += (size - 1) * stride
    if shape and shape[-1] > 1 and tensor.numel() > 0 and tensor.stride(-1) != 1:
        raise ValueError(f"{name}: the innermost axis must have stride 1, got {tensor.stride(-1)}")
    first, stop = _span(tensor)
    for other, held in others.items():
        start, end = _span(held)
        if first < end and start < stop:
            raise ValueError(f"{name}: must not share memory with {other}")
    return tensor


def _several(out, count):
    """The caller's outputs, one by one (None: a new one). Raises ValueError."""
    if out is None:
        return (None,) * count
    if not isinstance(out, (tuple, list)) or len(out) != count:
        got = f"{len(out)}" if isinstance(out, (tuple, list)) else type(out).__name__
        raise ValueError(f"out: expected {count} tensors, got {got}")
    return tuple(out)


def _planned(plan, graphs):
    """A plan of the caller's. Raises ValueError."""
    if not isinstance(plan, Plan) or not 0 <= plan.graph < graphs:
        raise ValueError(f"plan: expected a Plan of this file for graph 0 to {graphs - 1}")
    return plan


def _scalar(name, value, kind):
    """A run-time scalar as a Python number. Raises ValueError (a tensor would synchronise)."""
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        raise ValueError(f"{name}: expected a Python {kind.__name__}, got {type(value).__name__}")
    if kind is int and abs(value) > 2**30:  # sums with positions must fit into 32 bits
        raise ValueError(f"{name}: {value} is not between -2**30 and 2**30")
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


def _register(name, schema, run, fake):
    """Registers torch.ops.superopt.NAME, unless another file has: that one stays."""
    files = vars(torch.ops.superopt).setdefault("_kernel_files", {})
    if files.setdefault(name, __file__) != __file__:
        warnings.warn(f"torch.ops.superopt.{name} remains that of {files[name]}; "
                      f"call the function of {__file__} itself", stacklevel=3)
        return
    operator = torch.library.custom_op(f"superopt::{name}", run, mutates_args=(), schema=schema)
    operator.register_fake(fake)


def _even(size, tile):
    """Whether no lane of any tile is beyond the end."""
    return size > 0 and size % tile == 0


def _whole(size, least):
    """The tile that holds an entire axis."""
    return max(least, triton.next_power_of_2(size))

'''

ARITHMETIC = {
    "_joint": '''

def _joint(axes, size):
    """The joint positions of axes that share tiles. Raises ValueError."""
    if size >= LARGEST:
        raise ValueError(f"axes {axes} have {size} positions together; positions are 32-bit")
    return size

''',
    "_div": '''

def _div(a, b):
    """a / b as floats divide: by zero it is an infinity or NaN, no exception."""
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a)
    return a / b

''',
    "_nearest": '''

def _nearest(a, bits, least, lowest, largest):
    """a rounded to the nearest number of a format; infinities stay."""
    if not math.isfinite(a):
        return a
    step = math.ldexp(1.0, max(math.frexp(a)[1] - 1, least) - bits)
    return min(max(round(a / step) * step, lowest), largest)

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
