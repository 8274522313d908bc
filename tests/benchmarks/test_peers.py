"""Peers compute what the specs mean: every one that runs on a CPU, uncompiled, at small sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from superopt.case import Case
from superopt.case import bind
from superopt.device import TARGETS
from superopt.loading import load as load_specs
from superopt.tune.contest import Contest
from superopt.tune.peers import load_peers
from superopt.ugraph.node import Scalar
from superopt.verify.run.run_kernel import as_tuple

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "benchmarks" / "peers"
HELPERS = ("attention", "bandwidth", "matmul_rows", "scaled_dot_product")
SPECS = (ROOT / "specs", ROOT / "benchmarks" / "specs")
LARGE = "matmul-8192"  # too large for a CPU
LONG = 1152  # longer than the window of the windowed one
SIZES = {"b": 2, "h": 2, "g": 2, "r": 2, "d": 16, "e": 16, "k": 32}

# peers file -> spec file -> functions, and the sizes that differ from SIZES
SUBJECTS = [
    ("attention", "attention", "attention", {"m": 256, "n": 256}),
    ("attention", "attention", "causal", {"m": 256, "n": 256}),
    ("attention", "attention", "decode", {"n": 256}),
    ("attention", "qk_norm_attention", "qk_norm_attention", {"m": 256, "n": 256}),
    ("masked_attention", "masked_attention", "sliding_window", {"b": 1, "m": LONG, "n": LONG}),
    ("masked_attention", "masked_attention", "alibi", {"m": 256, "n": 256}),
    ("masked_attention", "masked_attention", "softcap", {"m": 256, "n": 256}),
    ("masked_attention", "masked_attention", "document", {"m": 256, "n": 256}),
    ("masked_attention", "masked_attention", "sink", {"m": 256, "n": 256}),
    ("grouped_decode", "grouped_decode", "grouped_decode", {"n": 256}),
    ("grouped_decode", "grouped_decode", "softcap_decode", {"n": 256}),
    ("grouped_decode", "grouped_decode", "alibi_decode", {"n": 256}),
    ("grouped_decode", "grouped_decode", "grouped_step", {"m": 4, "n": 256}),
    ("attention_rows", "attention_rows", "attention_sizes", {"m": 256, "n": 256}),
    ("attention_rows", "attention_rows", "grouped_causal", {"m": 256, "n": 256}),
    ("matmul_rows", "matmul_rows", "matmul", {"m": 16, "n": 48}),
    ("matmul_rows", "matmul_rows", "linear_residual", {"m": 16, "n": 48}),
    ("linear", "rms_norm_linear", "rms_norm_linear", {"m": 16, "n": 48}),
    ("linear", "lora", "lora", {"m": 16, "n": 48, "r": 8}),
    ("linear", "gated_mlp", "gated_mlp", {"m": 16, "n": 48}),
    ("rows", "softmax", "softmax", {"m": 8, "n": 64}),
    ("rows", "softmax", "log_softmax", {"m": 8, "n": 64}),
    ("rows", "logsumexp", "logsumexp", {"m": 8, "n": 64}),
    ("rows", "rms_norm", "rms_norm", {"m": 8, "n": 64}),
    ("rows", "layer_norm", "layer_norm", {"m": 8, "n": 64}),
    ("rows", "norm_transformer", "norm_step", {"m": 8, "d": 64}),
]


@pytest.fixture
def uncompiled(monkeypatch):
    from torch.nn.attention import flex_attention

    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    for name in HELPERS:  # they hold compiled functions
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in HELPERS:
        sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore")  # of torch, about kernels that are not fused
@pytest.mark.parametrize(("file", "spec", "function", "sizes"), SUBJECTS, ids=lambda v: str(v)[:20])
def test_a_peer_computes_what_the_spec_means(uncompiled, file, spec, function, sizes):
    (path,) = (p for s in SPECS if (p := s / f"{spec}.py").exists())
    (found,) = load_specs(f"{path}:{function}")
    kinds = {p.name: p.dtype for p in found.program.params if isinstance(p, Scalar)}
    wanted = {**SIZES, **sizes}
    given = Case("small", dtype="bf16", **{a: wanted[a] for a in found.axes})
    contest = Contest(found.program, bind(given, found.axes, kinds, "bf16"), "cpu", TARGETS["h200"])
    peers = load_peers(PEERS / f"{file}.py", function)
    assert peers
    ran = 0
    for peer in peers.values():
        if "cudnn" in peer.name or peer.name == LARGE:
            continue
        contest.data.poison()
        got = peer.make(contest.data.sets[0], contest.data.case)()
        ran += 1
        if peer.checked:
            assert contest.data.check(as_tuple(got)).problem == "", peer.name
    assert ran


def test_every_peers_file_is_tested():
    tested = {file for file, *_ in SUBJECTS}
    for path in PEERS.glob("*.py"):
        if "\nPEERS = " in path.read_text():
            assert path.stem in tested
