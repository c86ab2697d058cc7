"""A small corpus of recorded traces of a lock, each with the verdict of the spec on it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.krafla.cli.lock_spec import krafla
from tests.krafla.testing.lock_server import MISTAKES, driver_of
from tests.krafla.testing.lock_traces import C1, C2

from krafla.testing import ModelValue, Spec, SpecViolation, drive
from krafla.traces import (
    Claim,
    ClaimKind,
    Conjunct,
    Observation,
    PartialTrace,
    SpecText,
    Step,
    Trace,
    read_trace,
)  # fmt: skip
from krafla.values import Function
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    *("Row", "carried", "claims_of_states", "claims_of_steps", "judged_rows", "partial_rows"),
    *("plain_rows", "project"),
]

SPECS = Path(__file__).parent / "specs"
C3 = ModelValue("c3")
HELD, VIOLATED, INCONCLUSIVE = Verdict.HELD, Verdict.VIOLATED, Verdict.INCONCLUSIVE
# It ends where no step leads on.
ONCE = """---- MODULE Once ----
VARIABLE done
Init == done = FALSE
Finish == ~done /\\ done' = TRUE
Next == Finish
Spec == Init /\\ [][Next]_done
====
"""
# It breaks its invariant in the beginning.
LATE = """---- MODULE Late ----
EXTENDS Once
DoneInv == done
====
"""


class Row(NamedTuple):
    """A file of the corpus: the verdict on it, and words in which every tool says why.

    ``is_as_claimed``: it is violated as the file claims, so the test of the file passes.
    """

    trace: Trace | PartialTrace
    verdict: Verdict
    words: str = ""
    is_as_claimed: bool = False

    @property
    def passes(self) -> bool:
        return self.verdict is HELD or self.is_as_claimed


def shown(trace: Trace | PartialTrace) -> Row:
    """Return the row of a trace that shows the violation which it claims."""
    return Row(trace, VIOLATED, is_as_claimed=True)


def project(folder: Path) -> Spec:
    """Write the specs, and return the lock's: at most one client waits, says its cfg."""
    specs = folder / "specs"
    specs.mkdir()
    (folder / "krafla.toml").write_text('[project]\nspecs = "specs"\n')
    shutil.copyfile(SPECS / "Lock.tla", specs / "Lock.tla")
    (specs / "Lock.cfg").write_text((SPECS / "Lock.cfg").read_text() + "INVARIANT ShortInv\n")
    (specs / "Once.tla").write_text(ONCE)
    (specs / "Once.cfg").write_text("SPECIFICATION Spec\n")
    (specs / "Late.tla").write_text(LATE)
    (specs / "Late.cfg").write_text("SPECIFICATION Spec\nINVARIANT DoneInv\n")
    return Spec.load(specs / "Lock.tla")


def lock(spec: Spec, *steps: tuple[str, ModelValue]) -> Trace:
    """Return a trace of the lock with these steps; one that is not allowed changes nothing."""
    state = spec.initial_states()[0]
    found = [Step("Init", (), state.as_function())]
    for name, client in steps:
        state = next(iter(spec.outcomes(state, name, client)), state)
        found.append(Step(name, (client,), state.as_function()))
    return Trace("Lock", tuple(found), spec.constants_of("Lock"))


def finished(spec: str, claim: Claim | None = None) -> Trace:
    """Return the only whole behaviour of one of the small specs."""
    first = Step("Init", (), Function({"done": False}))
    return Trace(spec, (first, Step("Finish", (), Function({"done": True}))), claim=claim)


def carried(spec: Spec) -> Trace:
    """Return a trace that breaks an invariant of the spec that it carries, not of that here."""
    text = spec.module.read_text().replace("Len(queue) < 2", "Len(queue) < 1")
    config = spec.configuration.read_text()
    found = lock(spec, ("Acquire", C1), ("Acquire", C2))
    claim = Claim(ClaimKind.INVARIANT, "ShortInv")
    return replace(found, claim=claim, text=SpecText("Lock", (("Lock", text),), config))


