"""Matrix products under way: their results are no tiles before they are waited for."""

from __future__ import annotations

from typing import Any

from superopt.verify.source.concurrent.clocks import Agent
from superopt.verify.source.concurrent.run import Run
from superopt.verify.source.concurrent.shared import View
from superopt.verify.source.faults import FaultError
from superopt.verify.source.tiles import FP32
from superopt.verify.source.tiles import Tile
from superopt.verify.source.vocabulary import Vocabulary

WARPGROUP = 4  # warps that make a matrix product together, or a multiple of them


class Flight:
    """What ``warpgroup_mma`` gives at once: for a wait or a further product, and nothing else."""

    def __init__(self, run: Run, agent: Agent, value: Tile) -> None:
        self._run = run
        self.agent = agent
        self.value = value
        self.over = False

    def __getattr__(self, name: str) -> Any:
        self._run.report(f"{self._run.role.name} uses an accumulator before it waits for it")
        return getattr(self.value, name)


def _called(function: Any, arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def _used(name: str) -> Any:
    return lambda self, *others: _called(Flight.__getattr__(self, name), others)


for _name in ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "and", "or"):
    for _word in (f"__{_name}__", f"__r{_name}__"):
        if hasattr(Tile, _word):
            setattr(Flight, _word, _used(_word))
for _word in ("__getitem__", "__neg__", "__bool__", "__index__"):
    setattr(Flight, _word, _used(_word))


class Products:
    """``warpgroup_mma`` and ``warpgroup_mma_wait``, which count the products of one role."""

    def __init__(self, language: Vocabulary) -> None:
        self.language = language

    def multiply(
        self,
        run: Run,
        a: Any,
        b: Any,
        acc: Any,
        use_acc: Any = True,
        is_async: Any = False,
    ) -> Any:
        """a b, added to ``acc``; operands in shared memory are read until it is over."""
        if not isinstance(b, View):
            raise FaultError("the right operand of a product is not in shared memory")
        if run.role.name in run.few:
            raise FaultError(f"a matrix product of {run.few[run.role.name]} warps")
        agent = run.issued("a matrix product")
        left = a.read(agent, plain=False) if isinstance(a, View) else a
        found = self.language.dot(left, b.read(agent, plain=False))
        before = acc.value if isinstance(acc, Flight) else acc
        if before.shape != found.shape or before.dtype is not FP32:
            raise FaultError(f"an accumulator of shape {before.shape} for one of {found.shape}")
        flight = Flight(run, agent, before + found if use_acc else found)
        run.products.setdefault(run.role.number, []).append(agent)
        return flight if is_async else self.wait(run, 0, [flight])

    def wait(self, run: Run, outstanding: Any = 0, deps: Any = ()) -> Any:
        """Until no more than ``outstanding`` are under way; ``deps`` are tiles then, or not yet."""
        under_way = run.products.setdefault(run.role.number, [])
        while len(under_way) > int(outstanding):
            run.role.learn(under_way.pop(0).seen)
        left = {agent.number for agent in under_way}
        found = tuple(_landed(d, left) for d in deps)
        return found[0] if len(found) == 1 else found


def _landed(value: Any, under_way: set[int]) -> Any:
    if isinstance(value, Flight) and value.agent.number not in under_way:
        return value.value
    return value
