from __future__ import annotations

import json

import pytest

from superopt.errors import ParseError
from superopt.repair.stored import repair_from
from superopt.repair.stored import repair_record
from tests.repair.cases import BY_NAME
from tests.repair.cases import repaired


@pytest.fixture(params=["variance", "layer norm, matmul", "softmax of a masked row"])
def repair(request):
    return repaired(BY_NAME[request.param])[1][-1]


def test_a_repair_comes_back(repair):
    record = json.loads(json.dumps(repair_record(repair)))
    assert repair_from(record) == repair


def test_what_is_no_expression_is_refused(repair):
    record = repair_record(repair)
    with pytest.raises(ParseError):
        repair_from({**record, "finalise": "nonsense"})
    with pytest.raises(TypeError, match="expected an expression"):
        repair_from({**record, "finalise": "program p\n"})
