"""What is compared with a spec: a kernel graph, or anything else that has its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from superopt.ugraph.domain import A
from superopt.ugraph.domain import Domain
from superopt.ugraph.evaluate import evaluate_kernels
from superopt.ugraph.levels import KernelGraph
from superopt.verify.field.trials import Trial


class Meaning(Protocol):
    """Outputs in any domain of values, each in the order of its store."""

    def outputs(self, domain: Domain[A], arrays: Mapping[str, A], trial: Trial) -> dict[str, A]:
        """The outputs at one choice of sizes, by name."""


def outputs_of(
    what: KernelGraph | Meaning, domain: Domain[A], arrays: Mapping[str, A], trial: Trial
) -> dict[str, A]:
    """The outputs of a graph, or of what stands in its place."""
    if isinstance(what, KernelGraph):
        return evaluate_kernels(what, domain, arrays, trial.size, trial.configs)
    return what.outputs(domain, arrays, trial)
