"""The catalogue of repairs: every row with the shipped specs that stand for it.

``python -m tests.catalogue [NAME...]`` judges, prints and executes the kernels of the rows, each
of the fewest walks that hold, rolling and split, at small tiles, in fp32 and fp16, on ordinary and
hostile inputs; it says how long each took, and ends with what is wrong.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from superopt.emit.module import emit
from superopt.examine import row_of
from superopt.header import Header
from superopt.loading import load
from superopt.report.repairs import fusions
from superopt.spec import Spec
from superopt.ugraph.levels import BlockGraph
from superopt.ugraph.levels import Grid
from superopt.ugraph.levels import KernelGraph
from superopt.ugraph.levels import Program
from superopt.ugraph.levels import Whole
from superopt.ugraph.masks import cleared
from superopt.ugraph.order import by_order
from superopt.ugraph.payload import with_payloads
from superopt.ugraph.ranges import narrow
from superopt.verify.field.graphs import verify_graph
from superopt.verify.run.checks import check_floats
from superopt.verify.run.execute import Runner
from superopt.verify.run.sizes import small_configs
from superopt.verify.run.sizes import small_sizes
from superopt.verify.verdict import Sampled
from superopt.verify.verdict import Verdict

SPECS = Path(__file__).parents[1] / "specs"
BOTH, ROLLING = "rolling, split", "rolling"


@dataclass(frozen=True)
class Pattern:
    """A row. ``ranks``: of its repairs in one walk of ``axis``, in order, then of its lists
    (``merge``) and recurrences (``steps``); None is a refusal, none are nothing to repair.
    ``modes``: of the walk that holds, which may be one of several."""

    name: str
    spec: str
    axis: str
    ranks: tuple[int | str | None, ...]
    modes: str = BOTH

    @property
    def loaded(self) -> Spec:
        """The spec."""
        (spec,) = load(f"{SPECS / self.spec}")
        return spec


ROWS = (
    Pattern("softmax denominator", "softmax.py:softmax", "n", (1,), ROLLING),
    Pattern("logsumexp", "logsumexp.py:logsumexp", "n", (1,)),
    Pattern("cross-entropy", "losses.py:cross_entropy", "n", (1,)),
    Pattern("attention, normalised in the loop", "attention.py:attention", "n", (1, 1)),
    Pattern("attention with its normaliser", "attention.py:with_lse", "n", (1, 1)),
    Pattern("decode", "attention.py:decode", "n", (1, 1)),
    Pattern("grouped heads", "grouped_decode.py:grouped_decode", "n", (1, 1)),
    Pattern("value is part of the key", "key_masks.py:latent", "n", (1, 1)),
    Pattern("causal mask", "attention.py:causal", "n", (1, 1)),
    Pattern("window", "masked_attention.py:sliding_window", "n", (1, 1)),
    Pattern("documents", "masked_attention.py:document", "n", (1, 1)),
    Pattern("prefix", "key_masks.py:prefix", "n", (1, 1)),
    Pattern("padding", "key_masks.py:padded", "n", (1, 1)),
    Pattern("alibi", "masked_attention.py:alibi", "n", (1, 1)),
    Pattern("relative bias", "key_masks.py:relative_bias", "n", (1, 1)),
    Pattern("softcap", "masked_attention.py:softcap", "n", (1, 1)),
    Pattern("sink", "masked_attention.py:sink", "n", (1, 1)),
    Pattern("off-by-one softmax", "weighting.py:off_by_one", "n", (1, 1)),
    Pattern("differential attention", "weighting.py:differential", "n", (1, 1, 2)),
    Pattern("merging partial attentions", "partials.py:merged", "p", (1, 1)),
    Pattern("sigmoid attention", "weighting.py:sigmoid_attention", "n", ()),
    Pattern("random features with a stabiliser", "weighting.py:random_features", "n", (2, 2)),
    Pattern("z-loss", "losses.py:z_loss", "n", (1,)),
    Pattern("label smoothing", "losses.py:label_smoothing", "n", (1,)),
    Pattern(
        "gradient of linear and cross-entropy",
        "losses.py:linear_cross_entropy_gradient",
        "n",
        (1, 2),
    ),
    Pattern("entropy", "losses.py:entropy", "n", (1, 2)),
    Pattern("entropy and normaliser", "losses.py:entropy_and_normaliser", "n", (1, 2)),
    Pattern("divergence", "losses.py:kl_divergence", "n", (1, 1, 2)),
    Pattern("rms norm and matmul", "rms_norm_linear.py:rms_norm_linear", "k", (1,)),
    Pattern("layer norm and matmul", "scaled_linear.py:layer_norm_linear", "k", (3, 2)),
    Pattern("affine norm and matmul", "scaled_linear.py:affine_norm_linear", "k", (3, 3)),
    Pattern("variance", "statistics.py:variance", "n", (3,)),
    Pattern("moments of groups", "statistics.py:group_moments", "s", (3,)),
    Pattern("stable length", "statistics.py:stable_norm", "n", (1,)),
    Pattern("cosine similarity", "statistics.py:cosine_similarity", "n", (1,)),
    Pattern("largest size and matmul", "scaled_linear.py:amax_linear", "k", (1,)),
    Pattern("with a rounding inside", "scaled_linear.py:quantised_linear", "k", (None,)),
    Pattern("rms norm and its largest size", "statistics.py:rms_norm_amax", "n", (1,)),
    Pattern("largest distance from the mean", "statistics.py:centred_amax", "n", (2,)),
    Pattern("layer norm and its largest size", "statistics.py:layer_norm_amax", "n", (3, 2)),
    Pattern("affine norm and its largest size", "statistics.py:affine_norm_amax", "n", (None,)),
    Pattern("max-plus product", "semirings.py:max_plus", "k", ()),
    Pattern("step of a forward pass", "semirings.py:forward_step", "k", (1,)),
    Pattern("softmax of a softmax", "weighting.py:softmax_twice", "n", (None,)),
    Pattern("largest and where it is", "routing.py:greedy", "n", ("merge",)),
    Pattern("gather at the largest", "routing.py:chosen", "n", ("merge", "merge")),
    Pattern("rows at the largest", "weighting.py:hard_attention", "n", ("merge", "merge")),
    Pattern("gather at the largest of others", "losses.py:taught", "n", (1, "merge", "merge")),
    Pattern("best of a softmax", "routing.py:gating", "e", (1, "merge")),
    Pattern("softmax of the best", "routing.py:top_k_softmax", "e", ("merge",)),
    Pattern("best and a normaliser", "routing.py:candidates", "n", (1, "merge")),
    Pattern("linear attention", "recurrent.py:causal_linear", "n", ()),
    Pattern("retention", "recurrent.py:retention_state", "n", ()),
    Pattern("gated decay", "recurrent.py:gated_state", "n", (1,)),
    Pattern("decay by features", "recurrent.py:gated_keys", "n", (1,)),
    Pattern("gated decay, read", "recurrent.py:gated_read", "n", (1, 1)),
    Pattern("stabilised memory", "recurrent.py:stabilised_state", "n", (1, 1)),
    Pattern("softmax that forgets", "recurrent.py:forgetting_decode", "n", (1, 1, 1)),
    Pattern("delta rule", "recurrent.py:delta_rule", "n", ("steps",), ROLLING),
    Pattern("gated delta rule", "recurrent.py:gated_delta_rule", "n", ("steps",), ROLLING),
)


def kernels(pattern: Pattern) -> Iterator[tuple[str, KernelGraph]]:
    """The kernel of the first walks along the axis that hold, rolling and split, with the limits
    that their masks imply."""
    program = pattern.loaded.program
    names = tuple(s.name for s in program.outputs)

    def whole(block: BlockGraph) -> KernelGraph:
        """Of leading axes of the grid a program has one position, as of batches; of all of them
        where two others are whole in the tile."""
        kept = [a for a, _ in block.places if all(a in s.order for s in program.outputs)]
        beside = [a for a, p in block.places if isinstance(p, Grid | Whole) and a not in kept]
        tiled = kept[-2:] if len(beside) < 2 else []
        grid = {a: Grid(tiled=a in tiled) for a in kept}
        places = tuple(
            (a, grid.get(a, Whole()) if isinstance(p, Grid) else p) for a, p in block.places
        )
        order = tuple(t for t in block.order if t.axis in kept)
        placed = cleared(narrow(replace(block, places=places, order=order)))
        return KernelGraph(program.name, program.params, names, (placed,), program.fixed)

    for fusion in fusions(program):
        if fusion.axis != pattern.axis or fusion.block is None:
            continue
        yield "rolling", whole(fusion.block)
        if fusion.split is not None:
            yield "split", whole(fusion.split[0])


def meaning(pattern: Pattern) -> Program:
    """The spec as every search begins with it: its lists are ranked by what is not rounded yet,
    and bring along what is read at their places."""
    return with_payloads(by_order(pattern.loaded.program))


def judged(pattern: Pattern, graph: KernelGraph, seed: int = 0) -> Verdict:
    """Whether the graph is the spec."""
    return verify_graph(meaning(pattern), graph, seed)


def executed(
    pattern: Pattern,
    graph: KernelGraph,
    dtypes: tuple[str, ...] = ("fp32", "fp16"),
    runner: Runner | None = None,
) -> list[str]:
    """What is wrong with the printed kernel on ordinary and hostile inputs."""
    spec = pattern.loaded
    case = spec.case("fp32")
    configs = small_configs(graph, small_sizes(graph))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / f"{spec.name}.py"
        row = row_of(case, 0, configs, "sm_90")
        file.write_text(emit(spec.program, [graph], [row], Header()))
        report = check_floats(
            file,
            spec.program.name,
            meaning(pattern),
            [graph],
            dtypes=dtypes,
            runner=runner,
            scalars=case.scalars,
        )
    return [str(f) for f in report.failures] or ([] if report.ok else ["nothing was run"])


def main(names: list[str]) -> int:
    """Judges and executes; the number of kernels that are wrong."""
    wrong, runner = 0, Runner()
    for pattern in (p for p in ROWS if not names or p.name in names):
        for mode, graph in kernels(pattern):
            start = time.perf_counter()
            verdict, faults = judged(pattern, graph), executed(pattern, graph, runner=runner)
            fine = isinstance(verdict, Sampled) and not faults
            wrong += not fine
            took = f"{time.perf_counter() - start:.0f} s"
            print(f"{pattern.name}, {mode}: {'right' if fine else 'WRONG'} ({took})", flush=True)
            for what in () if fine else (verdict, *faults[:3]):
                print(f"    {what}"[:400], flush=True)
    runner.close()
    print(f"{wrong} are wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