def plain_rows(spec: Spec) -> Mapping[str, Row]:
    """Return whole traces that claim nothing."""
    taken = lock(spec, ("Acquire", C1), ("Release", C1))
    waits = lock(spec, ("Acquire", C1), ("Acquire", C2))
    denied = lock(spec, ("Acquire", C1), ("Release", C2))
    begun = taken.with_steps(taken.steps[:1])
    foreign = Step("Acquire", ("x",), Function({"holder": "x", "queue": ()}))
    claim = Claim(ClaimKind.BEHAVIOUR)
    return {
        "behaviour": Row(taken, HELD),
        "behaviour-claimed": Row(replace(taken, claim=claim), HELD),
        "denied": Row(denied, VIOLATED, "Release is not enabled"),
        "denied-claimed": Row(replace(denied, claim=claim), VIOLATED, "Release is not enabled"),
        "elsewhere": Row(taken.with_steps(taken.steps[1:]), VIOLATED, "does not begin where"),
        "not-offered": Row(
            taken.with_steps((*begun.steps, foreign)), VIOLATED, 'Next has no Acquire("x")'
        ),
        "breaks": Row(lock(spec, *crowding()), VIOLATED, "ShortInv is false"),
        "breaks-at-once": Row(finished("Late"), VIOLATED, "DoneInv is false"),
        "no-step": Row(begun, INCONCLUSIVE),
        "lasso": Row(replace(taken, lasso=1, back="Acquire"), HELD),
        "lasso-open": Row(replace(waits, lasso=0, back="Release"), VIOLATED, "does not close"),
        "lasso-of-a-state": Row(replace(begun, lasso=0, back="Acquire"), VIOLATED, "not close"),
    }


def crowding() -> tuple[tuple[str, ModelValue], ...]:
    return ("Acquire", C1), ("Acquire", C2), ("Acquire", C3)


def claims_of_states(spec: Spec) -> Mapping[str, Row]:
    """Return traces that claim an invariant to be broken, or a deadlock; truly or not."""
    taken = lock(spec, ("Acquire", C1), ("Release", C1))
    crowd = lock(spec, *crowding())
    kind = ClaimKind.INVARIANT
    claim = Claim(kind, "ShortInv")
    other = replace(claim, conjunct=Conjunct("Len(queue) < 7", "Lock:1"))
    later = replace(lock(spec, *crowding(), ("Release", C1)), claim=Claim(kind, "BusyInv"))
    begun = taken.with_steps(taken.steps[:1])
    dead = Claim(ClaimKind.DEADLOCK)
    return {
        "invariant": shown(replace(crowd, claim=claim)),
        "invariant-at-once": shown(replace(begun, claim=Claim(kind, "BusyInv"))),
        "invariant-gone": Row(replace(taken, claim=claim), INCONCLUSIVE, "not violate ShortInv"),
        "invariant-before": Row(
            replace(taken, claim=Claim(kind, "BusyInv")), INCONCLUSIVE, "already violates BusyInv"
        ),
        "invariant-and-another": Row(later, VIOLATED, "ShortInv is false"),
        "invariant-otherwise": Row(
            replace(crowd, claim=other), INCONCLUSIVE, "breaks another conjunct of ShortInv"
        ),
        "invariant-unknown": Row(
            replace(taken, claim=Claim(kind, "NoInv")), INCONCLUSIVE, "no property of Lock"
        ),
        "deadlock": shown(finished("Once", dead)),
        "deadlock-gone": Row(replace(taken, claim=dead), INCONCLUSIVE, "a step leads on, and it"),
    }


