from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np

from superopt.verify.run.indices import by_squeezing


class Scope:
    def __init__(self):
        self.set = {}

    def set_attr(self, owner, name, value):
        self.set[name] = value


def test_a_scalar_of_one_element_is_an_index():
    """Whatever numpy thinks of arrays as numbers: a warning here is an error in later ones."""
    from triton.runtime import interpreter

    by_squeezing()
    patched = interpreter._patch_lang_tensor
    by_squeezing()
    assert interpreter._patch_lang_tensor is patched
    scope = Scope()
    patched(object, scope)
    scalar = SimpleNamespace(handle=SimpleNamespace(data=np.array([5])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scope.set["__index__"](scalar) == 5
    assert {"__bool__", "__repr__"} <= scope.set.keys()
