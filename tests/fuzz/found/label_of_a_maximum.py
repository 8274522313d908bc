from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import spec
from superopt import where


@spec(cases=[Case("c", m=40, n=40)], dtype="fp32")
def fuzzed(
    x: Annotated[Tensor, "m n"], at_n: Annotated[Tensor, "n", "int32"]
) -> Annotated[Tensor, "n"]:
    v0 = where(x == x.max("m"), x, 0)
    return where(index("m") == at_n, v0, 0).sum("m")
