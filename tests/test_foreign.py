"""What is told of other libraries' names is true."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

import superopt as so
from superopt.errors import SpecError
from superopt.foreign import FOLDS
from superopt.foreign import instead
from superopt.tensor import Tensor
from superopt.ugraph.node import Input

X = Tensor(Input("x", ("m", "n")))


def test_every_function_of_tensors_is_told():
    told_otherwise = {"size"}
    functions = {n for n in so.__all__ if inspect.isfunction(getattr(so, n))}
    for name in functions - told_otherwise:
        assert instead(name) == f"write superopt's function {name}(x, ...)"


@pytest.mark.parametrize("name", sorted(FOLDS))
def test_every_fold_is_a_method(name):
    assert inspect.isfunction(getattr(Tensor, name))
    assert instead(name) == f'write x.{name}("n")'


def test_a_missing_method_is_refused_and_protocols_are_answered():
    with pytest.raises(SpecError, match=r"test_foreign\.py:\d+: a tensor has no \.softmax; write"):
        X.softmax("n")
    with pytest.raises(AttributeError):
        _ = X.__array_interface__
    assert copy.copy(X).node is X.node
    assert pickle.loads(pickle.dumps(X)).node is X.node


def test_a_name_that_nobody_knows():
    assert instead("fft") == "docs/language.md lists what there is"
