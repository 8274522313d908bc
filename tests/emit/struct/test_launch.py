"""Files with roles: when the launcher takes them, and what the compiler says of them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from superopt.emit.ahead import launch_specs
from superopt.emit.kernel import TensorArgument
from superopt.emit.module import _constants
from superopt.emit.module import _helpers
from superopt.emit.module import emit
from superopt.emit.module import print_graph
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.emit.struct.dialect import IMPORTS
from superopt.emit.struct.launch import described_type
from superopt.emit.struct.launch import joined
from superopt.emit.struct.launch import with_roles
from superopt.errors import NotEmittable
from superopt.source import SPILL_BYTES_MOST
from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.masks import cleared
from superopt.ugraph.node import Input
from superopt.ugraph.walk import topo
from superopt.verify.run.compile_kernel import facts_of
from superopt.verify.run.compile_kernel import serialised
from tests import samples
from tests.emit.harness import load
from tests.threads.cases import block
from tests.threads.cases import config

# Several files of one operator are loaded here.
pytestmark = pytest.mark.filterwarnings("ignore:torch.ops.superopt.attention remains")

SIZES = {"b": 2, "h": 4, "m": 512, "n": 512, "d": 128, "e": 128}
NARROW = SIZES | {"d": 64, "e": 64}
WIDE = Config((("m", 64), ("n", 128), ("d", 128), ("e", 128)), stages=2, consumers=2)
THREE = Config((("m", 64), ("n", 128), ("d", 64), ("e", 64)), stages=2, consumers=3)
PLAIN = Config((("m", 64), ("n", 64), ("d", 128), ("e", 128)))


def online(causal: bool) -> KernelGraph:
    graph = samples.online_attention(causal=causal)
    return replace(graph, kernels=tuple(cleared(k) for k in graph.kernels))


def row(chosen: Config, sizes=SIZES, target="sm_90") -> Row:
    return Row(f"case{chosen.consumers}", 0, (chosen,), tuple(sizes.items()), target=target)


def text_of(causal: bool) -> str:
    rows = [row(WIDE), row(THREE, NARROW), row(PLAIN, target="sm_80")]
    return emit(samples.attention(causal=causal), [online(causal)], rows, Header("the spec"))


def test_a_file_has_a_function_for_each_number_of_consumers_and_the_plain_one():
    text = text_of(causal=False)
    for name in ("", "_roles2", "_roles3"):
        assert f"def attention_g0_k0{name}(" in text
    assert "stages=2, consumers=3)" in text
    assert "programs = b_size * h_size * triton.cdiv(m_size, m_tile * 3)" in text
    assert "EVEN_M=_even(m_size, m_tile * 3)," in text


def test_a_file_without_roles_does_not_speak_of_them():
    text = emit(samples.attention(), [online(False)], [row(PLAIN)], Header("the spec"))
    assert "gluon" not in text
    assert "consumers" not in text


RUN = """
import sys, torch, importlib.util
spec = importlib.util.spec_from_file_location("file", sys.argv[1])
file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(file)
q, k, v = (torch.randn(1, 2, 40, 16) for _ in range(3))
for plan in file.PLANS:
    assert (file.attention(q, k, v, plan=plan) - file.reference(q, k, v)).abs().max() < 1e-5
