"""Text follows meaning: names, the order of commutative operands and calls change nothing.

Each operator is written several times; from spec to printed body the results are the same up to
names. Nothing is executed.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Annotated

import pytest

from superopt import Case
from superopt import Tensor
from superopt import exp
from superopt import inf
from superopt import rms_norm
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where
from superopt.device import target
from superopt.emit.module import MARKER
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.examine import row_of
from superopt.rewrite.forms import forms
from superopt.search.space import Search
from superopt.ugraph.names import canonical

ROWS = [Case("c", mm=8192, nn=131072)]


@spec(cases=ROWS)
def rows(xx: Annotated[Tensor, "mm nn"]) -> Annotated[Tensor, "mm nn"]:
    return softmax(xx, "nn")


@spec(cases=[Case("c", zz=8192, aa=131072)])
def renamed_rows(input_: Annotated[Tensor, "zz aa"]) -> Annotated[Tensor, "zz aa"]:
    return softmax(input_, "aa")


@spec(cases=ROWS)
def rows_inlined(xx: Annotated[Tensor, "mm nn"]) -> Annotated[Tensor, "mm nn"]:
    top = xx.max("nn")
    ee = exp(xx - where(-inf == top, 0, top))
    total = ee.sum("nn")
    return ee / where(total == 0, 1, total)


HEADS = {"bb": 1, "hh": 32, "mm": 16384, "nn": 16384, "dd": 128, "ee": 64}


@spec(cases=[Case("c", **HEADS)])
def mix(
    qq: Annotated[Tensor, "bb hh mm dd"],
    kk: Annotated[Tensor, "bb hh nn dd"],
    vv: Annotated[Tensor, "bb hh nn ee"],
) -> Annotated[Tensor, "bb hh mm ee"]:
    scores = (qq * kk).sum("dd") * rsqrt(size("dd"))
    return (softmax(scores, "nn") * vv).sum("nn")


@spec(
    cases=[
        Case("c", **dict(zip(("zz", "yy", "xx", "ww", "vv", "uu"), HEADS.values(), strict=True)))
    ]
)
def mix_renamed(
    zq: Annotated[Tensor, "zz yy xx vv"],
    ak: Annotated[Tensor, "zz yy ww vv"],
    mv: Annotated[Tensor, "zz yy ww uu"],
) -> Annotated[Tensor, "zz yy xx uu"]:
    scores = (zq * ak).sum("vv") * rsqrt(size("vv"))
    return (softmax(scores, "ww") * mv).sum("ww")


@spec(cases=[Case("c", **HEADS)])
def mix_swapped(
    qq: Annotated[Tensor, "bb hh mm dd"],
    kk: Annotated[Tensor, "bb hh nn dd"],
    vv: Annotated[Tensor, "bb hh nn ee"],
) -> Annotated[Tensor, "bb hh mm ee"]:
    scores = rsqrt(size("dd")) * (kk * qq).sum("dd")
    return (vv * softmax(scores, "nn")).sum("nn")


@spec(cases=[Case("c", **HEADS)])
def mix_inlined(
    qq: Annotated[Tensor, "bb hh mm dd"],
    kk: Annotated[Tensor, "bb hh nn dd"],
    vv: Annotated[Tensor, "bb hh nn ee"],
) -> Annotated[Tensor, "bb hh mm ee"]:
    s = (qq * kk).sum("dd") * rsqrt(size("dd"))
    top = s.max("nn")
    ee = exp(s - where(top == -inf, 0, top))
    total = ee.sum("nn")
    return (ee / where(total == 0, 1, total) * vv).sum("nn")


LINEAR = [Case("c", mm=4096, kk=4096, nn=4096)]


@spec(cases=LINEAR)
def linear(
    xx: Annotated[Tensor, "mm kk"], gg: Annotated[Tensor, "kk"], ww: Annotated[Tensor, "kk nn"]
) -> Annotated[Tensor, "mm nn"]:
    return (rms_norm(xx, "kk", gg) * ww).sum("kk")


@spec(cases=[Case("c", tt=4096, jj=4096, aa=4096)])
def linear_renamed(
    lines: Annotated[Tensor, "tt jj"], ag: Annotated[Tensor, "jj"], mw: Annotated[Tensor, "jj aa"]
) -> Annotated[Tensor, "tt aa"]:
    return (rms_norm(lines, "jj", ag) * mw).sum("jj")


@spec(cases=LINEAR)
def linear_inlined(
    xx: Annotated[Tensor, "mm kk"], gg: Annotated[Tensor, "kk"], ww: Annotated[Tensor, "kk nn"]
) -> Annotated[Tensor, "mm nn"]:
    return (ww * (gg * (rsqrt(1e-6 + (xx * xx).mean("kk")) * xx))).sum("kk")


def printed(one):
    """The fastest candidate by the model, in canonical names, and its text in the user's."""
    program, names = canonical(one.program)
    (case,) = one.cases
    sizes = {ours: case.sizes[user] for ours, user in names.axes.items()}
    device = target("h200")
    found = Search(forms(program, 12, sizes=sizes), sizes, "bf16", device, 60)
    built = min((b for b in found if hasattr(b, "configs")), key=lambda b: b.estimate.us)
    user = names.back(built.graph)
    row = row_of(case, 0, tuple(names.back(c) for c in built.configs), device.arch)
    text = emit(names.back(program), [user], [row], Header())
    return built.graph, built.configs, text.partition(f"{MARKER}\n")[2]


TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|\S")
BREAK = re.compile(r",(?=\s*[)\]}])|[()]")  # what depends on where long lines are broken


def tokens(text):
    return TOKEN.findall(BREAK.sub(" ", text))


def names_between(left, right):
    """The renaming of identifiers that makes ``left`` ``right``; fails if there is none."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for a, b in zip_longest(tokens(left), tokens(right), fillvalue=""):
        if a[:1].isalpha() or a[:1] == "_":
            assert there.setdefault(a, b) == b, (a, b)
            assert back.setdefault(b, a) == a, (a, b)
        else:
            assert a == b
    return {a: b for a, b in there.items() if a != b}


@pytest.fixture(scope="module")
def base():
    return {one.name: printed(one) for one in (rows, mix, linear)}


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("rows", renamed_rows),
        ("rows", rows_inlined),
        ("mix", mix_renamed),
        ("mix", mix_swapped),
        ("mix", mix_inlined),
        ("linear", linear_renamed),
        ("linear", linear_inlined),
    ],
    ids=lambda v: getattr(v, "name", v),
)
def test_the_kernel_is_the_same_up_to_names(base, name, variant):
    graph, configs, text = base[name]
    other, choices, body = printed(variant)
    assert other.kernels == graph.kernels
    assert choices == configs
    renaming = names_between(text, body)
    if "renamed" not in variant.name:  # only the name of the function, in whatever is made of it
        assert all(name in word for word in renaming)


def test_another_meaning_is_another_kernel(base):
    @spec(cases=ROWS)
    def rows_of_squares(xx: Annotated[Tensor, "mm nn"]) -> Annotated[Tensor, "mm nn"]:
        return softmax(xx * xx, "nn")

    assert printed(rows_of_squares)[0].kernels != base["rows"][0].kernels
    with pytest.raises(AssertionError):
        names_between(base["rows"][2], printed(rows_of_squares)[2])
