"""The host side of one graph: the function that launches its kernels in order."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from superopt.emit import descriptor
from superopt.emit.host import TORCH_DTYPES
from superopt.emit.host import HostNames
from superopt.emit.kernel import Kernel
from superopt.emit.kernel import TileArgument
from superopt.emit.names import Namer
from superopt.emit.number import python_number
from superopt.emit.struct import launch as struct
from superopt.emit.writer import Writer
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Split
from superopt.ugraph.levels import Store
from superopt.ugraph.split import part_axis


def print_runner(
    graph: KernelGraph, index: int, kernels: Sequence[Kernel], names: HostNames
) -> str:
    """The function that launches all kernels of one graph."""
    out = Writer()
    outputs = [names.outputs[n] for n in graph.outputs]
    arguments = ["plan", "case", *names.tensors.values(), *outputs, *names.scalars.values()]
    arguments += names.sizes.values()
    out.line()
    out.line()
    with out.block(f"def _run_g{index}({', '.join(arguments)}):"):
        out.line(f'"""Launches graph {index}: {len(kernels)} kernel(s) on the current stream."""')
        _Runner(graph, kernels, names, out).lines()
    return out.text()


class _Runner:
    def __init__(
        self, graph: KernelGraph, kernels: Sequence[Kernel], names: HostNames, out: Writer
    ) -> None:
        self.graph, self.kernels, self.out = graph, kernels, out
        self.host = names
        self.names = Namer()
        for name in names.all():
            self.names.fresh(name)
        self.memory = {**names.tensors, **{n: names.outputs[n] for n in graph.outputs}}
        self.sizes = dict(names.sizes)
        self.device = next(iter(names.tensors.values()))

    def lines(self) -> None:
        if any(k.precise for k in self.kernels):
            self.out.line('precision = "tf32" if plan.tf32 else "ieee"')
        for index, kernel in enumerate(self.kernels):
            self._launch(index, kernel)

    def _launch(self, index: int, kernel: Kernel) -> None:
        out = self.out
        out.line(f"launch = plan.launches[{index}]")
        if (
            kernel.neighbours.before
        ):  # a launch without programs is none that another one can wait for
            out.line(f"dependent = programs > 0 and _dependent(launch, {self.device}.device)")
        for axis, place in kernel.block.places:
            if isinstance(place, Split):
                self.sizes[part_axis(axis)] = self.names.fresh(f"{axis}_parts")
                out.line(f"{self.sizes[part_axis(axis)]} = launch.parts")
        tiles = {t.axis: self._tile(t) for t in kernel.tiles}
        extents = {t.axis: self._extent(t) for t in kernel.tiles}
        for store in kernel.block.all_stores:
            if store.name not in self.memory:
                self._workspace(store)
        if kernel.roles:
            self._roles(index, kernel, tiles, extents)
            return
        self._plain(index, kernel, tiles, extents)

    def _roles(
        self, index: int, kernel: Kernel, tiles: dict[str, str], extents: dict[str, str]
    ) -> None:
        """A launch that may have roles; they take descriptors of all that they can."""
        out, boxes, why = self.out, self.names.fresh("boxes"), self.names.fresh("why")
        described = struct.boxes(kernel.roles, self.memory, tiles)
        out.line(f"{boxes} = ({', '.join(described)},)")
        fewest = ", ".join(f'({r.consumers}, "{r.kind}"): {r.least}' for r in kernel.roles)
        self._programs(kernel, tiles, extents)  # those with roles are as many or fewer
        out.line(f"{why} = _without_roles(launch, case, programs, {{{fewest}}}, {boxes})")
        out.line(f'TAKEN["{kernel.name}"] = {why}')
        for number, roles in enumerate(kernel.roles):
            word, made = "elif" if number else "if", self.names.fresh("shared")
            asked = f'launch.consumers == {roles.consumers} and launch.roles == "{roles.kind}"'
            with out.block(f"{word} not {why} and {asked}:"):
                out.line(f"{made} = _shared_descriptors({boxes})")
                split = {a: f"{tiles[a]} * {roles.consumers}" for a in tiles if a == roles.rows}
                whole = tiles | split
                self._programs(kernel, whole, extents)
                memory = descriptor.numbered(roles.kernel, made, self.memory)
                with out.block("if programs > 0:"):
                    grid = f"_at_once(programs, {self.device}.device, {roles.each})"
                    grid = grid if roles.persistent else "programs"
                    out.line(f"{roles.kernel.name}[({grid},)](")
                    for line in self._arguments(roles.kernel, tiles, extents, memory, whole):
                        out.line(f"    {line}")
                    slots = ", ".join(f"{name}=launch.stages" for name, _ in roles.slots)
                    out.line(f"    {slots}, num_warps=4, num_stages=launch.stages,")
                    out.line(")")
        with out.block("else:"):
            out.line(f"launch = _instead(plan, {index})")
            for tile in (t for t in kernel.tiles if not t.whole):
                out.line(f'{tiles[tile.axis]} = launch.tiles["{tile.axis}"]')
            self._plain(index, kernel, tiles, extents)

    def _programs(self, kernel: Kernel, tiles: dict[str, str], extents: dict[str, str]) -> None:
        counts = []
        for turn in kernel.block.order:
            if kernel.block.place[turn.axis] == Grid():
                counts.append(f"triton.cdiv({extents[turn.axis]}, {tiles[turn.axis]})")
            else:
                counts.append(self._size(turn.axis))
        self.out.line(f"programs = {' * '.join(counts) or '1'}")

    def _plain(
        self, index: int, kernel: Kernel, tiles: dict[str, str], extents: dict[str, str]
    ) -> None:
        """A launch whose threads are the compiler's."""
        out = self.out
        self._programs(kernel, tiles, extents)
        with out.block("if programs > 0:"):
            if kernel.twin is None:
                self._call(index, kernel, tiles, extents, self.memory)
                return
            made = self.names.fresh("descriptors")
            boxes = descriptor.boxes(kernel.twin, self.memory, tiles)
            out.line(f"{made} = _descriptors(launch, {', '.join(boxes)})")
            with out.block(f"if {made}:"):
                memory = descriptor.numbered(kernel.twin, made, self.memory)
                self._call(index, kernel.twin, tiles, extents, memory)
            with out.block("else:"):
                self._call(index, kernel, tiles, extents, self.memory)

    def _call(
        self,
        index: int,
        kernel: Kernel,
        tiles: dict[str, str],
        extents: dict[str, str],
        memory: Mapping[str, str],
    ) -> None:
        """``memory``: what is passed for each tensor."""
        self.out.line(f"{kernel.name}[(programs,)](")
        for line in self._arguments(kernel, tiles, extents, memory):
            self.out.line(f"    {line}")
        for line in self._options(index, kernel):
            self.out.line(f"    {line}")
        self.out.line(")")

    def _arguments(
        self,
        kernel: Kernel,
        tiles: dict[str, str],
        extents: dict[str, str],
        memory: Mapping[str, str],
        whole: Mapping[str, str] | None = None,
    ) -> list[str]:
        """``whole``: the tiles of a program, if those of one call are smaller."""
        found = [", ".join(memory[self._known(t.name)] for t in kernel.tensors) + ","]
        for tensor in kernel.tensors:
            if tensor.strides:
                name = self._tensor(tensor.name)
                axes = [tensor.order.index(a) for a, _ in tensor.strides]
                found.append(", ".join(f"{name}.stride({i})" for i in axes) + ",")
        if kernel.sizes:
            found.append(", ".join(self._size(a) for a, _ in kernel.sizes) + ",")
        for scalar in kernel.scalars:
            text = python_number(scalar.value, self.sizes, self.host.scalars)
            kind = "float" if scalar.type == "fp32" else "int"
            found.append(f"{kind}({text}),  # {scalar.parameter}")
        found += [f"{t.tile}={tiles[t.axis]}," for t in kernel.tiles]
        entire = whole or tiles
        found += [f"{t.even}=_even({extents[t.axis]}, {entire[t.axis]})," for t in kernel.tiles]
        found += ["GROUP=launch.group,"] if kernel.grouped else []
        found += ["PRECISION=precision,"] if kernel.precise else []
        return found

    def _options(self, index: int, kernel: Kernel) -> list[str]:
        """How it is launched. Triton's interpreter passes over what it does not know."""
        found = ["DEPENDENT=dependent,"] if kernel.neighbours.before else []
        if kernel.neighbours.after:
            found.append(f"LEADS=_dependent(plan.launches[{index + 1}], {self.device}.device),")
        after = " launch_pdl=dependent," if kernel.neighbours.before else ""
        return [*found, f"num_warps=launch.warps, num_stages=launch.stages,{after}"]

    def _tile(self, tile: TileArgument) -> str:
        name = self.names.fresh(f"{tile.axis}_tile")
        if tile.whole:
            self.out.line(f"{name} = _whole({self._size(tile.axis)}, {tile.least})")
        else:
            self.out.line(f'{name} = launch.tiles["{tile.axis}"]')
        return name

    def _extent(self, tile: TileArgument) -> str:
        """The number of positions that tiles are cut from, which must be known to fit 32 bits."""
        if not tile.guests:
            return self._size(tile.axis)
        axes = (tile.axis, *tile.guests)
        name = self.names.fresh("_".join([*axes, "size"]))
        product = " * ".join(self._size(a) for a in axes)
        self.out.line(f'{name} = _joint("{" ".join(axes)}", {product})')
        return name

    def _size(self, axis: str) -> str:
        if axis not in self.sizes:
            raise NotEmittable(
                f"no tensor of the signature has axis {axis!r}, so its size is unknown"
            )
        return self.sizes[axis]

    def _tensor(self, name: str) -> str:
        return self.memory[self._known(name)]

    def _known(self, name: str) -> str:
        if name not in self.memory:
            raise NotEmittable(
                f"tensor {name!r} is neither a parameter nor stored by an earlier kernel"
            )
        return name

    def _workspace(self, store: Store) -> None:
        self.memory[store.name] = self.names.fresh(store.name)
        shape = tuple_text(self._size(a) for a in store.order)
        dtype = "case" if store.dtype is None else TORCH_DTYPES[store.dtype]
        self.out.line(
            f"{self.memory[store.name]} = torch.empty({shape}, dtype={dtype}, "
            f"device={self.device}.device)"
        )
