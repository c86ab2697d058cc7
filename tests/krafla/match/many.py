"""Dozens of traces: good ones from seeds, spoiled ones, and some with hidden steps."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from krafla.fuzz.engine.choice_run import play_seed
from krafla.fuzz.lease.system import SYSTEM
from krafla.match.validation import loaded
from krafla.oracle import EvaluationError
from krafla.traces import PartialTrace, Trace, partial
from krafla.values import Function, ModelValue, freeze

NIGHTLY = bool(os.environ.get("KRAFLA_NIGHTLY"))
# Of each of the six profiles: at night 504 good traces, 204 spoiled ones, 504 with gaps.
GOOD, SPOILED, GAPPED = (84, 34, 84) if NIGHTLY else (2, 10, 2)
PROFILES = sorted(set(SYSTEM.default_profiles))
STEPS = 31


@dataclass(frozen=True)
class Spoiled:
    """A trace with one thing wrong in it, and the first step that is no step of the spec."""

    trace: Trace
    index: int
    how: str


@lru_cache(maxsize=512)
def good(profile: str, number: int, steps: int = STEPS) -> Trace:
    """The trace of a seed, of so many steps or a few less."""
    return SYSTEM.trace(play_seed(SYSTEM, SYSTEM.profile(profile), f"many {number}", steps))


def gapped(trace: Trace, seed: str, share: float = 0.3) -> PartialTrace:
    """The trace without that share of its steps, which are hidden."""
    chance = Random(seed)
    first, *rest = partial(trace).observations
    kept = tuple(one for one in rest if chance.random() >= share)
    return replace(partial(trace, None), observations=(first, *kept))


def spoiled(trace: Trace, seed: str) -> Spoiled:
    """The trace with one change after which a state is no successor of the one before."""
    chance = Random(seed)
    ways = (another_value, another_action, another_parameter, left_out, repeated, swapped)
    while True:
        way = ways[chance.randrange(len(ways))]
        index = chance.randrange(1, len(trace) - 1)
        made = way(trace, index, chance)
        if made is None:
            continue
        first = first_impossible(made)
        if first is not None:
            return Spoiled(made, first, f"{way.__name__} at {index}")


def first_impossible(trace: Trace) -> int | None:
    """The first step that is not among the successors TLC generates; ``None`` if all are."""
    spec = loaded(trace.spec, trace.constants)
    states = [spec.state(dict(step.state.items())) for step in trace.steps]
    for index in range(1, len(states)):
        step = trace.steps[index]
        try:
            found = spec.outcomes(states[index - 1], step.action, *step.parameters)
        except EvaluationError:
            found = ()
        if states[index] not in found:
            return index
    return None


def another_value(trace, index, chance):
    """One part of the state after a single step is changed."""
    step = trace.steps[index]
    name = chance.choice(sorted(step.state))
    return with_step(
        trace, index, state=step.state.replace(**{name: bent(step.state[name], chance)})
    )


def bent(value, chance):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((-1, 1, 2))
    if isinstance(value, str):
        return "RUNNING" if value != "RUNNING" else "RECOVERY"
    if isinstance(value, ModelValue):
        return 0
    if isinstance(value, frozenset):
        return value ^ {1}
    entries = dict(value) if isinstance(value, Function) else dict(enumerate(value, 1))
    if not entries:
        return (1,)
    key = chance.choice(list(entries))
    return freeze({**entries, key: bent(entries[key], chance)})


def another_action(trace, index, chance):
    """A step has another action."""
    step = trace.steps[index]
    spec = loaded(trace.spec, trace.constants)
    alike = [
        one.name
        for one in spec.actions
        if len(one.parameters) == len(step.parameters) and one.name != step.action
    ]
    return with_step(trace, index, action=chance.choice(alike)) if alike else None


def another_parameter(trace, index, chance):
    """A step has another node, number or message for a parameter."""
    step = trace.steps[index]
    if not step.parameters:
        return None
    others = [
        one.parameters[0]
        for one in trace.steps
        if one.parameters and type(one.parameters[0]) is type(step.parameters[0])
    ]
    return with_step(trace, index, parameters=(chance.choice(others), *step.parameters[1:]))


def left_out(trace, index, _chance):
    """A step is missing."""
    return trace.with_steps(trace.steps[:index] + trace.steps[index + 1 :])


def repeated(trace, index, _chance):
    """A step is repeated."""
    return trace.with_steps(trace.steps[: index + 1] + trace.steps[index:])


def swapped(trace, index, _chance):
    """Two steps are exchanged."""
    steps = list(trace.steps)
    steps[index], steps[index + 1] = steps[index + 1], steps[index]
    return trace.with_steps(tuple(steps))


def with_step(trace, index, **changes):
    steps = list(trace.steps)
    steps[index] = replace(steps[index], **changes)
    return trace.with_steps(tuple(steps))
