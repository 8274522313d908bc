"""What a barrier in shared memory (mbarrier) is, and what happens at barriers, role by role.

A barrier counts arrivals and bytes. When as many have arrived as it was made for, and all bytes
that are expected have come, its phase ends and the next one begins. A wait names a parity only: it
passes while the last phase that has ended has that parity (PTX, ``mbarrier.try_wait.parity``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Barrier(NamedTuple):
    """``arrivals``: how many make a phase. ``phase``: how many phases have ended; ``pending``:
    arrivals, and ``bytes``: bytes, that the present one lacks. Bytes that come before they are
    expected make it negative."""

    arrivals: int
    phase: int
    pending: int
    bytes: int

    def arrived(self, count: int, expected: int = 0) -> Barrier:
        """After arrivals, which may say how many bytes will come."""
        return self._settled(self.pending - count, self.bytes + expected)

    def landed(self, count: int) -> Barrier:
        """After bytes have come."""
        return self._settled(self.pending, self.bytes - count)

    def _settled(self, pending: int, missing: int) -> Barrier:
        if pending == 0 and missing == 0:
            return Barrier(self.arrivals, self.phase + 1, self.arrivals, 0)
        return Barrier(self.arrivals, self.phase, pending, missing)

    def passes(self, parity: int) -> bool:
        """Whether a wait for ``parity`` is over. Before the first phase, the odd one has ended."""
        return self.phase & 1 != parity & 1


def fresh(count: int) -> Barrier:
    """A barrier for ``count`` arrivals a phase."""
    return Barrier(count, 0, count, 0)


@dataclass(frozen=True)
class Arrive:
    """Arrivals at a barrier, with the bytes that they say to expect."""

    barrier: int
    count: int = 1
    expected: int = 0


@dataclass(frozen=True)
class Wait:
    """A wait for a phase of this parity."""

    barrier: int
    parity: int


@dataclass(frozen=True)
class Copy:
    """A copy is issued; its bytes come to the barrier at any time from then on."""

    barrier: int
    bytes: int


@dataclass(frozen=True)
class Fork:
    """Other roles begin."""

    roles: tuple[int, ...]


@dataclass(frozen=True)
class Join:
    """All of these roles have ended."""

    roles: tuple[int, ...]


Event = Arrive | Wait | Copy | Fork | Join


@dataclass(frozen=True)
class History:
    """What every role of one program does at barriers, in its order.

    It is one whatever the schedule, because no branch depends on data. ``roles``: their names;
    the first one is the entry. ``events``: of each role. ``barriers``: name, and arrivals a phase.
    """

    roles: tuple[str, ...]
    events: tuple[tuple[Event, ...], ...]
    barriers: tuple[tuple[str, int], ...]
