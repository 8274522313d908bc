"""Random small specs, as the text a user would write: one to three tensors with named axes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

import superopt

AXES = ("m", "n", "k")
QUOTED = '"c"'  # the name of the case
SIZES = (1, 5, 8, 16, 24, 40, 64, 130)
ROUND = ("fp16", "bf16", "e4m3", "e5m2", "int8")

# Texts with a hole for the operand: total on the reals, and those that are defined on a part.
UNARY = (
    "exp(-abs({0}))",
    "exp({0})",
    "tanh({0})",
    "sigmoid({0})",
    "erf({0})",
    "abs({0})",
    "relu({0})",
    "silu({0})",
    "gelu({0})",
    "-{0}",
    "{0} ** 2",
    "{0} * 0.5",
    "{0} + 1",
    "1 - {0}",
    "{0} / 3",
    "2 * {0} - {0} * {0}",
    "minimum({0}, 1)",
    "sqrt(abs({0}))",
    "rsqrt({0} * {0} + 0.01)",
    "log(1 + abs({0}))",
    "1 / (1 + {0} * {0})",
    "where({0} > 0, {0}, 0.1 * {0})",
    "where({0} == 0, 1, {0})",
)
BINARY = (
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} * {1}",
    "{0} / (1 + abs({1}))",
    "maximum({0}, {1})",
    "minimum({0}, {1})",
    "where({0} <= {1}, {0}, {1} * 2)",
    "exp(minimum({0}, 1)) * {1}",
)
# Over one axis ``{1}``: the axis goes, or stays.
FOLDS = (
    '{0}.sum("{1}")',
    '{0}.sum("{1}")',
    '{0}.max("{1}")',
    '{0}.min("{1}")',
    '{0}.mean("{1}")',
    'logsumexp({0}, "{1}")',
    'var({0}, "{1}")',
    'exp({0} - {0}.max("{1}")).sum("{1}")',
    '({0} * {0}).sum("{1}")',
    '(1 + 0.01 * tanh({0})).prod("{1}")',
)
ROWS = (
    'softmax({0}, "{1}")',
    'log_softmax({0}, "{1}")',
    'rms_norm({0}, "{1}")',
    'layer_norm({0}, "{1}")',
    'l2_normalize({0}, "{1}")',
    '{0} - {0}.mean("{1}")',
    '{0} / (1 + abs({0}).max("{1}"))',
    '{0}.cumsum("{1}")',
    '{0}.cummax("{1}")',
    'where({0} == {0}.max("{1}"), {0}, 0)',
)
# Affine steps of a state ``s`` by ``{0}`` and ``{1}``, none of which makes it much larger than it
# was; the second ones sum over an axis ``{2}`` of it.
STEPS = (
    "tanh({0}) * s + {1}",
    "{0} + 0.5 * s",
    "where({0} > 0, s, {1} - s)",
)
MIXING = (
    'tanh({0}) * (s - tanh({1}) * s.mean("{2}")) + {1}',
    '0.5 * s + tanh({1}) * (tanh({0}) * s).mean("{2}") + {0}',
)
# Conditions over the axes that follow.
MASKS = (
    ('index("{0}") <= index("{1}")', 2),
    ('(index("{0}") >= index("{1}")) & (index("{0}") - index("{1}") < 3)', 2),
    ('index("{0}") == index("{1}")', 2),
    ('index("{0}") < 4', 1),
    ('~(index("{0}") < 3)', 1),
)


@dataclass(frozen=True)
class Value:
    """A value of the spec: its text, its axes, and the statements and parameters it needs."""

    text: str
    axes: frozenset[str]
    lines: tuple[str, ...] = ()
    params: frozenset[str] = frozenset()


@st.composite
def specs(draw: st.DrawFn, steps: int = 7) -> str:
    """The text of a file with one spec of one case."""
    axes = AXES[: draw(st.integers(1, 3))]
    params: dict[str, str] = {}
    pool: list[Value] = []
    for name in ("x", "y", "z")[: draw(st.integers(1, 3))]:
        order = draw(st.permutations(axes))[: draw(st.integers(1, len(axes)))]
        params[name] = f'Annotated[Tensor, "{" ".join(order)}"]'
        pool.append(Value(name, frozenset(order), (), frozenset([name])))
    if draw(st.integers(0, 4)) == 0:
        params["c"] = "Scalar"
        pool.append(Value("c", frozenset(), (), frozenset(["c"])))
    for number in range(draw(st.integers(3, steps))):
        made = _step(draw, pool, params, axes)
        if made is not None:
            pool.append(_named(made, f"v{number}"))
    return _file(draw, pool, params)


def _named(value: Value, name: str) -> Value:
    return Value(name, value.axes, (*value.lines, f"{name} = {value.text}"), value.params)


def _joined(text: str, axes: frozenset[str], *parts: Value) -> Value:
    lines = dict.fromkeys(line for p in parts for line in p.lines)
    # A statement stands after those that it reads: names are numbered in that order.
    ordered = sorted(lines, key=lambda line: int(line.split(" ", 1)[0][1:]))
    return Value(text, axes, tuple(ordered), frozenset().union(*(p.params for p in parts)))


def _step(
    draw: st.DrawFn, pool: list[Value], params: dict[str, str], axes: tuple[str, ...]
) -> Value | None:
    """One more value of earlier ones; later ones are preferred. None: it cannot be said."""
    pick = st.sampled_from([*pool, *pool[-2:], *[pool[-1]] * 3])
    kinds = ["unary", "binary", "binary", "fold", "fold", "row", "matmul", "mask", "round", "at"]
    kinds += ["steps"]
    kind = draw(st.sampled_from(kinds))
    a = draw(pick)
    over = sorted(a.axes)
    match kind:
        case "unary":
            return _joined(draw(st.sampled_from(UNARY)).format(a.text), a.axes, a)
        case "binary":
            b = draw(pick)
            text = draw(st.sampled_from(BINARY)).format(a.text, b.text)
            return _joined(text, a.axes | b.axes, a, b)
        case "fold" if over:
            axis = draw(st.sampled_from(over))
            return _joined(draw(st.sampled_from(FOLDS)).format(a.text, axis), a.axes - {axis}, a)
        case "row" if over:
            axis = draw(st.sampled_from(over))
            return _joined(draw(st.sampled_from(ROWS)).format(a.text, axis), a.axes, a)
        case "matmul":
            b = draw(pick)
            shared = sorted(a.axes & b.axes)
            if not shared:
                return None
            axis = draw(st.sampled_from(shared))
            both = (a.axes | b.axes) - {axis}
            return _joined(f'({a.text} * {b.text}).sum("{axis}")', both, a, b)
        case "steps" if over:
            return _recurrence(draw, a, draw(pick), draw(st.sampled_from(over)))
        case "mask":
            text, arity = draw(st.sampled_from(MASKS))
            if len(over) < arity:
                return None
            chosen = draw(st.permutations(over))[:arity]
            other = draw(st.sampled_from(["-inf", "0", "0"]))
            return _joined(f"where({text.format(*chosen)}, {a.text}, {other})", a.axes, a)
        case "round":
            grid = draw(st.sampled_from(ROUND))
            return _joined(f'round_to({a.text}, "{grid}")', a.axes, a)
        case "at" if over:
            where = draw(st.booleans())
            return _best(draw, a, pool) if where else _read_at(draw, a, over, params, axes)
        case _:
            return None


def _recurrence(draw: st.DrawFn, a: Value, b: Value, axis: str) -> Value:
    """The states along ``axis`` of ``a`` (some rows of them), or the last one."""
    state = sorted((a.axes | b.axes) - {axis})
    mixing = state and draw(st.booleans())
    text = draw(st.sampled_from(MIXING if mixing else STEPS))
    along = draw(st.sampled_from(state)) if mixing else ""
    step = text.format(a.text, b.text, along)
    first = draw(st.sampled_from(["", "", ", 1"]))
    states = f'recur("{axis}", "{" ".join(state)}", lambda s: {step}{first})'
    if draw(st.booleans()):
        return _joined(f'last({states}, "{axis}")', frozenset(state), a, b)
    if mixing:  # read, as a memory is
        return _joined(f'({states} * {b.text}).sum("{along}")', (a.axes | b.axes) - {along}, a, b)
    return _joined(states, a.axes | b.axes, a, b)


def _read_at(
    draw: st.DrawFn, a: Value, over: list[str], params: dict[str, str], axes: tuple[str, ...]
) -> Value | None:
    """A gather, a label, or a length, by a tensor of whole numbers."""
    axis = draw(st.sampled_from(over))
    along = sorted(set(axes) - {axis})[:1]
    name = "_".join(["at", *along])
    params[name] = f'Annotated[Tensor, "{" ".join(along)}", "int32"]'
    at = Value(name, frozenset(along), (), frozenset([name]))
    kept = a.axes | at.axes
    match draw(st.sampled_from(["gather", "label", "length"])):
        case "gather":
            return _joined(f'gather({a.text}, {name}, "{axis}")', kept - {axis}, a, at)
        case "label":
            text = f'where(index("{axis}") == {name}, {a.text}, 0).sum("{axis}")'
            return _joined(text, kept - {axis}, a, at)
        case _:
            return _joined(f'where(index("{axis}") < {name}, {a.text}, -inf)', kept, a, at)


def _best(draw: st.DrawFn, a: Value, pool: list[Value]) -> Value | None:
    """What stands where a tensor is largest. Scores that are computed are rounded, and who of two
    that are nearly equal is the larger one is then no matter of tolerance."""
    scores = [(v, axis) for v in pool if not v.lines for axis in sorted(a.axes & v.axes)]
    if not scores:
        return None
    x, axis = draw(st.sampled_from(scores))
    text = f'gather({a.text}, argmax({x.text}, "{axis}"), "{axis}")'
    return _joined(text, (a.axes | x.axes) - {axis}, a, x)


def _file(draw: st.DrawFn, pool: list[Value], params: dict[str, str]) -> str:
    outputs = [max(pool, key=lambda v: len(v.lines))]
    made = [v for v in pool if v.lines and v not in outputs]
    if made and draw(st.integers(0, 4)) == 0:
        outputs = [draw(st.sampled_from(made)), *outputs]
    all_of = _joined("", frozenset(), *outputs)
    used = [p for p in params if p in all_of.params]
    tensors = [params[p].split('"')[1].split() for p in used if params[p] != "Scalar"]
    axes = [a for a in AXES if any(a in order for order in tensors)]
    bound = [f"{a}={draw(st.sampled_from(SIZES))}" for a in axes]
    bound += ["c=0.5"] if "c" in used else []
    results = [f'Annotated[Tensor, "{" ".join(sorted(v.axes))}"]' for v in outputs]
    result = results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    dtype = draw(st.sampled_from(["fp32", "fp16", "bf16"]))
    body = [
        f'@spec(cases=[Case({", ".join([QUOTED, *bound])})], dtype="{dtype}")',
        f"def fuzzed({', '.join(f'{p}: {params[p]}' for p in used)}) -> {result}:",
        *(f"    {line}" for line in all_of.lines),
        f"    return {', '.join(v.text for v in outputs)}",
    ]
    words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(body)))
    names = [f"from superopt import {name}" for name in superopt.__all__ if name in words]
    lines = ["from typing import Annotated", "", *names, "", "", *body]
    return "\n".join(lines) + "\n"
