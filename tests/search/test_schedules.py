from __future__ import annotations

import sys
from dataclasses import replace

from superopt.search.schedules import further_schedules
from superopt.threads.build import of_config
from superopt.threads.default import in_turn
from superopt.threads.written import written
from superopt.ugraph.levels import Config
from tests import samples
from tests.search.forms import H200

ROLES = Config((("m", 64), ("d", 128), ("n", 128), ("e", 128)), stages=2, consumers=2)


def test_everything_in_turn_is_always_offered(monkeypatch):
    (block,) = samples.online_attention().kernels
    found = of_config(block, ROLES, "bf16")
    (body,) = found.bodies
    plain = replace(body, schedule=in_turn(body.axis, body.instrs, found.pipes))
    word = written(plain, found.pipes)
    assert further_schedules(block, ROLES, "bf16", H200, 1)[-1].schedule == word
    monkeypatch.setitem(sys.modules, "superopt.threads.schedule.place", None)  # no solver
    assert [c.schedule for c in further_schedules(block, ROLES, "bf16", H200)] == [word]
