"""Which reading finds a mutant of a text, the cheapest first."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property

from superopt.mutate import variants
from superopt.mutate.variants import reached_by
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.verify.source.concurrent.fewest import read_planned
from superopt.verify.source.concurrent.read import Planned
from superopt.verify.source.concurrent.read import planned
from superopt.verify.source.field import read_field
from superopt.verify.source.load import KernelText
from superopt.verify.source.load import read_text
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Unknown
from superopt.verify.verdict import Verdict
from superopt.verify.verdict import accepted
from superopt.verify.verdict import spoken

VOCABULARY, FIELD, ORDER, SYMBOLIC = "vocabulary", "field", "order", "symbolic"
ROLES = "roles"  # the concurrent reading
GRAPH = "graph"  # equals spec
SURVIVED = "survived"


@dataclass(frozen=True)
class Found:
    """Who found a mutant (a reading, or nobody: ``SURVIVED``), and what it said.

    ``VOCABULARY``: the text is no Python, or the field reading has no meaning for it or cannot
    decide; a text that no reading understands is not accepted either.
    """

    by: str
    said: str = ""


@dataclass(frozen=True, eq=False)
class Subject:
    """A right text: graph ``index`` of the file, and the claims of the symbolic reading that hold
    for it. ``floats``: executions, if there are any, as the last of the readings."""

    name: str
    text: KernelText
    program: Program
    graph: KernelGraph
    index: int = 0
    seed: int = 0
    memory: bool = True
    _known: dict[str, Found] = field(default_factory=dict)

    @property
    def function(self) -> str:
        """The public function."""
        return self.program.name

    @cached_property
    def proved(self) -> Mapping[str, None]:
        """The claims about memory that hold for the text as it is."""
        found = read_symbolic(self.text.text, self.function, refute=False).claims
        return {claim: None for claim, verdict in found if isinstance(verdict, Proved)}

    @cached_property
    def forms(self) -> dict[str, frozenset[str]]:
        """The forms of the launches, with the functions of each."""
        return variants.variants(self.text, self.function, self.index)

    @cached_property
    def asked(self) -> list[Planned]:
        """The roles that plans of the file ask for."""
        return planned(self.text, self.index)

    @cached_property
    def ordered(self) -> bool:
        """Whether the order reading has nothing against the text as it is."""
        return isinstance(self._order(self.text), Seen)

    def in_field(self, changed: str) -> Found:
        """What the field reading says of another text in the place of this one, and where that
        is another one in functions with roles, what the concurrent reading says."""
        if changed not in self._known:
            self._known[changed] = self._in_field(changed)
        return self._known[changed]

    def judged(self, changed: str) -> Found:
        """What becomes of another text in the place of this one."""
        found = self.in_field(changed)
        if found.by != SURVIVED:
            return found
        seen = self._order(read_text(changed, self.text.name)) if self.ordered else None
        if isinstance(seen, Refuted | Unknown):
            return Found(ORDER, spoken(seen))
        if self.memory and (lost := self._lost(changed)):
            return Found(SYMBOLIC, lost)
        return found

    def _in_field(self, changed: str) -> Found:
        try:
            text = read_text(changed, self.text.name)
        except SyntaxError as error:
            return Found(VOCABULARY, str(error))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of a number that is called, say
            for form in reached_by(self.text, text, self.forms):
                for verdict in self._verdicts(text, form):
                    if not accepted(verdict):
                        by = ROLES if form == variants.ROLES else FIELD
                        by = by if isinstance(verdict, Refuted) else VOCABULARY
                        return Found(by, spoken(verdict))
        return Found(SURVIVED)

    def _verdicts(self, text: KernelText, form: str) -> Iterator[Verdict]:
        """What the readings say that execute one form of the launches."""
        of = text, self.program, self.graph
        if form != variants.ROLES:
            twins = form == variants.DESCRIBED
            yield read_field(*of, self.index, self.seed, descriptors=twins, minimise=False)
            return
        if not self.asked:
            yield Unknown("no plan of the file asks for the functions with roles")
        for plan in self.asked:
            yield read_planned(*of, plan, self.index, self.seed).verdict

    def _order(self, text: KernelText) -> Seen | Refuted | Unknown:
        return read_order(text, self.program, self.graph, self.index, self.seed)

    def _lost(self, changed: str) -> str:
        """A claim that holds for the text as it is, and not for another one."""
        found = dict(read_symbolic(changed, self.function, refute=False).claims)
        for claim in self.proved:
            if claim not in found:
                return f"nothing is known of {claim}"
        for claim, verdict in found.items():
            if not isinstance(verdict, Proved) and (claim in self.proved or claim not in found):
                return f"{claim}: {spoken(verdict)}"
        return ""
