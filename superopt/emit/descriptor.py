"""Tiles that come through tensor descriptors: how a kernel reads them, how a launcher makes them.

A kernel that has such tiles is printed twice, and a launch takes one of the two functions. Its
Config asks for descriptors; the launcher looks whether the tensors at hand allow them.
"""

from __future__ import annotations

from collections.abc import Mapping

from superopt.emit.kernel import Kernel
from superopt.emit.kernel import TensorArgument
from superopt.emit.program import Frame
from superopt.emit.writer import tuple_text

SUFFIX = "_desc"  # of the function that takes descriptors


def load(frame: Frame, tensor: TensorArgument, dims: tuple[str, ...]) -> str:
    """The tile of a described tensor, with one dimension for each of ``dims``.

    The copy counts in positions of each axis and gives 0 past the ends, which is what a masked
    load gives.
    """
    at = [frame.at(a).text if a not in dims else frame.first(a) or "0" for a in tensor.order]
    text = f"{tensor.pointer}.load([{', '.join(at)}])"
    kept = tuple(a for a in tensor.order if a in dims)
    if kept != tensor.order:
        text += f".reshape([{', '.join(frame.tile(a) for a in kept)}])"
    if kept != dims:
        turns = ", ".join(str(kept.index(a)) for a in dims)
        text = f"tl.trans({text}, {turns})"
    if limited := [a for a in dims if frame.limited(a)]:  # what every row masks must be 0
        inside = " & ".join(frame.inside(a).along(dims) for a in limited)
        text = f"tl.where({inside}, {text}, 0.0)"
    return text


def boxes(kernel: Kernel, memory: Mapping[str, str], tiles: Mapping[str, str]) -> list[str]:
    """(tensor, positions per axis that one copy brings) of every described tensor, as text.

    ``memory``, ``tiles``: the host's variables by tensor and by axis.
    """
    return [
        tuple_text((memory[t.name], tuple_text(tiles.get(a, "1") for a in t.order)))
        for t in kernel.described
    ]


def numbered(kernel: Kernel, made: str, memory: Mapping[str, str]) -> dict[str, str]:
    """``memory`` with the descriptors in the host's variable ``made`` in place of their tensors."""
    return {**memory, **{t.name: f"{made}[{i}]" for i, t in enumerate(kernel.described)}}


IMPORT_DESCRIPTOR = "from triton.tools.tensor_descriptor import TensorDescriptor\n"
HOST = '''

def _descriptors(launch, *boxes):
    """Descriptors of (tensor, positions of one tile along each axis), or nothing.

    There are none if the launch asks for none, before sm_90, and if a tensor lies otherwise than
    descriptors can say: empty, or with an address or a stride that is no multiple of 16 bytes.
    """
    if not launch.descriptors or _old(boxes[0][0].device):
        return ()
    found = []
    for tensor, box in boxes:
        unit = 16 // tensor.element_size()
        shape, steps = list(tensor.shape), [*tensor.stride()[:-1], 1]
        for axis, step in enumerate(steps[:-1]):
            if shape[axis] == 1:  # the step is never taken, so any that is aligned will do
                steps[axis] = unit
            elif step % unit or not 0 < step < 2**36 * unit:
                return ()
        if 0 in shape or tensor.data_ptr() % 16:
            return ()
        found.append(TensorDescriptor(tensor, shape, steps, list(box)))
    return found


@functools.lru_cache(maxsize=64)
def _old(device):
    """Whether a device has no engine for copies by descriptor (the interpreter has)."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) < (9, 0)

'''
