from __future__ import annotations

import subprocess

import pytest
import torch

from superopt.errors import UserError
from superopt.tune import machine


def test_a_machine_without_a_gpu_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="no GPU: kernels can only be timed where torch sees one"):
        machine.here()


def missing(*arguments, **options):
    raise FileNotFoundError("nvidia-smi")


@pytest.fixture
def said(monkeypatch):
    def say(text):
        done = subprocess.CompletedProcess([], 0, text, "")
        monkeypatch.setattr(subprocess, "run", lambda *a, **k: done)

    return say


def test_a_machine_is_its_gpu_and_versions(monkeypatch, said):
    said("580.95.05\n580.95.05\n")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    found = machine.here()
    assert (found.gpu, found.driver, found.torch) == (
        "NVIDIA H200",
        "580.95.05",
        str(torch.__version__),
    )
    assert found.superopt
    assert found.triton


def test_the_kernel_module_says_the_driver_too(monkeypatch, tmp_path):
    monkeypatch.setattr(subprocess, "run", missing)
    file = tmp_path / "version"
    monkeypatch.setattr(machine, "_MODULE", file)
    with pytest.raises(UserError, match="driver is unknown"):
        machine.driver()
    file.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul\nGCC 12.3")
    assert machine.driver() == "580.65.06"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_this_gpu():
    assert machine.here().driver.count(".") >= 1
