from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import gather
from superopt import index
from superopt import inf
from superopt import rsqrt
from superopt import spec
from superopt import where


@spec(cases=[Case("c", m=64, n=64)], dtype="bf16")
def fuzzed(
    x: Annotated[Tensor, "n"],
    at_m: Annotated[Tensor, "m", "int32"],
    at_n: Annotated[Tensor, "n", "int32"],
) -> Annotated[Tensor, "n"]:
    v0 = where(index("n") < at_m, x, -inf)
    v1 = rsqrt(x * x + 0.01)
    v2 = gather(v0, at_n, "m")
    return v1 + v2
