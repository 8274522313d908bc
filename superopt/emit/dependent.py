"""Dependent launches: what a launch prints so that it may begin before the one before has ended.

Between two launches of a stream the device idles for some microseconds: the second one is set up
only once the first has ended. A *dependent* launch (CUDA's programmatic dependent launch, sm_90
and later) is set up while the one before it still runs, and its programs wait inside::

    if DEPENDENT:
        tl.extra.cuda.gdc_wait()

The wait ends when every program of the launch before has ended and all that it wrote can be seen.
It is the first line of the function, so no access to memory comes before it; and as every program
of a launch waits, the end of one launch implies the end of all before it: a third launch may read
what the first one wrote. The launch before says when the next one may be set up::

    if LEADS:
        tl.extra.cuda.gdc_launch_dependents()

Early is best: the programs of the next launch take up only what is free once all programs of this
one have begun. A graph's first launch is never dependent and its last one never leads, so that the
caller's other work in the stream is ordered as always.

Both are constants of the compiled function, false where the device has no such thing and in the
interpreter. Source: CUDA C++ Programming Guide, programmatic dependent launch and
synchronization; PTX ISA, ``griddepcontrol``.
"""

from __future__ import annotations

from dataclasses import dataclass

from superopt.emit.writer import Writer


@dataclass(frozen=True)
class Neighbours:
    """Whether other launches of its graph come ``before`` and ``after`` a launch."""

    before: bool
    after: bool

    @property
    def constants(self) -> tuple[str, ...]:
        """The constexpr parameters that the function has for it."""
        waits, leads = ("DEPENDENT",) * self.before, ("LEADS",) * self.after
        return (*waits, *leads)

    def lines(self, out: Writer) -> None:
        """Prints the beginning of the function: the wait before the first access to memory."""
        if self.before:
            with out.block("if DEPENDENT:"):
                out.line("tl.extra.cuda.gdc_wait()")
        if self.after:
            with out.block("if LEADS:"):
                out.line("tl.extra.cuda.gdc_launch_dependents()")


ALONE = Neighbours(before=False, after=False)


def neighbours(launch: int, launches: int) -> Neighbours:
    """Those of launch number ``launch`` of so many."""
    return Neighbours(launch > 0, launch + 1 < launches)


HOST = '''

def _dependent(launch, device):
    """Whether a launch may begin before the one before it has ended: if it asks for that, from
    sm_90 on, and never in the interpreter."""
    if INTERPRETED or not launch.dependent or device.type != "cuda":
        return False
    return torch.cuda.get_device_capability(device) >= (9, 0)

'''
