from __future__ import annotations

import pytest

from superopt.errors import NoRepair
from superopt.merge.derive import splitting
from superopt.ugraph.node import Input
from tests.merge import specs


def first(spec):
    return next(splitting(spec.program, "n").mergings())


def test_parameters_are_results_of_parts_along_an_axis():
    merging = first(specs.normalised)
    assert merging.program.params == (
        Input("part0", ("p", "m", "e"), None),
        Input("part1", ("p", "m"), "fp32"),
    )
    assert [s.name for s in merging.program.outputs] == ["out0", "out1"]
    assert merging.section.free == ("sum0",)


def test_the_length_of_parts_is_a_parameter_where_it_is_read():
    merging = first(specs.spread)
    assert merging.program.params[-1] == Input("n_count", ("p",), "int32")
    assert merging.length == "n_count"


def test_a_name_that_is_taken_is_not_given_twice():
    from typing import Annotated

    from superopt import Case
    from superopt import Tensor
    from superopt import spec

    @spec(cases=[Case("c", p=4, n=8)])
    def total(
        x: Annotated[Tensor, "p n"], part: Annotated[Tensor, "p"]
    ) -> Annotated[Tensor, "p", "fp32"]:
        return x.sum("n") + part

    merging = first(total)
    assert [p.name for p in merging.program.params] == ["part_", "part"]
    assert merging.program.params[0].axes == ("n_part", "p")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("ranked", "reads a list of the best"),
        ("even_share", "depends on the length of the whole axis"),
        ("rows", "out has a value at every position of 'n', so it is not joined"),
    ],
)
def test_what_cannot_be_split_is_refused(spec, why):
    from typing import Annotated

    from superopt import Case
    from superopt import Tensor
    from superopt import size
    from superopt import softmax
    from superopt import spec as made
    from superopt import top_k

    table = Annotated[Tensor, "m n"]

    @made(cases=[Case("c", m=4, n=8)])
    def ranked(x: table) -> Annotated[Tensor, "m t"]:
        return top_k(x, "n", 2, into="t")[0]

    @made(cases=[Case("c", m=4, n=8)])
    def even_share(x: table) -> Annotated[Tensor, "m"]:
        return (x - 1 / size("n")).max("n")

    @made(cases=[Case("c", m=4, n=8)])
    def rows(x: table) -> table:
        return softmax(x, "n")

    chosen = {"ranked": ranked, "even_share": even_share, "rows": rows}[spec]
    with pytest.raises(NoRepair, match=why):
        splitting(chosen.program, "n")
