"""Peers files, and peers made of a reference."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from superopt.case import Case
from superopt.errors import UserError
from superopt.tune.peers import chosen
from superopt.tune.peers import generic
from superopt.tune.peers import load_peers

HERE = Path(__file__).parent


def written(tmp_path, text):
    file = tmp_path / "peers.py"
    file.write_text(text)
    return file


def test_a_file_declares_peers_for_each_spec():
    found = load_peers(HERE / "row_peers.py", "row_sum")
    assert list(found) == ["right", "lazy", "rounded", "flat", "failing", "copy"]
    assert [n for n, p in found.items() if not p.checked] == ["copy"]
    assert load_peers(HERE / "row_peers.py", "another") == {}


def test_what_stands_beside_a_file_can_be_imported(tmp_path):
    (tmp_path / "beside_peers.py").write_text("def make(tensors, case): return None\n")
    text = "from beside_peers import make\nPEERS = {'f': {'p': make}}\n"
    assert list(load_peers(written(tmp_path, text), "f")) == ["p"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1", "holds no dict PEERS"),
        ("PEERS = []", "holds no dict PEERS"),
        ("PEERS = {'f': 3}", r"PEERS\['f'\] is no dict of peer name -> factory"),
        ("PEERS = {'f': {'p': 3}}", r"PEERS\['f'\]\['p'\] is no factory"),
        ("PEERS = {'f': {'eager': print}}", "'eager' is made of the spec's reference"),
        (
            "PEERS = {'f': {'superopt': print}}",
            "'superopt' names no peer: 'superopt' is the kernel",
        ),
        ("PEERS = {'f': {'a,b': print}}", "'a,b' names no peer"),
        ("PEERS = {'f': {'': print}}", "'' names no peer"),
        ("PEERS = {'f': {' a': print}}", "' a' names no peer"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit"),
    ],
)
def test_a_file_that_declares_nothing_usable(tmp_path, text, why):
    with pytest.raises(UserError, match=why):
        load_peers(written(tmp_path, text), "f")


def test_no_such_file(tmp_path):
    with pytest.raises(UserError, match="no file"):
        load_peers(tmp_path / "nothing.py", "f")
    with pytest.raises(UserError, match="cannot read"):
        load_peers(tmp_path, "f")


def test_peers_are_chosen_by_name():
    declared = load_peers(HERE / "row_peers.py", "row_sum")
    assert chosen(["right", "eager", "right"], declared, True) == ("right", "eager")
    with pytest.raises(UserError, match=r"as reference=, .* give --spec FILE:FUNCTION"):
        chosen(["eager"], declared, False)
    with pytest.raises(UserError, match=r"no such peer; there are eager, compile, .*, copy"):
        chosen(["other"], declared, True)
    with pytest.raises(UserError, match="--peers FILE declares more"):
        chosen(["other"], {}, True)


def test_eager_calls_the_reference_with_the_tensors_in_order():
    peer = generic("eager", lambda a, b: a - b, ["a", "b"])
    tensors = {"b": torch.ones(3), "a": torch.zeros(3), "out": torch.empty(3)}
    assert torch.equal(peer.make(tensors, Case("c"))(), -torch.ones(3))


def test_a_reference_that_needs_its_own_tensors_on_the_device():
    def reference(scale, a):
        if torch.get_default_device() != a.device:
            raise RuntimeError("expected all tensors to be on the same device")
        return a + torch.ones(3)

    peer = generic("eager", reference, ["scale", "a"])
    call = peer.make({"scale": 2.0, "a": torch.empty(3, device="meta")}, Case("c"))
    assert call().device.type == "meta"


def test_an_unknown_generic_peer():
    with pytest.raises(ValueError, match="'other'"):
        generic("other", print, [])
