"""superopt: a superoptimizer for GPU operators. These names are the language of specs.

Importing this package is quick: it loads no torch, triton, z3 or sympy.
"""

from __future__ import annotations

from superopt.case import Case
from superopt.functions import abs  # noqa: A004  # the name that users of tensors expect
from superopt.functions import erf
from superopt.functions import exp
from superopt.functions import exp2
from superopt.functions import index
from superopt.functions import inf
from superopt.functions import log
from superopt.functions import log2
from superopt.functions import maximum
from superopt.functions import minimum
from superopt.functions import pi
from superopt.functions import round_to
from superopt.functions import rsqrt
from superopt.functions import sigmoid
from superopt.functions import size
from superopt.functions import sqrt
from superopt.functions import tanh
from superopt.functions import where
from superopt.integers import Segments
from superopt.integers import Uniform
from superopt.library import argmax
from superopt.library import bottom_k
from superopt.library import gather
from superopt.library import gelu
from superopt.library import l2_normalize
from superopt.library import last
from superopt.library import layer_norm
from superopt.library import log_softmax
from superopt.library import logsumexp
from superopt.library import relu
from superopt.library import rms_norm
from superopt.library import silu
from superopt.library import softmax
from superopt.library import top_k
from superopt.library import var
from superopt.recurrences import recur
from superopt.spec import Spec
from superopt.spec import spec  # the decorator hides the module of the same name, on purpose
from superopt.tensor import Scalar
from superopt.tensor import Tensor

__all__ = [
    "Case",
    "Scalar",
    "Segments",
    "Spec",
    "Tensor",
    "Uniform",
    "abs",
    "argmax",
    "bottom_k",
    "erf",
    "exp",
    "exp2",
    "gather",
    "gelu",
    "index",
    "inf",
    "l2_normalize",
    "last",
    "layer_norm",
    "log",
    "log2",
    "log_softmax",
    "logsumexp",
    "maximum",
    "minimum",
    "pi",
    "recur",
    "relu",
    "rms_norm",
    "round_to",
    "rsqrt",
    "sigmoid",
    "silu",
    "size",
    "softmax",
    "spec",
    "sqrt",
    "tanh",
    "top_k",
    "var",
    "where",
]
