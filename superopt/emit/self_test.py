"""The self-test of a printed file: every graph at small sizes against the float64 reference."""

from __future__ import annotations

from collections.abc import Sequence

from superopt.emit.host import TORCH_DTYPES
from superopt.emit.host import HostNames
from superopt.emit.host import parameters
from superopt.emit.kernel import Kernel
from superopt.emit.writer import Writer
from superopt.emit.writer import tuple_text
from superopt.ugraph.best import listed
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Split
from superopt.ugraph.node import Input
from superopt.ugraph.scalar import Kind

BODY = '''

def _inputs(real, device):
    """Random inputs at the small sizes; floats are rounded to `real`."""
    torch.manual_seed(0)
@MAKE@
    return @NAMES@


def self_test():
    """Runs every graph at small sizes, with remainders, against the reference in float64.

    Returns whether all agree. The limits are loose: this finds a broken set-up, and is no proof.
    """
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    limits = {torch.float32: 2e-5, torch.float16: 4e-3}
    if gpu:
        limits[torch.bfloat16] = 3e-2
    good = True
    for plan in TEST_PLANS:
        for real, limit in limits.items():
            inputs = _inputs(real, device)
            found = @NAME@(*inputs, plan=plan)
            wanted = reference(*inputs, dtype=torch.float64)
            if not isinstance(found, tuple):
                found, wanted = (found,), (wanted,)
            for got, want in zip(found, wanted):
                least = torch.finfo(got.dtype).tiny if got.is_floating_point() else 1.0
                got, want = got.double(), want.to(got.dtype).double()
                same = torch.isfinite(want) == torch.isfinite(got)
                got, want = torch.nan_to_num(got), torch.nan_to_num(want)
                error = float((got - want).norm() / max(float(want.norm()), least))
                ok = bool(same.all()) and error <= limit
                good &= ok
                word = "ok  " if ok else "FAIL"
                print(f"{word} {plan.name}, {real}: error {error:.1e} (limit {limit:.0e})")
    if not gpu:
        print("not run: bfloat16, and compiled code (no GPU: Triton's interpreter ran the text)")
    return good


if __name__ == "__main__":
    sys.exit(0 if self_test() else 1)
'''


def test_sizes(program: Program, graphs: Sequence[Sequence[Kernel]]) -> dict[str, int]:
    """Small, pairwise different sizes: above 16 with a remainder for tiled axes, else from 2."""
    axes = dict.fromkeys(a for p in program.params if isinstance(p, Input) for a in p.order)
    tiled = {t.axis for kernels in graphs for k in kernels for t in k.tiles}
    found: dict[str, int] = {}
    for axis in axes:
        count = sum((a in tiled) == (axis in tiled) for a in found)
        found[axis] = 19 + 4 * count if axis in tiled else 2 + count
    twins = [k.twin for kernels in graphs for k in kernels if k.twin]
    inner = dict.fromkeys(t.order[-1] for k in twins for t in k.described)
    # Rows of multiples of 8 lie as descriptors need it in each dtype.
    found |= {axis: 24 + 16 * count for count, axis in enumerate(inner)}
    more = listed((s.value for s in program.outputs), program.fixed)
    return {a: n + more.get(a, 0) for a, n in found.items()} | dict(program.fixed)


def print_self_test(program: Program, names: HostNames, graphs: Sequence[Sequence[Kernel]]) -> str:
    """``TEST_PLANS``, ``_inputs`` and ``self_test``, and the lines that run it."""
    sizes = test_sizes(program, graphs)
    out = Writer()
    out.line()
    with out.block("TEST_PLANS = ("):
        for index, kernels in enumerate(graphs):
            shown = ", ".join(f'"{a}": {s}' for a, s in sizes.items())
            launches = tuple_text(_launch(k) for k in kernels)
            out.lines.append(f'    Plan("graph {index}", {index}, {launches}, {{{shown}}}),')
            if any(k.twin for k in kernels):
                name = f"graph {index} with descriptors"
                launches = tuple_text(_launch(k, bool(k.twin)) for k in kernels)
                out.lines.append(f'    Plan("{name}", {index}, {launches}, {{{shown}}}),')
    out.line(")")
    make = Writer(1)
    for param in program.params:
        if isinstance(param, Input):
            make.line(f"{names.tensors[param.name]} = {_random(param, sizes)}")
        else:
            number = "0.5" if param.dtype == "fp32" else "3"
            make.line(f"{names.scalars[param.name]} = {number}")
    public = parameters(program, names)
    body = BODY.replace("@MAKE@", make.text().rstrip("\n"))
    return out.text() + body.replace("@NAMES@", tuple_text(public)).replace("@NAME@", program.name)


def _launch(kernel: Kernel, descriptors: bool = False) -> str:
    small = {t.axis: max(t.least, 8) for t in kernel.tiles if not t.whole}
    tiles = ", ".join(f'"{a}": {t}' for a, t in small.items())
    split = any(isinstance(p, Split) for _, p in kernel.block.places)
    how = ", descriptors=True" if descriptors else ""
    return f"Launch({{{tiles}}}, parts={3 if split else 1}, warps=4, stages=1{how})"


def _random(param: Input, sizes: dict[str, int]) -> str:
    shape = tuple_text(str(sizes[a]) for a in param.order)
    match param.kind:
        case Kind.REAL:
            dtype = TORCH_DTYPES[param.dtype] if param.dtype else "real"
            return f"torch.randn({shape}, device=device).to({dtype})"
        case Kind.INT:
            dtype = TORCH_DTYPES[param.dtype or "int32"]
            return f"torch.randint(0, 8, {shape}, device=device).to({dtype})"
        case Kind.BOOL:
            return f"torch.rand({shape}, device=device) < 0.7"
