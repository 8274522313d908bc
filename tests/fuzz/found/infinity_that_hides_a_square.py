from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import inf
from superopt import spec
from superopt import where


@spec(cases=[Case("c", m=64)], dtype="fp16")
def fuzzed(y: Annotated[Tensor, "m"]) -> Annotated[Tensor, ""]:
    v1 = where(~(index("m") < 3), y, -inf)
    return (v1 * v1).sum("m")
