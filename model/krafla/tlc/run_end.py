"""Decide how a run ended, from its codes and its exit status together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.tlc.codes import (
    ASSUMPTION,
    CONFIG_ERRORS,
    EVALUATION_ERRORS,
    EXPLANATIONS,
    OUT_OF_MEMORY,
    SPEC_ERRORS,
    TOO_MANY_STATES,
    Code,
)
from krafla.tlc.library import missing_module
from krafla.tlc.outcome import (
    ActionPropertyViolated,
    AssertionFailed,
    AssumptionFailed,
    ConfigError,
    Deadlock,
    EvaluationError,
    Finished,
    InvariantViolated,
    Killed,
    Outcome,
    OutOfDisk,
    OutOfMemory,
    SpecError,
    TemporalPropertyViolated,
    TooManyStates,
    Unknown,
)
from krafla.tlc.syntax_error import syntax_error

if TYPE_CHECKING:
    from krafla.tlc.messages import Message
    from krafla.tlc.output import Output

__all__ = ["outcome_of"]

_NAME = re.compile(
    r"^(?:Invariant|Action property|Property|Evaluating invariant) (.+?) (?:is|failed)"
)
_ASSUMPTION = re.compile(r"^\S+(?: assumption)? (line .+? of module \w+)")
_PLACE = re.compile(
    r"[Ll]ine (\d+), col(?:umn)? (\d+) to line (\d+), col(?:umn)? (\d+) (?:in|of module) (\w+)"
)
_PARSE_PLACE = re.compile(r"at line (\d+), column (\d+)")
# Java's own words, wherever in TLC they come from.
_MEMORY = re.compile(r"java\.lang\.OutOfMemoryError.*")
_DISK = re.compile(
    r"java\.(?:io\.(?:IO|FileNotFound|UncheckedIO)|nio\.file\.\w+)Exception\s*:\s*(.+)"
    r"|((?:No space left on device|Disk quota exceeded|File too large).*)"
)
_LINE = re.compile(r"\bline (\d+)")
_IMPORTED = re.compile(r"for module (?P<name>\w+) imported in module (?P<by>\w+)")
_FAILED_MODULE = re.compile(r"^Could not parse module (\w+)", re.MULTILINE)

_IN_INITIAL_STATE = "While working on the initial state:"
# What a value cannot be used for, without the Java stack trace behind it.
_SLIP = re.compile(
    r"(?:Attempted to |TLC encountered (?:a|the) non-enumerable"
    r"|TLC attempted to evaluate an unbounded"
    r"|In computing (?:initial|next) states, (?:the right side|TLC found)"
    r"|This was a Java StackOverflowError)"
    r".*?(?=\s*(?:\n\tat |\Z))"
    r"|(?<=The exception was a )java\.lang\.StackOverflowError",
    re.DOTALL,
)
# What each outcome's exit status may be; TLC falls back on 255 for errors it did not foresee.
_EXPECTED_STATUS: dict[type, frozenset[int]] = {
    Finished: frozenset({0}),
    InvariantViolated: frozenset({12}),
    ActionPropertyViolated: frozenset({12, 13}),
    TemporalPropertyViolated: frozenset({13}),
    Deadlock: frozenset({11}),
    AssumptionFailed: frozenset({10}),
    AssertionFailed: frozenset({12, 13, 14, 75, 76, 77, 255}),
    EvaluationError: frozenset({13, 75, 76, 77, 255}),
    SpecError: frozenset({150, 255}),
    ConfigError: frozenset({75, 76, 151, 255}),
}


def outcome_of(output: Output, exit_status: int, *, has_behaviour: bool = True) -> Outcome:
    """Return how the run ended; anything incomplete, contradictory or new is ``Unknown``.

    ``exit_status`` is negative for a process ended by a signal, as in ``subprocess``. A cfg without
    behaviour asks about assumptions only.
    """
    if exit_status < 0:
        return Killed(-exit_status)
    if _MEMORY.search(output.last_words):
        return OutOfMemory(output.last_words)
    error = next((one for one in output.errors if one.code not in EXPLANATIONS), None)
    if error is not None and _codes(error) & OUT_OF_MEMORY:
        # The heap may be exhausted anywhere: neither the end nor the status can be relied on.
        return OutOfMemory(error.text)
    failed = next((one for one in map(_of_the_machine, output.errors) if one is not None), None)
    if failed is not None:
        return failed
    if output.truncated:
        return Unknown(f"the output breaks off (exit status {exit_status})")
    if error is not None:
        outcome = _failure(error, output)
    else:
        outcome = _success(output, has_behaviour=has_behaviour)
    expected = _EXPECTED_STATUS.get(type(outcome))
    if expected is not None and exit_status not in expected:
        return Unknown(f"exit status {exit_status} does not fit the messages ({outcome})")
    if exit_status == 0 and not isinstance(outcome, Finished | Unknown):
        return Unknown(f"exit status 0 does not fit the messages ({outcome})")
    return outcome


def _of_the_machine(error: Message) -> Outcome | None:
    """Return the resource that the machine lacked, if the message is about one."""
    text = error.all_texts()
    memory, disk = _MEMORY.search(text), _DISK.search(text)
    if memory is not None:
        return OutOfMemory(memory[0])
    return None if disk is None else OutOfDisk(disk[1] or disk[2])


def _success(output: Output, *, has_behaviour: bool) -> Outcome:
    if output.errors:
        text = output.errors[0].all_texts()
        said, mark, after = text.partition(_IN_INITIAL_STATE)
        slip = _SLIP.search(after)
        if output.errors[0].code == Code.IN_INITIAL_STATE and mark and (said.strip() or slip):
            place = _short(said) if _PLACE.search(said) else None
            said = said.strip() or (slip[0].strip() if slip else "")
            return EvaluationError(said, _deepest_place(output) or place, None)
        return Unknown(text)
    if output.simulated:
        return Finished(simulated=True)
    if not output.succeeded:
        return Unknown("TLC neither reports success nor an error")
    if output.stats is None or output.stats[2] != 0:
        return Unknown("TLC reports success without having emptied its queue")
    if not has_behaviour:
        return Finished(assumptions_only=True)
    if not output.initial_states:
        # Vacuous: TLC calls a spec without behaviours correct.
        return Unknown("the spec has no initial state, so nothing was checked")
    return Finished(output.collision_probability)


def _failure(error: Message, output: Output) -> Outcome:
    violation = _violation(error)
    if violation is not None:
        return violation
    codes = _codes(error)
    text = error.all_texts()
    if codes & ASSUMPTION:
        place = _ASSUMPTION.match(error.text)
        return AssumptionFailed(_short(place[1]) if place else "an unknown place", text)
    if codes & SPEC_ERRORS:
        return _spec_error(output)
    if Code.ASSERT_FAILED in codes:
        inner = _find(error, Code.ASSERT_FAILED)
        return AssertionFailed(_after_first_line(inner.text), _deepest_place(output))
    if codes & TOO_MANY_STATES:
        return TooManyStates(text)
    if codes & CONFIG_ERRORS:
        return _config_error(error)
    if codes & EVALUATION_ERRORS or error.code == Code.INVARIANT_EVALUATION_FAILED:
        name = _NAME.match(error.text)
        return EvaluationError(text, _deepest_place(output), name[1] if name else None)
    slip = _SLIP.search(text)
    if error.code == Code.GENERAL and slip is not None:
        # TLC has codes for some of these, and none for a record that lacks a field.
        return EvaluationError(slip[0].strip(), _deepest_place(output), None)
    # The frames of a Java stack trace say nothing of the spec.
    lines = [line for line in text.splitlines() if not line.startswith("\tat ")]
    return Unknown(f"code {error.code}: {' '.join(lines)}")


def _violation(error: Message) -> Outcome | None:
    if error.code == Code.DEADLOCK:
        return Deadlock()
    if error.code == Code.TEMPORAL_PROPERTY_VIOLATED:
        return TemporalPropertyViolated()
    initial = error.code in {Code.INVARIANT_VIOLATED_INITIAL, Code.PROPERTY_VIOLATED_INITIAL}
    found = _NAME.match(error.text)
    if error.code in {Code.INVARIANT_VIOLATED, Code.INVARIANT_VIOLATED_INITIAL}:
        if found is None:
            return Unknown(f"no invariant is named in {error.text!r}")
        return InvariantViolated(found[1], initial)
    if error.code in {Code.ACTION_PROPERTY_VIOLATED, Code.PROPERTY_VIOLATED_INITIAL}:
        if found is None:
            return Unknown(f"no property is named in {error.text!r}")
        if _PLACE.search(found[1]):
            return ActionPropertyViolated(None, _short(found[1]), initial)
        return ActionPropertyViolated(found[1], None, initial)
    return None


def _spec_error(output: Output) -> SpecError:
    """Read the parser's report, the one part of TLC's output that has no codes."""
    text = "\n".join(output.parser_lines)
    place = _PLACE.search(text)
    if place is not None:
        # One report is a place, an empty line, and the text; the next report follows.
        text = text[place.end() :]
        following = [line.strip() for line in text.splitlines() if line.strip()]
        message = following[0] if following else "semantic error"
        return SpecError(message, _file(output, place[5]), int(place[1]), int(place[2]))
    start = next((n for n, line in enumerate(output.parser_lines) if "***" in line), 0)
    lines = [line.strip() for line in output.parser_lines[start:] if not line.startswith("Parsing")]
    lines = [line for line in lines if line and not line.startswith(("***", "tla2sany."))]
    syntax = _PARSE_PLACE.search(text)
    module = _FAILED_MODULE.search(text)
    if syntax is not None:
        last = next(reversed(output.files), None)
        file = _file(output, module[1] if module else last)
        sentence = syntax_error(text, None if file is None else Path(file))
        message = sentence or next(iter(lines), "syntax error")
        return SpecError(message, file, int(syntax[1]), int(syntax[2]))
    missing = next((line for line in lines if line.startswith("Cannot find source file")), None)
    importer = _IMPORTED.search(missing or "")
    file = _file(output, importer["by"]) if importer else None
    if importer is not None:
        missing = missing_module(importer["name"])
    return SpecError(missing or " ".join(lines[:3]) or "the spec does not parse", file)


def _config_error(error: Message) -> ConfigError:
    inner = next((one for one in error.inner if one.code in CONFIG_ERRORS), error)
    line = _LINE.search(inner.text) if inner.code < 6000 and inner.code >= 5001 else None
    return ConfigError(inner.all_texts(), None, int(line[1]) if line else None)


def _file(output: Output, module: str | None) -> str | None:
    if module is None:
        return None
    path = output.files.get(module)
    return str(path) if path is not None else f"{module}.tla"


def _codes(message: Message) -> set[int]:
    return {message.code}.union(*(_codes(inner) for inner in message.inner))


def _find(message: Message, code: int) -> Message:
    if message.code == code:
        return message
    return next(_find(inner, code) for inner in message.inner if code in _codes(inner))


def _deepest_place(output: Output) -> str | None:
    nested = [one for one in output.errors if one.code == Code.NESTED_EXPRESSION]
    places = _PLACE.findall(nested[-1].text) if nested else []
    return f"{places[-1][4]}:{places[-1][0]}" if places else None


def _short(text: str) -> str:
    place = _PLACE.search(text)
    return f"{place[5]}:{place[1]}" if place else text


def _after_first_line(text: str) -> str:
    first, _, rest = text.partition("\n")
    return rest.strip() or first
