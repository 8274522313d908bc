from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import gather
from superopt import spec
from superopt import where


@spec(cases=[Case("c", m=5)], dtype="fp16")
def fuzzed(x: Annotated[Tensor, "m"], at: Annotated[Tensor, "", "int32"]) -> Annotated[Tensor, ""]:
    v1 = (x * x).sum("m")
    v2 = where(x <= v1, x, v1 * 2)
    return gather(v2, at, "m")
