from typing import Annotated

from superopt import Case
from superopt import Tensor
from superopt import minimum
from superopt import rms_norm
from superopt import spec
from superopt import where


@spec(cases=[Case("c", m=130)], dtype="fp16")
def fuzzed(z: Annotated[Tensor, "m"]) -> tuple[Annotated[Tensor, "m"], Annotated[Tensor, "m"]]:
    v0 = rms_norm(z, "m")
    v1 = where(v0 > 0, v0, 0.1 * v0)
    v2 = minimum(v1, 1)
    v3 = (v2 * v1).sum("m")
    v4 = v3 + v1
    return v2, v4
