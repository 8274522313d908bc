"""The command line: parse, call, print, exit code; nothing else.

Everything heavy is imported by the command that needs it, so ``superopt --help`` is instant.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import NoReturn

import typer

from superopt.errors import BAD_INPUT
from superopt.errors import INTERRUPTED
from superopt.errors import OUR_FAULT
from superopt.errors import UserError

app = typer.Typer(
    name="superopt",
    help="Search, repair, prove and print GPU kernels for an operator written as algebra.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_OutOption = Annotated[
    Path | None,
    typer.Option(readable=False, help="Directory of the run (default: runs/<function>)."),
]
_CaseOption = Annotated[list[str], typer.Option("--case", help="Only these cases.")]
_StoreOption = Annotated[
    Path | None,
    typer.Option(readable=False, help="Measured times (default: timings.db beside the run)."),
]
_TrialsOption = Annotated[
    int, typer.Option(min=1, help="Configs to measure at most, for all cases.")
]
_QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress.")]


# Packages that some commands do without, by the module that is imported: a machine that only times
# kernels has torch, triton, numpy, rich, typer and sympy.
_PACKAGES = {
    "z3": "z3-solver",
    "optuna": "optuna",
    "matplotlib": "matplotlib",
    "jinja2": "jinja2",
    "sympy": "sympy",
    "torch": "torch",
    "triton": "triton",
}


@app.command()
def search(
    target_file: Annotated[str, typer.Argument(metavar="FILE[:FUNCTION]", help="A spec file.")],
    case: _CaseOption = [],  # noqa: B006
    target: Annotated[str, typer.Option(help="auto, or a device: h200, a100, ...")] = "auto",
    budget: Annotated[
        str, typer.Option(help="Candidates to build a case (400), or a time (5m, 30s).")
    ] = "400",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same winner.")] = 0,
    out: _OutOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Compilers at work at once (default: 2; one a core if timed)."),
    ] = None,
    finalists: Annotated[
        int | None,
        typer.Option(min=1, help="Candidates to verify a case (default: 3; 5 if timed)."),
    ] = None,
    store: _StoreOption = None,
    trials: _TrialsOption = 150,
    no_time: Annotated[bool, typer.Option("--no-time", help="Rank by the model alone.")] = False,
    peers: Annotated[
        Path | None, typer.Option(readable=False, help="A file that declares peers.")
    ] = None,
    against: Annotated[
        str, typer.Option(help="Peers to time beside the winners, by comma: eager, compile, ...")
    ] = "",
    quiet: _QuietOption = False,
) -> None:
    """Search the kernels of a spec and write the verified winner, timed where there is a GPU."""
    from superopt.commands.asked import asked_for

    asked = asked_for(target_file, tuple(case), target, budget, out)  # errors come at once

    from superopt.commands.search import TimingOptions
    from superopt.commands.search import run_search

    options = TimingOptions(store, trials, not no_time, peers, against)
    raise typer.Exit(run_search(asked, target, seed, jobs, quiet, options, finalists))


@app.command()
def explain(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|KERNEL",
            readable=False,
            help="A run or a kernel file; with --repairs, spec files or folders of them.",
        ),
    ],
    repairs: Annotated[
        bool, typer.Option("--repairs", help="The repairs of specs, as a page in Markdown.")
    ] = False,
    times: Annotated[
        bool, typer.Option("--times", help="With --repairs: how long derivations took.")
    ] = False,
) -> None:
    """Show derivation, repair, coverage, and why candidates were refused."""
    from superopt.commands.explain import run_explain
    from superopt.commands.explain import run_repairs

    raise typer.Exit(run_repairs(paths, times) if repairs else run_explain(paths, times))


@app.command()
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|KERNEL", readable=False, help="A run or a kernel file.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(readable=False, help="Write only the page, to this file."),
    ] = None,
) -> None:
    """Write the pages of a run: report.md, and report.html with plots."""
    _check_there(run)
    from superopt.commands.report import run_report

    raise typer.Exit(run_report(run, out))


@app.command()
def verify(
    kernel: Annotated[
        Path,
        typer.Argument(metavar="KERNEL", readable=False, help="A printed kernel file, or its run."),
    ],
    solver: Annotated[
        str, typer.Option(help="What the stored proofs are put to: z3, or cvc5 if installed.")
    ] = "z3",
    quick: Annotated[bool, typer.Option("--quick", help="Without executions.")] = False,
) -> None:
    """Check a kernel file against its certificate, and run its checks again."""
    _check_there(kernel)
    from superopt.commands.verify import run_verify

    raise typer.Exit(run_verify(kernel, solver, quick))


@app.command("print")
def print_(
    kernel: Annotated[
        Path,
        typer.Argument(metavar="KERNEL", readable=False, help="A printed kernel file, or its run."),
    ],
    dialect: Annotated[str, typer.Option(help="triton, or flagtree.")],
    level: Annotated[
        str, typer.Option(help="auto: with roles, where the file has some; lite: without.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(readable=False, help="A file (default: beside the kernel).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Compilers at work at once.")] = 2,
) -> None:
    """Print a verified kernel in another dialect, and check what is printed."""
    _check_there(kernel)
    from superopt.commands.print_kernel import run_print

    raise typer.Exit(run_print(kernel, dialect, level, out, jobs))


@app.command()
def bench(
    kernel: Annotated[
        Path,
        typer.Argument(metavar="KERNEL", readable=False, help="A printed kernel file, or its run."),
    ],
    against: Annotated[
        str,
        typer.Option(help="Peers, by comma: eager, compile, max-autotune, or of --peers."),
    ] = "",
    peers: Annotated[
        Path | None, typer.Option(readable=False, help="A file that declares peers.")
    ] = None,
    spec: Annotated[
        str,
        typer.Option(
            metavar="FILE:FUNCTION",
            help="The spec, for its cases and reference (default: the certificate).",
        ),
    ] = "",
    case: _CaseOption = [],  # noqa: B006
    mode: Annotated[
        str, typer.Option(help="graph: the device alone; eager: with launching; or both.")
    ] = "graph",
    rounds: Annotated[int, typer.Option(min=1, help="Figures of every contender.")] = 24,
    limit: Annotated[float, typer.Option(min=1.0, help="Seconds for one case.")] = 300.0,
    out: Annotated[
        Path | None, typer.Option("--out", readable=False, help="All figures, as JSON.")
    ] = None,
) -> None:
    """Time a kernel against peers on this machine's GPU, interleaved."""
    _check_there(kernel)
    from superopt.commands.bench import run_bench

    raise typer.Exit(run_bench(kernel, against, peers, spec, tuple(case), mode, rounds, limit, out))