def claims_of_steps(spec: Spec) -> Mapping[str, Row]:
    """Return traces that claim something of a step, of a behaviour, or of code; truly or not."""
    taken = lock(spec, ("Acquire", C1), ("Release", C1))
    waits = lock(spec, ("Acquire", C1), ("Acquire", C2))
    denied = lock(spec, ("Acquire", C1), ("Release", C2))
    twice = denied.with_steps((*denied.steps, denied.steps[-1]))
    of_step, live = ClaimKind.ACTION_PROPERTY, Claim(ClaimKind.TEMPORAL_PROPERTY, "Live")
    apart = Claim(ClaimKind.DIVERGENCE, "Release")
    unasked = "about which the spec cannot be asked"
    return {
        "property": shown(replace(taken, claim=Claim(of_step, "HeldProp"))),
        "property-gone": Row(
            replace(taken, claim=Claim(of_step, "InTurnProp")), INCONCLUSIVE, "not violate InTurn"
        ),
        "temporal": Row(
            replace(taken, claim=live, lasso=1, back="Acquire"), INCONCLUSIVE, "TLC's finding"
        ),
        "temporal-open": Row(
            replace(waits, claim=live, lasso=0, back="Release"), VIOLATED, "does not close"
        ),
        "temporal-finite": Row(replace(taken, claim=live), INCONCLUSIVE, "infinite behaviour"),
        "divergence": shown(replace(denied, claim=apart)),
        "divergence-before": Row(replace(twice, claim=apart), VIOLATED, "Release is not enabled"),
        "divergence-gone": Row(
            replace(taken, claim=apart), INCONCLUSIVE, "spec does not allow its last step, Release"
        ),
        "assertion": Row(
            replace(taken, claim=Claim(ClaimKind.ASSERTION)), INCONCLUSIVE, f"assertion, {unasked}"
        ),
        "evaluation": Row(
            replace(taken, claim=Claim(ClaimKind.EVALUATION)), INCONCLUSIVE, unasked
        ),
        "failure": Row(
            replace(taken, claim=Claim(ClaimKind.FAILURE, "Release")), INCONCLUSIVE, unasked
        ),
    }  # fmt: skip


def partial_rows(spec: Spec) -> Mapping[str, Row]:
    """Return partial traces."""
    first = Observation("Init")
    held, crowd = ((("holder",), C2),), ((("queue",), (C2, C3)),)

    def seen(*observations: Observation, **more: object) -> PartialTrace:
        return PartialTrace("Lock", observations, spec.constants_of("Lock"), **more)

    unseen = PartialTrace("Late", (Observation("Finish"),), ())
    return {
        "seen": Row(seen(first, Observation("Acquire", None, held)), HELD),
        "seen-later": Row(seen(first, Observation(None, None, held), hidden=None), HELD),
        "seen-not": Row(seen(first, Observation("Release", None, held)), VIOLATED, "holder = c"),
        "seen-not-offered": Row(
            seen(first, Observation("Acquire", ("x",))), VIOLATED, 'Next has no Acquire("x")'
        ),
        "seen-broken": Row(
            seen(first, Observation(None, None, crowd), hidden=None), VIOLATED, "ShortInv is false"
        ),
        "seen-nothing": Row(seen(first, Observation(None)), INCONCLUSIVE, "any behaviour would do"),
        "seen-broken-at-once": Row(
            replace(unseen, observations=(first, *unseen.observations)),
            VIOLATED, "DoneInv is false in the initial state",
        ),
        "unseen-broken-at-once": Row(unseen, VIOLATED, "DoneInv is false in the initial state"),
    }  # fmt: skip


def judged_rows(spec: Spec, folder: Path) -> Mapping[str, Row]:
    """Return the failures that `krafla judge` and a machine have saved, whole and partial."""
    lines = [
        {"start": {"seen": {"holder": "Nobody"}}},
        {"step": "Acquire", "parameters": ["x"]},
        {"save": str(folder / "of-judge.ndjson")},
    ]
    text = "".join(f"{json.dumps(one)}\n" for one in lines)
    krafla("judge", "--spec", spec.module, "--cfg", spec.configuration, lines=text)
    of_judge = read_trace(folder / "of-judge.ndjson")
    driver = driver_of(list(MISTAKES)[2])
    walk = replace(
        lock(spec, ("Acquire", C1), ("Release", C2)), claim=Claim(ClaimKind.DIVERGENCE, "Release")
    )
    with pytest.raises(SpecViolation) as caught:
        drive(driver, walk, spec=spec)
    return {
        "of-judge": Row(of_judge, VIOLATED, 'Next has no Acquire("x")'),
        # Whether the code still fails on it, only the code can tell.
        "of-machine": Row(caught.value.trace, VIOLATED),
    }
