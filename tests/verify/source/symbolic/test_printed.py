"""What a launcher's own functions say, in the one form of each that is known."""

from __future__ import annotations

import pytest

from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic import guards
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.dealt import AT_ONCE
from superopt.verify.source.symbolic.dealt import FORM
from superopt.verify.source.symbolic.launcher import Host
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.printed import PrintedFunctions
from superopt.verify.source.symbolic.value import Opaque
from superopt.verify.source.symbolic.value import Whole

TEXT = f"""
LARGEST = 2**31 - 2**16


def _part(columns):
    {guards.PART}

{FORM}
"""


def functions(text=TEXT, concrete=True):
    read = read_text(text)
    return PrintedFunctions(read, Host(Atoms(None), guards.guards(read)), concrete)


def whole(value):
    return Whole(number(value))


def at_once(tiles, each, **how):
    return functions(**how).value(AT_ONCE, [whole(tiles), Opaque(), whole(each)])


@pytest.mark.parametrize(("columns", "part"), [(64, 64), (128, 128), (256, 128)])
def test_how_many_columns_leave_at_a_time(columns, part):
    assert functions().value("_part", [whole(columns)]) == whole(part)


def test_a_program_has_as_many_tiles_as_multiprocessors_leave_or_as_it_may_have():
    assert at_once(1, 0) == whole(1)
    assert at_once(64, 0) == whole(2)
    assert at_once(64, 8) == whole(8)
    assert at_once(64, 0, concrete=False).poly.constant is None


def test_what_a_launcher_refuses_is_refused():
    with pytest.raises(OutsideVocabularyError, match="1073741824 tiles are refused"):
        at_once(2**30, 0)


@pytest.mark.parametrize("name", ["_whole", "_even", "_max", "torch.empty"])
def test_of_other_functions_and_values_nothing_is_said(name):
    assert functions().value(name, [Opaque()]) is None


def test_another_form_ends_the_reading():
    with pytest.raises(OutsideVocabularyError, match="_part is not known in this form"):
        functions(TEXT.replace("// 256", "// 128")).value("_part", [whole(64)])
    with pytest.raises(OutsideVocabularyError, match="_at_once is not known in this form"):
        at_once(64, 0, text=TEXT.replace("min(tiles", "max(tiles"))
    with pytest.raises(OutsideVocabularyError, match="_even is not known in this form"):
        functions().value("_even", [whole(64), whole(8)])
    with pytest.raises(OutsideVocabularyError, match="_without_roles is not known in this form"):
        functions().taking()
