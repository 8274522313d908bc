"""How likely it is that every step of a chain succeeds, and which chains have steps at all."""

from __future__ import annotations

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import index
from superopt import spec
from superopt import where


def reference(
    chance: torch.Tensor, length: torch.Tensor, needed: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    there = torch.arange(chance.shape[1])[None, :] < length[:, None]
    used = there & needed[None, :]
    product = torch.where(used, chance, 1.0).prod(1)
    return product, used.any(1), (needed[None, :] | ~there).all(1)


@spec(cases=[Case("batch", b=4096, n=2048)], dtype="fp32", reference=reference)
def chain_probability(
    chance: Annotated[Tensor, "b n"],
    length: Annotated[Tensor, "b", "int32"],
    needed: Annotated[Tensor, "n", "bool"],
) -> tuple[Annotated[Tensor, "b"], Annotated[Tensor, "b", "bool"], Annotated[Tensor, "b", "bool"]]:
    there = index("n") < length
    used = there & needed
    return where(used, chance, 1).prod("n"), used.any("n"), (needed | ~there).all("n")
