"""Which choices of Configs are also worth trying with launches that depend on the ones before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from superopt.device import Device
from superopt.ugraph.levels import Config

LEAST_CAPABILITY = 90  # the first architecture that sets up a launch while another one runs
PLAIN = 4  # of the choices, one in so many is also tried without, the best by the model first

Timed = tuple[float, tuple[Config, ...]]
"""Microseconds by the model, and one Config for each launch of a graph."""


def dependent_choices(choices: Sequence[Timed], device: Device, most: int) -> list[Timed]:
    """At most ``most`` of ``choices`` (the best first), with every later launch dependent, and
    those at the top without, too; best by the model first.

    The model says what a dependent launch saves of the gap before it; whether it does, and what
    its programs take from those that still run, measuring tells. Graphs of one launch, and
    devices without such launches, keep their ``choices``.
    """
    if device.capability < LEAST_CAPABILITY or not any(len(c) > 1 for _, c in choices):
        return list(choices[:most])
    plain = list(choices[: min(len(choices), most) // PLAIN])
    saved = device.launch_us - device.dependent_us
    found = [
        (us - saved * (len(configs) - 1), _dependent(configs))
        for us, configs in choices[: most - len(plain)]
    ]
    return sorted([*found, *plain], key=lambda choice: round(choice[0], 6))


def _dependent(configs: Sequence[Config]) -> tuple[Config, ...]:
    """``configs`` with every launch but the first dependent, where it has no roles."""
    return (configs[0], *(replace(c, dependent=not c.consumers) for c in configs[1:]))