@app.command()
def time(
    run: Annotated[Path, typer.Argument(metavar="RUN", readable=False, help="A run.")],
    store: _StoreOption = None,
    trials: _TrialsOption = 150,
    case: _CaseOption = [],  # noqa: B006
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Compilers at work at once (default: one a core).")
    ] = None,
    candidate: Annotated[
        list[str], typer.Option("--candidate", help="Time these as well (beginnings of digests).")
    ] = [],  # noqa: B006
    quiet: _QuietOption = False,
) -> None:
    """Time a finished search on this machine's GPU and rewrite its kernel with the best."""
    _check_there(run)
    from superopt.commands.time import run_time

    raise typer.Exit(run_time(run, store, trials, tuple(case), jobs, quiet, tuple(candidate)))


@app.command()
def mutate(
    target: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL|SPEC", help="A verified kernel file, its run, or a spec file."
        ),
    ],
    count: Annotated[int, typer.Option(min=1, help="About how many, of every graph.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice, and of the readings.")] = 0,
) -> None:
    """Change one thing in a right kernel, many times, and say which reading finds it."""
    from superopt.commands.mutate import run_mutate

    raise typer.Exit(run_mutate(target, count, seed))


@app.command()
def merge(
    target: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="A spec.")],
    axis: Annotated[
        str, typer.Option(help="The axis that is cut into parts (default: the only possible one).")
    ] = "",
    parts: Annotated[int, typer.Option(min=1, help="Parts of the cases that are written.")] = 8,
    pair: Annotated[
        bool, typer.Option("--pair", help="Two parts, each in tensors of its own.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(readable=False, help="A file (default: to the output).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the points at which it is judged.")] = 0,
) -> None:
    """Derive how finished results of parts of an axis are joined, and write that as a spec."""
    from superopt.commands.merge import run_merge

    raise typer.Exit(run_merge(target, axis, None if pair else parts, out, seed))


@app.command()
def approximate(
    target: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="A spec.")],
    tile: Annotated[int, typer.Option(min=1, help="Positions that share a scale.")] = 128,
    out: Annotated[
        Path | None, typer.Option(readable=False, help="A file (default: to the output).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the inputs it is measured on.")] = 0,
) -> None:
    """Write a substitute for a spec that rounds by a fold, by name and with its measured error."""
    from superopt.commands.approximate import run_approximate

    raise typer.Exit(run_approximate(target, tile, out, seed))


@app.command()
def prove() -> None:
    """Prove every law again."""
    from superopt.commands.prove import run_prove

    raise typer.Exit(run_prove())


@app.command()
def discover(
    size: Annotated[int, typer.Option(min=1, max=7, help="Parts of a term at most.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Of the points at which terms agree.")] = 0,
    quiet: _QuietOption = False,
) -> None:
    """Find laws by enumeration, prove them, and compare them with the shipped ones."""
    from superopt.commands.discover import run_discover

    raise typer.Exit(run_discover(size, seed, quiet))


@app.command()
def doctor() -> None:
    """Say what this machine can do, and what superopt does not support yet."""
    from superopt.commands.doctor import run_doctor

    raise typer.Exit(run_doctor())


def main() -> None:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _PACKAGES:
            package = _PACKAGES[error.name]
            print(f"error: this command needs {package}: pip install {package}", file=sys.stderr)
            sys.exit(BAD_INPUT)
        from superopt.commands.bug import report_bug

        print(report_bug(error, sys.argv), file=sys.stderr)
        sys.exit(OUR_FAULT)


def _check_there(path: Path) -> None:
    """Raises a ``UserError`` at once if nothing is there."""
    if not path.exists():
        raise UserError(f"{path}: no such run or kernel file")


def _stop(number: int, frame: Any) -> NoReturn:
    """A request to end is the same as an interrupt: what is verified is kept."""
    raise KeyboardInterrupt
