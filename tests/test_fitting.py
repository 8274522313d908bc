from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from superopt.case import Case
from superopt.device import target
from superopt.fitting import fit
from superopt.source import Facts
from superopt.ugraph.levels import Config
from superopt.verify.run.trial import NotCompiled
from tests import samples

H200 = target("h200")
GRAPH = samples.two_pass_softmax()
CASE = Case("one", m=64, n=4096)


def rung(n: int) -> tuple[Config, ...]:
    return (Config((("m", 1), ("n", n)), 1, 4, 1),)


LADDER = (rung(4096), rung(2048), rung(1024))


@dataclass
class Says:
    """A compiler that says what it is told, by the tile of ``n``."""

    about: dict[int, tuple[int, int] | str]  # (shared, spills), or why not
    asked: list[int] = field(default_factory=list)

    def compile_all(self, jobs):
        return tuple(self.one(spec, arch) for _, spec, arch in jobs)

    def one(self, spec, arch):
        tile = dict(spec.constexprs)["TILE_N"]
        self.asked.append(tile)
        said = self.about[tile]
        if isinstance(said, str):
            return NotCompiled(spec.function, arch, said)
        return Facts(spec.function, arch, said[0], 128, said[1])


def fitted(about, known=None):
    compiler = Says(about)
    found = fit(compiler, Path("x.py"), GRAPH, [LADDER], CASE, H200, known=known)  # type: ignore[arg-type]
    return found, compiler.asked


def test_what_compiles_in_order_is_taken_at_once():
    found, asked = fitted({4096: (1000, 0)})
    assert (found.configs, found.why, asked) == (LADDER[0], "", [4096])
    assert found.facts[0].shared_bytes == 1000


def test_a_few_bytes_of_spills_are_no_reason_to_go_on():
    found, asked = fitted({4096: (1000, 128)})
    assert (found.configs, asked) == (LADDER[0], [4096])


def test_spills_make_it_try_smaller_programs():
    found, asked = fitted({4096: (1000, 800), 2048: (1000, 0)})
    assert (found.configs, found.why, asked) == (LADDER[1], "", [4096, 2048])


def test_if_all_spill_the_least_is_taken_and_not_refused():
    found, asked = fitted({4096: (1000, 800), 2048: (1000, 304), 1024: (1000, 500)})
    assert (found.configs, found.why) == (LADDER[1], "")
    assert found.facts[0].spill_bytes == 304
    assert asked == [4096, 2048, 1024]


def test_shared_memory_over_the_limit_is_never_taken():
    over = H200.shared_block + 1
    found, _ = fitted({4096: (over, 0), 2048: (1000, 5000), 1024: (over, 0)})
    assert (found.configs, found.why) == (LADDER[1], "")
    found, _ = fitted({4096: (over, 0), 2048: (over, 0), 1024: "no"})
    assert "bytes of shared memory, over the limit" in found.why


def test_a_refusal_of_the_compiler_is_the_reason_if_nothing_else_works():
    found, _ = fitted({4096: "too odd", 2048: "too odd", 1024: "too odd"})
    assert found.why.endswith("too odd")


def test_nothing_is_compiled_twice():
    known = {}
    about = {4096: (1000, 800), 2048: (1000, 0)}
    first, asked = fitted(about, known)
    assert asked == [4096, 2048]
    again, asked = fitted(about, known)
    assert (again, asked) == (first, [])


def test_what_is_passed_over_is_told_if_it_has_roles():
    def roles(n: int) -> tuple[Config, ...]:
        tiles = (("b", 1), ("h", 1), ("m", 64), ("d", 64), ("n", n), ("e", 64))
        return (Config(tiles, stages=2, consumers=2),)

    graph = samples.online_attention()
    case = Case("one", b=1, h=1, m=256, n=256, d=64, e=64, dtype="bf16")
    plain = (replace(roles(32)[0], consumers=0),)
    says = Says({128: "the assembler serialises the products", 64: (1000, 4000), 32: (1000, 0)})
    ladder = (roles(128), roles(64), plain)
    found = fit(says, Path("x.py"), graph, [ladder], case, H200)  # type: ignore[arg-type]
    assert (found.configs, found.why) == (plain, "")
    name = "attention_g0_k0_roles2"
    assert found.passed == (
        f"{name}: the assembler serialises the products",
        f"{name}: 4000 bytes of registers spill",
    )
