"""Prefixes along an axis, and the states in which a memory that forgets ends.

Axes: b batch, h heads, m rows, or positions that ask; n positions in order; d features of a key,
e features of a value.

A memory ``S = exp(g[n]) S + k[n] v[n]``, read after all positions, is a sum in which each position
has the weight ``exp(total - prefix)`` of what later positions still take away. One that corrects
what it holds, rather than adding to it, is a recurrence: its steps are matrices.
"""

from typing import Annotated

import torch

from superopt import Case
from superopt import Tensor
from superopt import exp
from superopt import index
from superopt import l2_normalize
from superopt import last
from superopt import log
from superopt import maximum
from superopt import minimum
from superopt import recur
from superopt import rsqrt
from superopt import size
from superopt import softmax
from superopt import spec
from superopt import where

ROWS = [
    Case("square", m=4096, n=4096),
    Case("long", m=256, n=65536),
    Case("fp32", m=1024, n=2048, dtype="fp32"),
]
STATES = [
    Case("prefill", b=4, h=16, n=4096, d=128, e=128),
    Case("fp32", b=2, h=4, n=1024, d=64, e=64, dtype="fp32"),
]
CAUSAL = [
    Case("prefill", b=4, h=16, m=4096, n=4096, d=128, e=128),
    Case("fp32", b=2, h=4, m=1024, n=1024, d=64, e=64, dtype="fp32"),
]
RATES = [
    Case("prefill", b=4, h=16, n=4096, d=128, e=128),
    Case("fp32", b=2, h=4, n=1024, d=64, e=64, dtype="fp32"),
]
DELTA = [
    Case("prefill", b=4, h=16, n=2048, d=128, e=128),
    Case("decode", b=64, h=16, n=1, d=128, e=128),
    Case("fp32", b=2, h=4, n=1024, d=64, e=64, dtype="fp32"),
]


def log_sigmoid(x):
    """Of which nothing underflows."""
    return minimum(x, 0) - log(1 + exp(-abs(x)))


def share(x):
    """A number from 0 to 1."""
    return minimum(maximum(x, 0), 1)


def remaining(g):
    """The sum behind each position of the last dimension."""
    return g.flip(-1).cumsum(-1).flip(-1) - g


def prefix_sums_reference(x):
    return x.cumsum(-1)


def prefix_maxima_reference(x):
    return x.cummax(-1).values


def retention_state_reference(rate, k, v):
    g = torch.nn.functional.logsigmoid(rate)[:, None] * torch.ones_like(k[0, 0, :, 0])
    return torch.einsum("hn,bhnd,bhne->bhde", remaining(g).exp(), k, v)


def gated_state_reference(gate, k, v):
    weights = remaining(torch.nn.functional.logsigmoid(gate)).exp()
    return torch.einsum("bhn,bhnd,bhne->bhde", weights, k, v)


def gated_keys_reference(gate, k, v):
    g = torch.nn.functional.logsigmoid(gate).transpose(-1, -2)
    return torch.einsum("bhdn,bhnd,bhne->bhde", remaining(g).exp(), k, v)


def gated_read_reference(gate, q, k, v):
    weights = remaining(torch.nn.functional.logsigmoid(gate)).exp()
    state = torch.einsum("bhn,bhnd,bhne->bhde", weights, k, v)
    norm = torch.einsum("bhn,bhnd->bhd", weights, k)
    read, mass = torch.einsum("bhd,bhde->bhe", q, state), (q * norm).sum(-1, keepdim=True)
    return read / mass.abs().clamp(min=1)


def stabilised_state_reference(forget, enter, k, v):
    s = enter + remaining(torch.nn.functional.logsigmoid(forget))
    m = s.amax(-1, keepdim=True)
    return torch.einsum("bhn,bhnd,bhne->bhde", (s - m).exp(), k, v), m.squeeze(-1)


def forgetting_decode_reference(gate, q, k, v):
    s = torch.einsum("bhd,bhnd->bhn", q, k) * q.shape[-1] ** -0.5
    s = s + remaining(torch.nn.functional.logsigmoid(gate))
    return torch.einsum("bhn,bhne->bhe", s.softmax(-1), v)


def causal_linear_reference(q, k, v):
    return (q @ k.mT).tril() @ v


def delta_rule_reference(rate, q, k, v):
    state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])
    return gated_delta_rule_reference(torch.zeros_like(k), rate, q, k, v, state)


def gated_delta_rule_reference(gate, rate, q, k, v, state):
    k = torch.nn.functional.normalize(k, dim=-1)
    read = torch.zeros_like(v)
    for n in range(k.shape[2]):
        state = gate[:, :, n, :, None].clamp(max=0).exp() * state
        known = torch.einsum("bhd,bhde->bhe", k[:, :, n], state)
        new = rate[:, :, n, None].clamp(0, 1) * (v[:, :, n] - known)
        state = state + torch.einsum("bhd,bhe->bhde", k[:, :, n], new)
        read[:, :, n] = torch.einsum("bhd,bhde->bhe", q[:, :, n], state)
    return read, state


