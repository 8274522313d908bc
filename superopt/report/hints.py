"""What to make of a winner that is far below its roofline: what binds it, and what to try."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from superopt.device import Device
from superopt.device import target
from superopt.report.summary import least_us
from superopt.run import Candidate
from superopt.run import CaseRun
from superopt.run import Stage
from superopt.search.model import priced
from superopt.ugraph.counts import Cost

FAR = 0.5  # of the roofline; below that a winner gets a hint

# What is said of the parts of a launch's time (``search.model``).
WORDS = {
    "dram": "device memory",
    "l2": "the L2",
    "matrix": "the matrix units",
    "special": "the units of exponentials and the like",
    "plain": "ordinary instructions",
    "chain": "the steps that a program takes one after the other",
    "starts": "that so many programs begin",
    "fill": "the first loads",
    "launch": "launching",
}


def hint(result: CaseRun, device_name: str) -> str:
    """What a case's winner reaches of the roofline, what binds it by the model, and what may help;
    empty if there is no winner, or it reaches as much as one may expect."""
    winner = result.winner
    if winner is None:
        return ""
    us = winner.timed.us if winner.timed else winner.model_us
    least = least_us(winner)
    device, case = target(device_name), result.case
    found = priced(winner.graph, winner.configs, case.sizes, case.storage, device, case.tf32)
    if least + found[0][0]["launch"] >= FAR * us:  # what launching takes is not lost
        return ""
    how = "measured" if winner.timed else "by the model"
    tries = _tries(result, winner, device, [cost for _, cost in found])
    return (
        f"{least / us:.0%} of the roofline ({how}: {us:.1f} us, where {least:.1f} would do). "
        f"{_binding([times for times, _ in found])}. To try: {'; '.join(tries)}."
    )


def _binding(times: Sequence[Mapping[str, float]]) -> str:
    """What takes longest in the launch that does."""
    number, longest = max(enumerate(times), key=lambda pair: pair[1]["total"])
    parts = {name: longest[name] for name in WORDS if name in longest}
    name = max(parts, key=lambda part: parts[part])
    which = f" of launch {number + 1} of {len(times)}" if len(times) > 1 else ""
    spent = f"{parts[name]:.1f} of {longest['total']:.1f} us{which}"
    return f"What takes longest by the model: {WORDS[name]}, {spent}"


def _tries(
    result: CaseRun, winner: Candidate, device: Device, costs: Sequence[Cost]
) -> Iterator[str]:
    if result.case.storage == "fp32" and not result.case.tf32 and any(c.products for c in costs):
        yield "tf32=True in the case, or 16 bits, for its matrix products"
    most = max(c.programs for c in costs)
    if most < device.sms:
        yield f"a case of larger sizes ({most} programs for {device.sms} multiprocessors)"
    refused = sum(
        c.stage is Stage.REFUSED and c.model_us < winner.model_us for c in result.candidates
    )
    if refused:
        yield f"another way to write the spec, for {refused} that the model likes more were refused"
    if not result.counts.complete:
        yield "a larger --budget, for the search did not see all"
    if winner.timed:
        yield "superopt time with more --trials"
    else:
        yield "superopt time on a GPU, for the model may be wrong"
    yield "another --target, if it is meant for one"
