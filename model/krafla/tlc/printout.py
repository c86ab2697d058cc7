"""Counterexamples as TLC prints them, kept in a file: with ``-tool`` or without, in and out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.tlc.counterexample import counterexample
from krafla.tlc.output import Output, PrintedState
from krafla.traces import Claim, ClaimKind, Trace, TraceFormatError, TruncatedTraceError
from krafla.traces.trace import INITIAL
from krafla.values import fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.traces import Step
    from krafla.values import Value

__all__ = ["dumps_printed", "loads_printed"]

_STATE: Final = re.compile(r"State (?P<number>\d{1,9}): (?P<label>.*)")
_BACK: Final = re.compile(r"Back to state:? (?P<number>\d{1,9})(?P<label>.*)")
_STUTTERING: Final = "Stuttering"
_LOCATION = re.compile(r"(?P<module>\w+):(?P<line>\d{1,9})", re.ASCII)
_INITIAL: Final = "<Initial predicate>"
_CLAIMS: Final = (
    (re.compile(r"Invariant (\w+) is violated"), ClaimKind.INVARIANT),
    (re.compile(r"Action property (\w+) is violated"), ClaimKind.ACTION_PROPERTY),
    (re.compile(r"Temporal propert(?:y (\w+) was|ies were) violated"), ClaimKind.TEMPORAL_PROPERTY),
    (re.compile(r"Deadlock reached(\w+)?"), ClaimKind.DEADLOCK),
)
# What TLC prints for the kinds of claims that it makes; of the others it says nothing.
_SAID: Final = {
    ClaimKind.INVARIANT: "Invariant {} is violated.",
    ClaimKind.ACTION_PROPERTY: "Action property {} is violated.",
    ClaimKind.TEMPORAL_PROPERTY: "Temporal property {} was violated.",
    ClaimKind.DEADLOCK: "Deadlock reached.",
}


def loads_printed(
    text: str,
    name: str,
    *,
    spec: str,
    constants: Sequence[tuple[str, Value]] = (),
) -> Trace:
    """Return the first behaviour in a text that TLC printed, with TLC's message about it.

    Actions have the names that TLC printed. A text from the middle of a behaviour gives its part,
    whose first step is no initial state; a lasso to a state before it is left out.
    ``TruncatedTraceError`` carries the states before if the text ends in one that cannot be read.
    ``TraceFormatError`` if there is no behaviour, or states are missing or cannot be read.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    output = Output()
    if any(line.startswith("@!@!@STARTMSG") for line in lines):
        for line in lines:
            output.feed(line)
    else:
        _feed_plain(output, lines)
    output.states = list(_first_behaviour(output.states))
    numbers = [state.number for state in output.states]
    if not numbers:
        raise TraceFormatError("there is no behaviour printed by TLC in it", name)
    first = numbers[0]
    for expected, number in enumerate(numbers, first):
        if number != expected:
            raise TraceFormatError(f"states are missing before state {number}", name)
    if output.back_to is not None:
        output.back_to = replace(output.back_to, number=output.back_to.number - first + 1)
    # The paths in the text come from its author: they are not followed.
    output.files = {}
    try:
        trace = _read(output, spec, constants, name)
    except TraceFormatError as error:
        last = output.states.pop()
        is_at_end = text.rstrip().endswith(last.text.rstrip().rpartition("\n")[2])
        if not is_at_end or error.place != f"{name}: state {last.number}":
            raise
        before = (
            _read(replace(output, back_to=None), spec, constants, name) if numbers[1:] else None
        )
        known = "no state is whole" if before is None else f"{len(before)} states are whole"
        raise TruncatedTraceError(f"cut short: {known}", error.place or name, before) from error
    return replace(trace, claim=_claim(text))


def _read(output: Output, spec: str, constants: Sequence[tuple[str, Value]], name: str) -> Trace:
    """Return the behaviour of the states; ``TraceFormatError`` names the first wrong one."""
    try:
        trace = counterexample(output, spec=spec, constants=constants)
    except KraflaError as error:
        raise TraceFormatError(error.message, f"{name}: {error.place}") from error
    assert trace is not None, "there is a state"
    first = output.states[0].number
    for number, step in enumerate(trace.steps, first):
        if list(step.state) != list(trace.steps[0].state):
            raise TraceFormatError(
                f"has other variables than state {first}", f"{name}: state {number}"
            )
    return trace


def _feed_plain(output: Output, lines: Sequence[str]) -> None:
    """Take the lines that TLC prints for people, in which a blank line ends a state."""
    body: list[str] | None = None
    for line in lines:
        state, back = _STATE.match(line), _BACK.match(line)
        if state and state["label"] == _STUTTERING:
            output.stuttering, body = True, None
        elif state:
            _end(output, body)
            output.states.append(PrintedState(int(state["number"]), state["label"], ""))
            body = []
        elif back:
            _end(output, body)
            output.back_to = PrintedState(int(back["number"]), back["label"], "")
            body = None
        elif line.endswith("violated by the initial state:"):
            output.states.append(PrintedState(1, _INITIAL, ""))
            body = []
        elif not line.strip():
            _end(output, body)
            body = None
        elif body is not None:
            body.append(line)
    _end(output, body)


def _end(output: Output, body: list[str] | None) -> None:
    if body is not None:
        output.states[-1] = replace(output.states[-1], text="\n".join(body))


def _first_behaviour(states: Sequence[PrintedState]) -> Iterator[PrintedState]:
    # With -continue TLC prints one behaviour after the other.
    for index, state in enumerate(states):
        if index and state.number == 1:
            return
        yield state


def _claim(text: str) -> Claim | None:
    found = [(match.start(), kind, match[1]) for pattern, kind in _CLAIMS
             if (match := pattern.search(text))]  # fmt: skip
    return None if not found else Claim(*min(found, key=lambda one: one[0])[1:])


def dumps_printed(trace: Trace) -> str:
    """Return the trace as TLC would print it without ``-tool``.

    Its constants, origin, events and the conjunct of its claim have no place there, nor has a
    claim that TLC does not make.
    """
    claim = trace.claim
    lines = ["Error: The behavior up to this point is:"]
    said = None if claim is None else _SAID.get(claim.kind)
    if claim is not None and said is not None and (claim.property or "{}" not in said):
        lines.insert(0, f"Error: {said.format(claim.property)}")
    for number, step in enumerate(trace.steps, 1):
        starts = number == 1 and step.action == INITIAL
        label = _INITIAL if starts else _label(step, trace.spec)
        lines += [f"State {number}: {label}", *_state(step), ""]
    if trace.stutters:
        lines.append(f"State {len(trace) + 1}: {_STUTTERING}")
    elif trace.lasso is not None:
        label = f": <{trace.back} {_place('', trace.spec)}>" if trace.back else ""
        lines.append(f"Back to state {trace.lasso + 1}{label}")
    return "".join(f"{line}\n" for line in lines)


def _label(step: Step, spec: str) -> str:
    arguments = f"({', '.join(map(fmt, step.parameters))})" if step.parameters else ""
    return f"<{step.action}{arguments} {_place(step.location, spec)}>"


def _place(location: str, spec: str) -> str:
    # A location may be any text; only a module's name and a line have a form that TLC prints.
    found = _LOCATION.fullmatch(location)
    module, number = (found["module"], found["line"]) if found else (spec, "0")
    return f"line {number}, col 0 to line {number}, col 0 of module {module}"


def _state(step: Step) -> Iterator[str]:
    return (f"/\\ {name} = {fmt(value)}" for name, value in step.state.items())
