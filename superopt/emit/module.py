"""A whole kernel file: graphs, dispatch rows and header as self-contained text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from superopt.emit import dependent
from superopt.emit import descriptor
from superopt.emit.block import print_block
from superopt.emit.dialect import Dialect
from superopt.emit.flagtree import lite
from superopt.emit.flagtree.kernel import print_threads as print_tle
from superopt.emit.host import host_names
from superopt.emit.kernel import Kernel
from superopt.emit.kernel import StructKernel
from superopt.emit.launcher import print_launcher
from superopt.emit.names import ascii_name
from superopt.emit.operator import print_operator
from superopt.emit.payload import HELPERS as FOLLOWING
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.emit.ranking import HELPERS as RANKING
from superopt.emit.runner import print_runner
from superopt.emit.runtime import ARITHMETIC
from superopt.emit.runtime import CHECKS
from superopt.emit.runtime import LAUNCH_ROLES
from superopt.emit.runtime import TYPES
from superopt.emit.scalar import HELPERS
from superopt.emit.scalar import VALUES
from superopt.emit.self_test import print_self_test
from superopt.emit.struct import launch as struct
from superopt.emit.struct import waves
from superopt.emit.struct.dialect import IMPORTS as IMPORT_ROLES
from superopt.emit.struct.kernel import print_threads
from superopt.emit.torch_reference import FUNCTIONS
from superopt.emit.torch_reference import print_reference
from superopt.emit.writer import tuple_text
from superopt.errors import NotEmittable
from superopt.ugraph.described import described
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.scalar import Constant
from superopt.ugraph.split import launches

MARKER = "# --- superopt: digest covers the text below ---"

IMPORTS = """import functools
import math
import os
import sys
import warnings
from typing import NamedTuple

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # Triton reads it when it is imported

