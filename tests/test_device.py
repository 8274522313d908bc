from __future__ import annotations

import subprocess
import sys

import pytest

from superopt.device import KIB
from superopt.device import TARGETS
from superopt.device import target
from superopt.errors import UserError


def test_every_target_has_the_limits_of_its_architecture():
    shared = {"sm_80": 163 * KIB, "sm_90": 227 * KIB, "sm_100": 227 * KIB}
    for name, device in TARGETS.items():
        assert device.name == name
        assert device.shared_block == shared[device.arch]
        assert device.l2 > 0.9 * device.dram
        assert device.matrix_rate("bf16") > device.matrix_rate("tf32") > device.matrix_rate("fp32")


def test_a_target_is_found_by_name_and_by_architecture():
    assert target("h200").sms == 132
    assert [target(a).name for a in ("sm_80", "sm_90", "sm_100")] == ["a100", "h200", "b200"]
    assert target("sm_100").capability == 100


def test_an_unknown_target_is_the_users_mistake_and_the_message_lists_the_known_ones():
    with pytest.raises(UserError, match="unknown target 'h300'; known targets: auto, a100, h100"):
        target("h300")


def test_auto_without_a_gpu_is_the_default():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert target("auto").name == "h200"


def test_torch_is_not_imported_for_a_named_target():
    code = "import sys, superopt.device as d; d.target('a100'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