"""


def test_where_no_roles_can_run_the_plain_function_does(tmp_path):
    path = tmp_path / "file.py"
    path.write_text(text_of(causal=True))
    command = [sys.executable, "-c", RUN, str(path)]
    done = subprocess.run(
        command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "box", [[64, 64], [1, 1, 64, 128], [128, 32], [1, 64, 16], [4, 64], [2, 8]]
)
def test_types_of_descriptors_are_those_of_the_compiler(box):
    import torch
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
    from triton.runtime.jit import mangle_type

    layout = gl.NVMMASharedLayout.get_default_for(box, gl.bfloat16)
    tensor = torch.empty([8] * (len(box) - 1) + [128], dtype=torch.bfloat16)
    argument = TensorArgument("x", "x_desc", tuple("abcd"[: len(box)]), None, (), False, True)
    mangled = mangle_type(TensorDescriptor.from_tensor(tensor, box, layout))
    assert described_type(argument, box, "bf16") == mangled


def test_roles_compile_without_spills_and_with_products_that_overlap(tmp_path: Path):
    graph = online(False)
    program = replace(samples.attention(), name="roles_of_attention")
    module = load(emit(program, [graph], [row(THREE, NARROW)], Header("")), tmp_path / "roles.py")
    (spec,) = launch_specs(graph, (THREE,), NARROW, "bf16")
    facts = facts_of(module, spec, "sm_90")  # it refuses what the assembler serialises
    assert facts.function == "attention_g0_k0_roles3"  # after the graph, not the file
    assert facts.spill_bytes <= SPILL_BYTES_MOST
    assert facts.shared_bytes <= 227 * 1024


RING = replace(WIDE, ring=True)


def test_kinds_of_roles_have_functions_of_their_own():
    graph, plain = online(True), row(PLAIN, target="sm_90")
    rows = [row(WIDE), row(RING), row(replace(WIDE, joined=True)), plain]
    text = emit(samples.attention(causal=True), [graph], rows, Header(""))
    for name in ("roles2", "roles2_ring", "roles2_joined"):
        assert f"def attention_g0_k0_{name}(" in text
        assert f"attention_g0_k0_{name}[(programs,)](" in text
    assert 'consumers=2, roles="ring")' in text
    assert 'launch.consumers == 2 and launch.roles == "ring":' in text
    assert '{(2, ""): 2, (2, "ring"): 2, (2, "joined"): 2}' in " ".join(text.split())


SEVERAL = replace(WIDE, persistent=2)


def test_programs_fill_the_waves_that_multiprocessors_would(tmp_path):
    graph, plain = online(True), row(PLAIN, target="sm_90")
    text = emit(
        samples.attention(causal=True), [graph], [row(SEVERAL), row(WIDE), plain], Header("")
    )
    assert "attention_g0_k0_roles2_persistent2[(_at_once(programs, q.device, 0),)](" in text
    assert "attention_g0_k0_roles2[(programs,)](" in text
    slots = '2 * launch.consumers if launch.roles in ("persistent2",) else launch.consumers'
    assert f"(q, (1, 1, m_tile, d_tile), {slots})" in text  # two slots, each for all
    module = load(text, tmp_path / "several.py")
    module._multiprocessors = lambda device: 132
    assert [module._at_once(n, None, 0) for n in (1, 131, 2752, 4096)] == [1, 131, 132, 128]
    assert [module._at_once(n, None, 8) for n in (1, 131, 4096)] == [1, 131, 512]
    with pytest.raises(ValueError, match="counted in 32 bits"):
        module._at_once(2**30, None, 0)
    without = emit(samples.attention(causal=True), [graph], [row(WIDE), plain], Header(""))
    assert "_at_once" not in without


def test_the_launcher_says_why_it_takes_no_roles(tmp_path):
    rows = [row(RING), replace(row(PLAIN), sizes=row(RING).sizes)]
    module = load(emit(samples.attention(), [online(False)], rows, Header("")), tmp_path / "f.py")

    def why(launch, dtype=None, row=128, tiles=8):
        tensor = module.torch.empty((2, 4, 512, row), dtype=dtype or module.torch.bfloat16)
        fewest = {(2, "ring"): 2}
        boxes = ((tensor[..., :128], (1, 1, 64, 128), 2),)
        return module._without_roles(launch, tensor.dtype, tiles, fewest, boxes)

    asked, plain = (p.launches[0] for p in module.PLANS)
    assert why(plain) == "the plan asks for none"
    assert why(asked) == "the device is no sm_90"
    assert why(asked._replace(roles="joined")) == "2 joined with 2 slots: not in this file"
    assert why(asked._replace(stages=1)) == "2 ring with 1 slots: not in this file"
    module._room = lambda device: 232448
    assert why(asked) == why(asked, tiles=2**30 - 2**15 - 1) == ""
    assert why(asked, tiles=2**30 - 2**15) == "1073709056 tiles: roles count them in 32 bits"
    assert why(asked, module.torch.float32) == "operands are torch.float32, not 16 bits wide"
    assert "no multiple of 16 bytes" in why(asked, row=132)
    module._room = lambda device: 30000
    assert why(asked) == "tiles take 32768 bytes of 28976 of shared memory"
    # Where roles cannot run, a plan of the same case without them is taken.
    assert module._instead(module.PLANS[0], 0) is plain
    q = module.torch.randn((1, 2, 40, 128))
    if module.INTERPRETED:
        module.attention(q, q, q, plan=module.PLANS[0])
        assert module.TAKEN == {"attention_g0_k0": "the device is no sm_90"}


IMPORT_TRITON = "import triton\nimport triton.language as tl\n"


def kernels_of(name: str) -> KernelGraph:
    """The block graph of a case as the only kernel of a graph."""
    graph = block(name)
    params = tuple(dict.fromkeys(n for n in topo(graph.roots()) if isinstance(n, Input)))
    return KernelGraph("f", params, tuple(s.name for s in graph.stores), (graph,))


def compiled(tmp_path: Path, name: str, old: str = "", new: str = "", **how: Any) -> Facts:
    """What the compiler says of the roles of a case, with one change in their text."""
    kernels = kernels_of(name)
    chosen = replace(config(kernels.kernels[0]), consumers=2, stages=3, **how)
    (kernel,) = print_graph(kernels, 0, [((chosen,), "bf16")])
    roles = kernel.roles[0].kernel
    assert old in roles.text
    text = f"{IMPORT_TRITON}{IMPORTS}{_constants([roles], '')}{_helpers([roles])}\n\n"
    module = load(text + roles.text.replace(old, new), tmp_path / f"roles_{name}.py")
    sizes = {"h": 2, "m": 256, "n": 256, "k": 256, "d": 64, "e": 64}
    (spec,) = launch_specs(kernels, (chosen,), sizes, "bf16")
    return facts_of(module, spec, "sm_90")


@pytest.mark.parametrize(("name", "persistent"), [("scaled", 0), ("behind", 1), ("both", 2)])
def test_other_kernels_with_products_compile(tmp_path: Path, name, persistent):
    assert compiled(tmp_path, name, persistent=persistent).spill_bytes <= SPILL_BYTES_MOST


def test_a_product_that_is_read_in_flight_is_refused(tmp_path: Path):
    early = "num_outstanding=1, deps=[product_1_flight]"
    with pytest.raises(ValueError, match=r"serialises the products: .*C7514"):
        compiled(tmp_path, "plain", early, early.replace("=1", "=2"))


def test_assemblers_without_a_complaint_say_nothing():
    assert serialised(".version 8.0\n.target sm_90a\n.address_size 64\n", 90) == ""


def test_the_fewest_slots_are_those_with_which_nobody_waits_for_ever():
    made = with_roles(block("matmul"), "f", replace(config(block("matmul")), consumers=2), "bf16")
    assert made.least == 2
    assert made.moving == ("x", "y")
    assert made.kernel.name == "f_roles2"


def test_two_texts_cannot_share_a_name():
    made = with_roles(block("matmul"), "f", replace(config(block("matmul")), consumers=2), "bf16")
    assert joined((made,), made) == (made,)
    other = replace(made, kernel=replace(made.kernel, text="other"))
    with pytest.raises(NotEmittable, match="two kernels are called 'f_roles2'"):
        joined((made,), other)
