from __future__ import annotations

import pytest

from superopt.emit.dialect import Dialect
from superopt.emit.module import emit
from superopt.emit.plan import Header
from superopt.emit.plan import Row
from superopt.ugraph.levels import Config
from superopt.verify.source.field import read_field
from superopt.verify.source.load import read_text
from superopt.verify.source.order import Seen
from superopt.verify.source.order import read_order
from superopt.verify.source.symbolic.read import read_symbolic
from superopt.verify.source.tle import imported
from superopt.verify.verdict import Proved
from superopt.verify.verdict import Refuted
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Unknown
from tests import samples

PROGRAM, GRAPH = samples.row_softmax(), samples.two_pass_softmax()
IMPORT = "    import triton.experimental.tle.language as tle\n"


def text_of(dialect=Dialect.FLAGTREE):
    rows = [Row("case", 0, (Config((("m", 4), ("n", 256))),), (("m", 64), ("n", 4096)))]
    return emit(PROGRAM, [GRAPH], rows, Header(), dialect=dialect)


def field(text):
    return read_field(read_text(text), PROGRAM, GRAPH)


def test_a_file_has_the_words_that_it_imports():
    assert imported(read_text(text_of()))
    assert not imported(read_text(text_of(Dialect.TRITON)))
    assert not imported(read_text(text_of().replace(IMPORT, "    import triton\n")))


def test_a_hinted_load_is_a_load():
    text = text_of()
    assert text.count("tle.load(") == 2
    assert isinstance(field(text), Sampled)
    assert isinstance(read_order(read_text(text), PROGRAM, GRAPH), Seen)
    claims = read_symbolic(text, "softmax").claims
    assert [c for c, v in claims if not isinstance(v, Proved)] == []


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (IMPORT, "    import triton\n", Unknown),
        ("tle.load(", "tle.fetch(", Unknown),
        ("is_async=True", "is_async=True, reorder=True", Unknown),
        ("is_async=True", "is_async=7", Unknown),
        ("tle.load(x_tile + n_first,", "tle.load(x_tile + 0 * n_first,", Refuted),
        ("other=0.0, is_async", "other=1.0, is_async", Sampled),  # lanes that are masked anyway
    ],
)
def test_nothing_else_is(old, new, kind):
    text = text_of()
    assert old in text
    assert isinstance(field(text.replace(old, new)), kind)


def test_memory_of_hinted_loads_is_checked():
    mask = "mask=m_in[:, None] & n_in[None, :], other=0.0, is_async"
    text = text_of().replace(mask, "other=0.0, is_async")
    assert text != text_of()
    claims = dict(read_symbolic(text, "softmax").claims)
    assert isinstance(claims["softmax_g0_k0: loads of x in bounds"], Refuted)
