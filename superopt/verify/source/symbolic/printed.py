"""What the functions say that every launcher is printed with: each is known in one form.

A function in another form ends the reading, since nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from superopt.threads.parts import parts
from superopt.verify.source.faults import OutsideVocabularyError
from superopt.verify.source.load import KernelText
from superopt.verify.source.symbolic import descriptors
from superopt.verify.source.symbolic import guards
from superopt.verify.source.symbolic import taken
from superopt.verify.source.symbolic.dealt import AT_ONCE
from superopt.verify.source.symbolic.dealt import is_at_once
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.formula import both
from superopt.verify.source.symbolic.formula import equal
from superopt.verify.source.symbolic.launcher import Host
from superopt.verify.source.symbolic.launcher import largest
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import Poly
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Descriptor
from superopt.verify.source.symbolic.value import Mask
from superopt.verify.source.symbolic.value import Named
from superopt.verify.source.symbolic.value import Value
from superopt.verify.source.symbolic.value import Whole

FEW = 2  # multiprocessors, where sizes are numbers


class PrintedFunctions:
    """Those of one file. ``concrete``: sizes are numbers."""

    def __init__(self, text: KernelText, host: Host, concrete: bool) -> None:
        self.text, self.host, self.concrete = text, host, concrete
        self.atoms = host.atoms

    def value(self, name: str, given: Sequence[Value]) -> Value | None:
        """What a call returns; None if ``name`` is none of them, or takes other values.

        Raises:
            OutsideVocabularyError: the function has another form.
        """
        match name, given:
            case "_whole", [Whole(poly=a), Whole(poly=b)] if b.constant is not None:
                self._returns(name, guards.WHOLE)
                return Whole(self.atoms.power(a, b.constant))
            case "_even", [Whole(poly=a), Whole(poly=b)]:
                self._returns(name, guards.EVEN)
                rest = self.atoms.divided(a, b)[1]
                return Mask(both((below(ZERO, a), equal(rest, ZERO))))
            case "_part", [Whole(poly=columns)] if columns.constant:
                self._returns(name, guards.PART)
                return Whole(number(columns.constant // parts(columns.constant)))
            case "_joint", [_, Whole(poly=product)]:
                if guards.JOINT in self.host.guards:
                    self._small(product, "joint positions")
                return Whole(product)
            case taken.WHY, _:
                self.taking()
                return Named(name)
            case _, [Whole(poly=tiles), _, Whole(poly=each)] if name == AT_ONCE:
                return Whole(self._at_once(tiles, each))
            case (descriptors.PLAIN, [_, *boxes]) | (descriptors.SHARED, [tuple(boxes)]):
                self._known(name, descriptors.known(self.text, name))
                return tuple(map(_described, boxes))
            case _:
                return None

    def taking(self) -> None:
        """Asks that the functions which decide whether roles are taken are known."""
        unknown = taken.unknown(self.text)
        self._known(unknown, not unknown)

    def _at_once(self, tiles: Poly, each: Poly) -> Poly:
        """How many programs take so many tiles: at most one a multiprocessor (any number, since
        there may be any number of these), or one for ``each``."""
        self._known(AT_ONCE, is_at_once(self.text))
        self._small(tiles, "tiles", 2)
        some = number(FEW)
        if not self.concrete:
            some = self.atoms.free("multiprocessors", shared=True)
            assert some.atom is not None
            self.atoms.assume(some.atom, at_least(some, ONE))
        programs = self.atoms.least(tiles, some)
        if not each.constant:
            return programs
        return self.atoms.greatest(programs, self.atoms.divided(tiles + each - ONE, each)[0])

    def _small(self, product: Poly, what: str, share: int = 1) -> None:
        """The launcher goes on only if a product is below the largest size, or a part of it."""
        if (limit := largest(self.text)) is None:
            return
        limit //= share
        if (product.constant or 0) >= limit:
            raise OutsideVocabularyError(f"launcher: {product} {what} are refused")
        for name in product.atoms:
            self.atoms.assume(name, below(product, number(limit)), at_least(product, ZERO))

    def _returns(self, name: str, wanted: str) -> None:
        self._known(name, guards.returns(self.text, name) == wanted)

    def _known(self, name: str, known: bool) -> None:
        if not known:
            raise OutsideVocabularyError(f"launcher: {name} is not known in this form")


def _described(box: Value) -> Value:
    """The descriptor of a whole tensor."""
    match box:
        case (Address(tensor=tensor), tuple() as extents, *_):
            return Descriptor(tensor, tuple(e.poly for e in extents if isinstance(e, Whole)))
        case _:
            raise OutsideVocabularyError(f"launcher: descriptor {box}")
