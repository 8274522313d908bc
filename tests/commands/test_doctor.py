from __future__ import annotations


def test_doctor_says_what_is_missing(cli):
    said = cli("doctor")
    assert said.code == 0
    for word in ("triton", "paged", "backward", "dropout", "target auto"):
        assert word in said.out
