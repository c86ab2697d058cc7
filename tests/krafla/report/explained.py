"""Traces for the tests of explanations: recorded ones, and small ones made up here."""

from __future__ import annotations

from pathlib import Path

from krafla.traces import Claim, ClaimKind, Conjunct, Step, Trace, read_whole_trace
from krafla.values import Function, ModelValue, function, record

CORPUS = Path(__file__).parents[3] / "traces"
HOSTILE = "</script><img src=x onerror=alert(1)>|`*\x1b[31m\u202e"
p1, p2 = ModelValue("p1"), ModelValue("p2")


def recorded(name):
    return read_whole_trace(CORPUS / f"{name}.ndjson")


def state(count, mail=(), status=("OFF", "OFF")):
    bag = function(dict.fromkeys(mail, 1))
    return record(count=count, mail=bag, mode=Function({p1: status[0], p2: status[1]}))


def message(kind="Ask", node=p1, **fields):
    return record(type=kind, node=node, **fields)


def small(*states, claim=None, actions=None):
    """A trace of an unknown spec: nodes and messages are guessed from the values."""
    names = actions or ["Init", *(f"Step{number}" for number in range(1, len(states)))]
    steps = tuple(Step(name, (), one) for name, one in zip(names, states, strict=True))
    return Trace("Unknown", steps, (("Node", frozenset({p1, p2})),), claim)


def hostile():
    """A trace in which every text is hostile."""
    conjunct = Conjunct(HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),))
    bad = Function({ModelValue(HOSTILE): HOSTILE})
    first, second = record(x=bad, y="calm"), record(x=bad, y=HOSTILE)
    steps = (Step("Init", (), first), Step(HOSTILE, (HOSTILE,), second, HOSTILE))
    claim = Claim(ClaimKind.INVARIANT, HOSTILE, conjunct)
    return Trace(HOSTILE, steps, ((HOSTILE, HOSTILE),), claim, model=HOSTILE)
