"""Text and host side of tensor descriptors; ``described.py`` runs them in the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from superopt.emit.ahead import launch_specs
from superopt.emit.block import print_block
from superopt.emit.module import emit
from superopt.emit.module import print_graph
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.carry import Carry
from superopt.ugraph.described import with_descriptors
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Bound
from superopt.ugraph.levels import Config
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import Loop
from superopt.ugraph.levels import Store
from superopt.ugraph.levels import Turn
from superopt.ugraph.levels import Walk
from superopt.ugraph.node import Input
from superopt.ugraph.node import Size
from superopt.ugraph.node import State
from superopt.ugraph.scalar import Fn
from tests import samples as s
from tests.emit.cases import attention_case
from tests.emit.harness import load


def turned() -> BlockGraph:
    """A product whose operands both lie across the order of tile dimensions, in a batch."""
    x, w = Input("x", ("a", "k", "m")), Input("w", ("n", "a", "k"))
    places = (("a", Grid(tiled=False)), ("m", Grid()), ("k", Loop()), ("n", Grid()))
    walk = Walk("k", (Carry("p", ("a", "m", "n"), Fn.ADD, s.mul(x, w)),))
    store = Store("out", ("a", "m", "n"), None, State("p", ("a", "m", "n")))
    return BlockGraph(places, (walk,), (store,), (Turn("a"), Turn("m"), Turn("n")))


def test_a_tile_is_read_in_memory_order_and_turned() -> None:
    text = print_block(turned(), "f", ("x", "w")).text
    assert (
        "x = tl.trans(x_desc.load([a_at, k_first, m_first]).reshape([TILE_K, TILE_M]), 1, 0)"
        in text
    )
    assert (
        "w = tl.trans(w_desc.load([n_first, a_at, k_first]).reshape([TILE_N, TILE_K]), 1, 0)"
        in text
    )
    assert "x_stride" not in text
    assert "mask" not in text.partition("tl.store")[0]


def test_what_a_range_excludes_is_read_as_zero_nevertheless() -> None:
    block = turned()
    (walk,) = block.walks
    ended = replace(block, walks=(replace(walk, stop=(Bound((), Size("m")),)),))
    text = print_block(ended, "f", ("x",)).text
    assert "x = tl.where( k_in[None, :], tl.trans(x_desc.load" in " ".join(text.split())


def test_a_file_has_the_functions_that_its_rows_ask_for() -> None:
    case = attention_case()
    graph = case.graphs[1]
    configs = case.configs(graph)

    def text(configs: tuple[Config, ...], descriptors: bool = False) -> str:
        return emit(case.program, [graph], [Row("r", 0, configs, ())], Header(), descriptors)

    pointers, asked = text(configs), text(with_descriptors(graph, configs))
    assert "TensorDescriptor" not in pointers
    assert "_desc" not in pointers
    assert asked.count("\ndef attention_g0_k0_desc(") == 1
    assert "attention_g0_k1_desc" not in asked  # the second launch has no operands
    assert "stages=2, descriptors=True)" in asked
    every = text(configs, descriptors=True)
    assert "\ndef attention_g0_k0_desc(" in every
    assert "stages=2, descriptors=True)" not in every.partition("TEST_PLANS")[0]


def test_a_launch_is_compiled_as_it_would_be_called() -> None:
    graph = s.online_attention()
    config = Config((("m", 64), ("d", 64), ("n", 32), ("e", 128)), descriptors=True)
    sizes = {"b": 2, "h": 3, "m": 100, "n": 50, "d": 64, "e": 72}
    (spec,) = launch_specs(graph, (config,), sizes, "fp16")
    assert spec.function == "attention_g0_k0_desc"
    signature = dict(spec.signature)
    assert signature["q_desc"] == "tensordesc<fp16[1, 1, 64, 64]>"
    assert signature["v_desc"] == "tensordesc<fp16[1, 1, 32, 128]>"
    assert signature["out_ptr"] == "*fp16"
    assert "k_stride_n" not in signature
    for other in (sizes | {"e": 68}, sizes | {"n": 0}):
        (spec,) = launch_specs(graph, (config,), other, "fp16")
        assert spec.function == "attention_g0_k0"
    (kernel,) = print_graph(graph)
    assert kernel.twin is not None
    assert [t.name for t in kernel.twin.described] == ["q", "k", "v"]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    path = tmp_path_factory.mktemp("described") / "printed_for_descriptors.py"
    yield load(attention_case().text(descriptors=True), path)
    del sys.modules[path.stem]


axes = st.lists(st.integers(0, 5).map(lambda n: 4 * n or 1), min_size=2, max_size=4)


@given(axes, st.sampled_from([1, 2, 4, 8, 24]), st.integers(0, 8), st.randoms())
def test_descriptors_are_made_where_tensors_allow_them(module, shape, pad, shift, random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(shape) - 1))
    random.shuffle(order)
    wide = [shape[i] for i in order] + [shape[-1] + pad]
    flat = torch.arange(shift + torch.Size(wide).numel(), dtype=torch.float32)
    laid = flat[shift:].view(wide)[..., : shape[-1]]
    tensor = laid.permute(*[order.index(i) for i in range(len(order))], -1)
    assert list(tensor.shape) == shape
    launch = module.Launch({}, descriptors=True)
    assert (
        module._descriptors(launch._replace(descriptors=False), (tensor, (4,) * len(shape))) == ()
    )
    made = module._descriptors(launch, (tensor, (4,) * len(shape)))
    used = [t for t, n in zip(tensor.stride()[:-1], shape[:-1], strict=True) if n > 1]
    assert bool(made) == (shift % 4 == 0 and all(t % 4 == 0 for t in used))
    for one in made:
        assert one.shape == shape
        assert one.block_shape == [4] * len(shape)
        assert one.strides[-1] == 1
        steps = zip(one.strides, tensor.stride(), shape, strict=True)
        assert all(a == b for a, b, n in steps if n > 1)


def test_no_descriptor_of_what_repeats_or_holds_nothing(module: ModuleType) -> None:
    launch = module.Launch({}, descriptors=True)
    row = torch.zeros(1, 8)
    assert module._descriptors(launch, (row, (1, 8)))
    assert not module._descriptors(launch, (row.expand(4, 8), (4, 8)))
    assert not module._descriptors(launch, (torch.zeros(0, 8), (4, 8)))
    assert not module._descriptors(launch, (row, (1, 8)), (torch.zeros(3, 7), (4, 8)))


def test_none_before_the_first_target_with_such_copies(module: ModuleType, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for capability, old in (((8, 0), True), ((8, 9), True), ((9, 0), False), ((10, 0), False)):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device, c=capability: c)
        assert module._old.__wrapped__(torch.device("cuda")) == old
    assert not module._old(torch.device("cpu"))