import triton
import triton.language as tl
"""


def function_name(graph: str, index: int, launch: int) -> str:
    """The printed function of launch number ``launch`` of graph number ``index`` of a file."""
    return f"{ascii_name(graph)}_g{index}_k{launch}"


def print_graph(
    graph: KernelGraph,
    index: int = 0,
    asked: Sequence[tuple[Sequence[Config], str]] = (),
    dialect: Dialect = Dialect.TRITON,
) -> tuple[Kernel, ...]:
    """The kernels of a graph, one for each of ``split.launches``, with their twins.

    ``asked``: Configs of all launches, with the dtype of their case, that may ask for roles.

    Raises:
        NotEmittable: a node has no text, or not where it stands.
    """
    found = []
    blocks = launches(graph)
    printer = print_tle if dialect is Dialect.FLAGTREE else print_threads
    for number, block in enumerate(blocks):
        name = function_name(graph.name, index, number)
        around = dependent.neighbours(number, len(blocks))
        tensors = [t.name for t in described(block)]
        twin = (
            print_block(block, f"{name}{descriptor.SUFFIX}", tensors, around, dialect)
            if tensors
            else None
        )
        roles: tuple[StructKernel, ...] = ()
        for configs, dtype in asked:
            if number < len(configs) and configs[number].consumers:
                made = struct.with_roles(block, name, configs[number], dtype, printer)
                roles = struct.joined(roles, made)
        plain = print_block(block, name, (), around, dialect)
        found.append(replace(plain, twin=twin, roles=roles))
    return tuple(found)


def emit(
    program: Program,
    graphs: Sequence[KernelGraph],
    rows: Sequence[Row],
    header: Header,
    descriptors: bool = False,
    dialect: Dialect = Dialect.TRITON,
) -> str:
    """The kernel file of ``program`` (user names), which holds each of ``graphs`` once.

    A launch also has its function with tensor descriptors if some row asks for it, or, with
    ``descriptors``, if there is one. ``dialect``: the language of its functions.

    Raises:
        NotEmittable: something cannot be printed; the message says what.
    """
    names = host_names(program)
    if not graphs or not rows:
        raise NotEmittable("a kernel file needs at least one graph and one row")
    printed = _printed(graphs, rows, descriptors, dialect)
    functions = [f for kernels in printed for one in kernels for f in struct.functions(one)]
    roles = any(one.roles for kernels in printed for one in kernels)
    twins = any(one.twin for kernels in printed for one in kernels)
    tle = dialect is Dialect.FLAGTREE
    default = rows[0].dtype
    host = "".join(print_runner(g, i, printed[i], names) for i, g in enumerate(graphs))
    host += print_launcher(program, names, len(graphs), default)
    host += print_operator(program, names, default)
    reference = print_reference(program, names)
    interpreted = f"INTERPRETED = not isinstance({printed[0][0].name}, triton.JITFunction)\n"
    sizes = tuple_text(f'"{a}"' for a in names.sizes)
    parts = [
        IMPORTS,
        descriptor.IMPORT_DESCRIPTOR if twins or (roles and tle) else "",
        lite.imported(roles) if tle else IMPORT_ROLES if roles else "",
        _constants(functions, host + reference),
        TYPES.replace(*LAUNCH_ROLES) if roles else TYPES,
        _helpers(functions),
        *(f"\n\n{k.text}" for k in functions),
        plans(rows),
        f"SIZES = {sizes}  # the axes, in the order of the signature\n",
        "FLOATS = (torch.float16, torch.bfloat16, torch.float32)\n",
        'BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}\n',
        "LARGEST = 2**31 - 2**16\n",
        interpreted,
        CHECKS,
        descriptor.HOST if twins else "",
        struct.host(layouts=not tle) if roles else "",
        waves.HOST if any(r.persistent for ks in printed for k in ks for r in k.roles) else "",
        dependent.HOST if any(k.neighbours.before for k in functions) else "",
        *(text for name, text in ARITHMETIC.items() if f"{name}(" in host + reference),
        host,
        *(text for name, text in FUNCTIONS.items() if f"{name}(" in reference),
        reference,
        print_self_test(program, names, printed),
    ]
    body = _tidy("".join(parts))
    return f"{_header(program, header, body)}{MARKER}\n{body}"


def body_digest(text: str) -> str:
    """The digest of a kernel file: of all that stands below its marker line.

    Raises:
        ValueError: the text has no marker.
    """
    _, found, body = text.partition(f"{MARKER}\n")
    if not found:
        raise ValueError("the text has no marker line, so it is no kernel file of ours")
    return _digest(body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _printed(
    graphs: Sequence[KernelGraph], rows: Sequence[Row], descriptors: bool, dialect: Dialect
) -> list[tuple[Kernel, ...]]:
    """The kernels of every graph, with what some row asks for beside them."""
    found = [
        print_graph(g, i, [(r.configs, r.dtype) for r in rows if r.graph == i], dialect)
        for i, g in enumerate(graphs)
    ]
    for row in rows:
        _check_row(row, found)
    return found if descriptors else _wanted(found, rows)


def _check_row(row: Row, printed: Sequence[Sequence[Kernel]]) -> None:
    if not 0 <= row.graph < len(printed):
        raise NotEmittable(f"row {row.name!r} names graph {row.graph} of {len(printed)}")
    kernels = printed[row.graph]
    if len(row.configs) != len(kernels):
        raise NotEmittable(
            f"row {row.name!r} has {len(row.configs)} configs for {len(kernels)} launches"
        )
    for kernel, config in zip(kernels, row.configs, strict=True):
        if config.dependent and not kernel.neighbours.before:
            raise NotEmittable(f"row {row.name!r}: the first launch of a graph depends on none")
        if config.group < 1:
            raise NotEmittable(f"row {row.name!r}: groups of {config.group} tiles; at least 1")
        for tile in (t for t in kernel.tiles if not t.whole):
            size = config.tile.get(tile.axis, 0)
            if size < tile.least or size & (size - 1):
                raise NotEmittable(
                    f"row {row.name!r}: {kernel.name} needs a tile of {tile.axis!r} that is a "
                    f"power of two and at least {tile.least}, got {size}"
                )


def _wanted(printed: Sequence[Sequence[Kernel]], rows: Sequence[Row]) -> list[tuple[Kernel, ...]]:
    """``printed`` without the twins that no row asks for."""
    asked = {(row.graph, i) for row in rows for i, c in enumerate(row.configs) if c.descriptors}
    return [
        tuple(k if (g, i) in asked else replace(k, twin=None) for i, k in enumerate(kernels))
        for g, kernels in enumerate(printed)
    ]


def _constants(functions: Sequence[Kernel], host: str) -> str:
    needed = {h for k in functions for h in k.helpers}
    needed |= {c.value for c in Constant if f"{c.value}.value" in host}
    lines = [f"{c.value} = tl.constexpr({VALUES[c]})" for c in Constant if c.value in needed]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _helpers(functions: Sequence[Kernel]) -> str:
    needed = {h for k in functions for h in k.helpers}
    known = {**HELPERS, **RANKING, **FOLLOWING}
    return "".join(f"\n\n{text}" for name, text in known.items() if name in needed)


def plans(rows: Sequence[Row]) -> str:
    """``PLANS``, a line or several for each row."""
    lines = ["", "", "PLANS = ("]
    for row in rows:
        sizes = ", ".join(f'"{a}": {s}' for a, s in row.sizes)
        lines += ["    Plan(", f'        "{row.name}",', f"        {row.graph},", "        ("]
        for config in row.configs:
            tiles = ", ".join(f'"{a}": {t}' for a, t in config.tiles)
            numbers = f"parts={config.parts}, warps={config.warps}, stages={config.stages}"
            numbers += ", descriptors=True" if config.descriptors else ""
            numbers += f", group={config.group}" if config.group != 1 else ""
            numbers += ", dependent=True" if config.dependent else ""
            numbers += f", consumers={config.consumers}" if config.consumers else ""
            numbers += f', roles="{config.kind}"' if config.kind else ""
            lines.append(f"            Launch({{{tiles}}}, {numbers}),")
        lines += ["        ),", f"        {{{sizes}}},"]
        lines += [f'        dtype="{row.dtype}",', f"        tf32={row.tf32},"]
        lines += [f'        target="{row.target}",', "    ),"]
    return "\n".join([*lines, ")", "", ""])


def _header(program: Program, header: Header, body: str) -> str:
    lines = [f"# {program.name}: printed by superopt. Edit the spec, not this file.", "#"]
    blocks = (
        ("Spec", header.spec),
        ("Derivation", header.derivation),
        ("Verdict", header.verdict),
        ("Tuning", header.tuning),
    )
    for title, text in blocks:
        if text:
            lines.append(f"# {title}:")
            lines += [f"#   {line}".rstrip() for line in text.strip("\n").split("\n")]
            lines.append("#")
    lines.append(f"# sha256 of the text below the marker: {_digest(body)}")
    return "\n".join(lines) + "\n"


def _tidy(text: str) -> str:
    """At most two empty lines in a row."""
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text
