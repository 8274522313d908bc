"""Single claims about the stores of small functions: in bounds, once, and all of them."""

from __future__ import annotations

import pytest

from superopt.verify.source.load import read_text
from superopt.verify.source.symbolic.apart import stored_once
from superopt.verify.source.symbolic.atoms import Atoms
from superopt.verify.source.symbolic.bounds import in_bounds
from superopt.verify.source.symbolic.bounds import no_overflow
from superopt.verify.source.symbolic.formula import at_least
from superopt.verify.source.symbolic.formula import below
from superopt.verify.source.symbolic.kernel import Kernel
from superopt.verify.source.symbolic.poly import ONE
from superopt.verify.source.symbolic.poly import ZERO
from superopt.verify.source.symbolic.poly import number
from superopt.verify.source.symbolic.solve import Prover
from superopt.verify.source.symbolic.value import Address
from superopt.verify.source.symbolic.value import Tensor
from superopt.verify.source.symbolic.value import Whole
from superopt.verify.source.symbolic.written import all_stored

ROWS = """
pid = tl.program_id(0)
column = pid % n
pid = pid // n
lane = tl.arange(0, 4)
at = pid * 4 + lane
tl.store(x_ptr + at * stride + column, 0, mask=at < m)
"""


def claims(body):
    """What is wanting of the stores into x [m, n] by m tiles of 4 rows times n programs."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    text = read_text(f"@triton.jit\ndef f(x_ptr, stride, m, n):\n{lines}\n")
    prover = Prover()
    atoms = Atoms(prover)
    m, n, stride = (atoms.free(a, shared=True) for a in ("m", "n", "x.stride(0)"))
    for size in (m, n):
        atoms.assume(size.atom or "", at_least(size, ZERO), below(size, number(2**20)))
    tensor = Tensor("x", (m, n), (stride, ONE), "output", apart=True)
    given = {
        "x_ptr": Address(tensor, ZERO),
        "stride": Whole(stride, 64),
        "m": Whole(m, 32),
        "n": Whole(n, 32),
    }
    programs = atoms.divided(m + number(3), number(4))[0] * n
    atoms.given = (below(ZERO, programs),)
    pid = atoms.free("pid", upper=(programs,))
    atoms.assume("pid", below(programs, number(2**31)))
    kernel = Kernel(text, text.kernels["f"], given, atoms, pid, atoms.given).read()
    stores = kernel.accesses
    return {
        "bounds": in_bounds(stores, atoms, prover),
        "once": stored_once(stores, "pid", atoms, prover),
        "all": all_stored(stores, "pid", atoms, prover),
        "fit": no_overflow(kernel.uses, atoms.given, atoms, prover),
    }


def test_a_tile_of_rows_a_program():
    assert claims(ROWS) == {"bounds": [], "once": [], "all": [], "fit": []}


@pytest.mark.parametrize(
    ("old", "new", "wanting"),
    [
        ("mask=at < m", "mask=at <= m", {"bounds"}),
        ("mask=at < m", "mask=at < m - 1", {"all"}),
        ("pid * 4 + lane", "pid * 4 + lane + 1", {"all"}),
        ("pid * 4 + lane", "pid * 3 + lane", {"once", "all"}),
        ("pid % n", "0", {"once", "all"}),
        ("pid % n", "n - 1 - pid % n", set()),
        ("pid % n", "n - pid % n", {"bounds", "all"}),
        ("pid * 4 + lane", "pid * 4096 * 1024 + lane", {"all", "fit"}),
    ],
)
def test_what_is_wrong_is_wanting(old, new, wanting):
    assert old in ROWS
    found = claims(ROWS.replace(old, new))
    assert {name for name, missing in found.items() if missing} == wanting