@spec(cases=ROWS, dtype="bf16", reference=prefix_sums_reference)
def prefix_sums(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n", "fp32"]:
    return x.cumsum("n")


@spec(cases=ROWS, dtype="bf16", reference=prefix_maxima_reference)
def prefix_maxima(x: Annotated[Tensor, "m n"]) -> Annotated[Tensor, "m n"]:
    return x.cummax("n")


@spec(cases=RATES, dtype="bf16", reference=retention_state_reference)
def retention_state(
    rate: Annotated[Tensor, "h", "fp32"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h d e", "fp32"]:
    """Every head forgets at a rate of its own; how far back a position lies says the rest."""
    back = size("n") - 1 - index("n")
    return (exp(back * log_sigmoid(rate)) * k * v).sum("n")


@spec(cases=STATES, dtype="bf16", reference=gated_state_reference)
def gated_state(
    gate: Annotated[Tensor, "b h n"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h d e", "fp32"]:
    """Every position first scales what is kept by its gate."""
    g = log_sigmoid(gate)
    return (exp(g.sum("n") - g.cumsum("n")) * k * v).sum("n")


@spec(cases=STATES, dtype="bf16", reference=gated_keys_reference)
def gated_keys(
    gate: Annotated[Tensor, "b h n d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h d e", "fp32"]:
    """The same with a gate for every feature of the key."""
    g = log_sigmoid(gate)
    return (exp(g.sum("n") - g.cumsum("n")) * k * v).sum("n")


@spec(cases=STATES, dtype="bf16", reference=gated_read_reference)
def gated_read(
    gate: Annotated[Tensor, "b h n"],
    q: Annotated[Tensor, "b h d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h e", "fp32"]:
    """What a query reads of the memory, with a normaliser beside it."""
    g = log_sigmoid(gate)
    weighted = exp(g.sum("n") - g.cumsum("n")) * k
    read = (q * (weighted * v).sum("n")).sum("d")
    return read / maximum(abs((q * weighted.sum("n")).sum("d")), 1)


@spec(cases=STATES, dtype="bf16", reference=stabilised_state_reference)
def stabilised_state(
    forget: Annotated[Tensor, "b h n"],
    enter: Annotated[Tensor, "b h n"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> tuple[Annotated[Tensor, "b h d e", "fp32"], Annotated[Tensor, "b h", "fp32"]]:
    """Positions enter with weights ``exp(enter)``, which the largest exponent keeps in range."""
    g = log_sigmoid(forget)
    s = enter + (g.sum("n") - g.cumsum("n"))
    m = s.max("n")
    return (exp(s - where(m == -float("inf"), 0, m)) * k * v).sum("n"), m


@spec(cases=STATES, dtype="bf16", reference=forgetting_decode_reference)
def forgetting_decode(
    gate: Annotated[Tensor, "b h n"],
    q: Annotated[Tensor, "b h d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h e"]:
    """Weights of a softmax that fade with every gate behind them, for one query."""
    g = log_sigmoid(gate)
    s = (q * k).sum("d") * rsqrt(size("d")) + (g.sum("n") - g.cumsum("n"))
    return (softmax(s, "n") * v).sum("n")


@spec(cases=CAUSAL, dtype="bf16", reference=causal_linear_reference)
def causal_linear(
    q: Annotated[Tensor, "b h m d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> Annotated[Tensor, "b h m e"]:
    """What each position reads of a memory that forgets nothing, as a masked product."""
    scores = where(index("n") <= index("m"), (q * k).sum("d"), 0)
    return (scores * v).sum("n")


@spec(cases=DELTA, dtype="bf16", reference=delta_rule_reference)
def delta_rule(
    rate: Annotated[Tensor, "b h n"],
    q: Annotated[Tensor, "b h n d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
) -> tuple[Annotated[Tensor, "b h n e"], Annotated[Tensor, "b h d e", "fp32"]]:
    """What is known of a key is moved towards the new value, by a rate of each position's own."""
    key = l2_normalize(k, "d")
    states = recur("n", "b h d e", lambda s: s + share(rate) * key * (v - (key * s).sum("d")))
    return (q * states).sum("d"), last(states, "n")


@spec(cases=DELTA, dtype="bf16", reference=gated_delta_rule_reference)
def gated_delta_rule(
    gate: Annotated[Tensor, "b h n d"],
    rate: Annotated[Tensor, "b h n"],
    q: Annotated[Tensor, "b h n d"],
    k: Annotated[Tensor, "b h n d"],
    v: Annotated[Tensor, "b h n e"],
    state: Annotated[Tensor, "b h d e", "fp32"],
) -> tuple[Annotated[Tensor, "b h n e"], Annotated[Tensor, "b h d e", "fp32"]]:
    """The same from a ``state`` on, each of whose features first forgets, by its gate."""
    key = l2_normalize(k, "d")

    def step(known):
        kept = exp(minimum(gate, 0)) * known
        return kept + share(rate) * key * (v - (key * kept).sum("d"))

    states = recur("n", "b h d e", step, state)
    return (q * states).sum("d"), last(states, "n")
