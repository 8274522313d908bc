from __future__ import annotations

from superopt.search.cuts import MOST_KERNELS
from superopt.search.cuts import axes_in_order
from superopt.search.cuts import candidates
from superopt.search.cuts import cuts
from superopt.ugraph.check import check
from superopt.ugraph.evaluate import evaluate_program
from superopt.ugraph.floats import FloatDomain
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Store
from superopt.ugraph.node import Input
from superopt.ugraph.node import Reduce
from superopt.ugraph.walk import topo
from tests import samples

SIZES = {"b": 1, "h": 2, "m": 3, "n": 5, "d": 4, "e": 2, "k": 6, "r": 2}


def arrays(program: Program) -> dict[str, object]:
    import numpy as np

    rng = np.random.default_rng(0)
    return {
        p.name: rng.normal(size=[SIZES[a] for a in p.order])
        for p in program.params
        if isinstance(p, Input)
    }


def test_every_cut_computes_the_program():
    import numpy as np

    for program in (samples.attention(), samples.rms_linear(), samples.lora()):
        given = arrays(program)
        domain = FloatDomain()
        expected = evaluate_program(program, domain, given, SIZES)
        for cut in cuts(program):
            memory = dict(given)
            for stores in cut.kernels:
                one = Program("kernel", (), stores)
                memory.update(evaluate_program(one, domain, memory, SIZES))
            for name, value in expected.items():
                np.testing.assert_allclose(memory[name], value, rtol=1e-9)


def test_a_kernel_reads_only_what_earlier_ones_wrote_and_each_intermediate_is_read():
    program = samples.attention_delayed()
    params = {p.name for p in program.params}
    seen = set()
    for cut in cuts(program):
        assert len(cut.kernels) <= MOST_KERNELS
        assert cut not in seen
        seen.add(cut)
        known, read = set(params), set()
        for stores in cut.kernels:
            names = {n.name for n in topo([s.value for s in stores]) if isinstance(n, Input)}
            assert names <= known
            read |= names
            known |= {s.name for s in stores}
        assert {s.name for k in cut.kernels for s in k} - read == {"out"}


def test_operands_are_stored_in_the_dtype_of_the_case_and_statistics_in_full_precision():
    program = samples.rms_linear()
    dtypes = {
        (s.order, s.dtype) for c in cuts(program) for k in c.kernels for s in k if s.name != "out"
    }
    assert (("m",), "fp32") in dtypes
    assert (("m", "k"), None) in dtypes
    low = {s.dtype for c in cuts(samples.lora()) for k in c.kernels for s in k if "r" in s.order}
    assert low == {None}
    scores = {
        s.dtype
        for c in cuts(samples.attention())
        for k in c.kernels
        for s in k
        if isinstance(s.value, Reduce) and s.order[-1] == "n"
    }
    assert scores == {"fp32"}


def test_candidates_are_folds_and_operands_but_no_output():
    program = samples.attention()
    found = candidates(program)
    assert sum(isinstance(n, Reduce) for n in found) == 3
    assert any(not isinstance(n, Reduce) and n.axes == ("b", "h", "m", "n") for n in found)
    assert program.outputs[0].value not in found


def test_two_outputs_may_share_a_kernel_or_not():
    x = samples.X
    total = samples.total("k", x)
    stores = (Store("a", ("m",), None, total), Store("b", ("m", "k"), None, samples.sub(x, total)))
    every = cuts(Program("p", (x,), stores))
    found = [tuple(tuple(s.name for s in k) for k in c.kernels) for c in every]
    assert (("a", "b"),) in found
    assert (("a",), ("b",)) in found


def test_axes_come_in_the_order_of_the_signature():
    assert axes_in_order(samples.attention()) == ("b", "h", "m", "d", "n", "e")
    assert check(samples.attention()) == []
