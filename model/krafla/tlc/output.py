"""Collect the reports of a TLC run: counts, progress, coverage, errors, states."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.tlc.codes import ERROR_CLASSES, Code, MessageClass
from krafla.tlc.messages import Message, MessageReader
from krafla.tlc.probe import Reached, parse_probe

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Count", "Covered", "Output", "PrintedState", "Progress"]

_NUMBER = r"(-?\d[\d,]*)"
_PROGRESS = re.compile(
    rf"Progress\((-?\d+)\).*?: {_NUMBER} states generated.*?, {_NUMBER} distinct states found"
    rf".*?, {_NUMBER} states left"
)
_STATS = re.compile(
    rf"{_NUMBER} states generated, {_NUMBER} distinct states found, {_NUMBER} states left"
)
_PROBABILITY = re.compile(r"val = ([\d.]+(?:E[+-]?\d+)?)")
_COVERED = re.compile(r"^(<.*>): (\d+):(\d+)$")
_COUNTED = re.compile(
    r"^ *(\|*)line (\d+), col (\d+) to line (\d+), col (\d+) of module (\w+): (\d+)(?::\d+)?$"
)
_PARSED_FILE = re.compile(r"^Parsing file (.+\.tla)\b")
_KEPT_LINES = 400
_TERMINATING = "Terminating due to "


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search; ``queue`` counts states whose successors are not yet known.

    ``generated`` is updated only once a minute. While ``is_temporal``, temporal properties are
    being checked and the search stands still.
    """

    distinct: int
    queue: int
    depth: int
    generated: int | None = None
    is_temporal: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """How often TLC counted a part of an action: how deep it is printed, where it stands.

    ``span`` is module, line, column, last line, last column.
    """

    depth: int
    span: tuple[str, int, int, int, int]
    number: int


@dataclass(slots=True)
class Covered:
    """The coverage of one disjunct of Next: its label, new states, steps, its parts."""

    label: str
    distinct: int
    taken: int
    counts: list[Count] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PrintedState:
    """One state of a counterexample as printed: its number, its label and its variables."""

    number: int
    label: str
    text: str


@dataclass(slots=True)
class Output:
    """Takes the lines of one run and keeps the latest report of each kind.

    Feed every line, then ``close``. ``on_progress`` is called for each progress report.
    """

    on_progress: Callable[[Progress], None] | None = None
    version: str = ""
    simulated: bool = False
    progress: Progress | None = None
    stats: tuple[int, int, int] | None = None
    depth: int | None = None
    initial_states: int | None = None
    collision_probability: float | None = None
    succeeded: bool = False
    finished: bool = False
    truncated: bool = False
    errors: list[Message] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)
    states: list[PrintedState] = field(default_factory=list)
    back_to: PrintedState | None = None
    stuttering: bool = False
    coverage: list[Covered] = field(default_factory=list)
    coverage_complete: bool = False
    files: dict[str, Path] = field(default_factory=dict)
    parser_lines: list[str] = field(default_factory=list)
    printed: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    reached: dict[str, int] = field(default_factory=dict)
    last_words: str = ""
    _reader: MessageReader = field(default_factory=MessageReader)
    parsing: bool = False
    covering: Covered | None = None

    def feed(self, line: str) -> None:
        """Take one line; no text whatever raises."""
        if line.startswith(_TERMINATING):
            # Java's last words, in the middle of whatever TLC was about to say.
            self.last_words = line.removeprefix(_TERMINATING).strip()
        for item in self._reader.feed(line):
            if isinstance(item, Message):
                self._message(item)
            else:
                self._loose(item)

    def close(self) -> None:
        """End the output; an unfinished message makes it ``truncated``."""
        self.truncated = self._reader.is_open or self._reader.damaged or not self.finished

    def _loose(self, line: str) -> None:
        parsed = _PARSED_FILE.match(line)
        if parsed:
            path = Path(parsed[1])
            self.files.setdefault(path.stem, path)
        if self.parsing:
            if len(self.parser_lines) < _KEPT_LINES:
                self.parser_lines.append(line)
            return
        probe = parse_probe(line)
        if probe is None:
            self.printed.append(line)
        elif isinstance(probe, Reached):
            self.reached.setdefault(probe.witness, probe.level)
        else:
            self.note_progress(Progress(*probe))

    def note_progress(self, progress: Progress) -> None:
        """Take one progress report and pass it on."""
        self.progress = progress
        if self.on_progress is not None:
            self.on_progress(progress)

    def _message(self, message: Message) -> None:
        handler = _HANDLERS.get(message.code)
        if handler is not None:
            handler(self, message)
        if message.kind in ERROR_CLASSES:
            self.errors.append(message)
        elif message.kind == MessageClass.WARNING:
            self.warnings.append(message)


def _on_version(output: Output, message: Message) -> None:
    output.version = message.text


def _on_simulate(output: Output, _message: Message) -> None:
    output.simulated = True


def _on_sany_start(output: Output, _message: Message) -> None:
    output.parsing = True


def _on_sany_end(output: Output, _message: Message) -> None:
    output.parsing = False


def _on_init(output: Output, message: Message) -> None:
    counts = re.findall(_NUMBER, message.text)
    output.initial_states = _integer(counts[0]) if counts else None


def _on_progress_message(output: Output, message: Message) -> None:
    found = _PROGRESS.search(message.text)
    if found:
        depth, generated, distinct, queue = map(_integer, found.groups())
        output.note_progress(Progress(distinct, queue, depth, generated))


def _on_stats(output: Output, message: Message) -> None:
    found = _STATS.search(message.text)
    if found:
        generated, distinct, queue = map(_integer, found.groups())
        output.stats = (generated, distinct, queue)


def _on_depth(output: Output, message: Message) -> None:
    numbers = re.findall(_NUMBER, message.text)
    output.depth = _integer(numbers[0]) if numbers else None


def _on_success(output: Output, message: Message) -> None:
    output.succeeded = True
    found = [float(value) for value in _PROBABILITY.findall(message.text)]
    output.collision_probability = max(found, default=None)


def _on_finished(output: Output, _message: Message) -> None:
    output.finished = True


def _on_state(output: Output, message: Message) -> None:
    head, _, body = message.text.partition("\n")
    number, _, label = head.partition(":")
    if number.strip().isdigit():
        output.states.append(PrintedState(int(number), label.strip(), body))


def _on_back_to(output: Output, message: Message) -> None:
    number = re.search(r"\d+", message.text)
    if number:
        output.back_to = PrintedState(int(number[0]), message.text, "")


def _on_stuttering(output: Output, _message: Message) -> None:
    output.stuttering = True


def _on_initial_violation(output: Output, message: Message) -> None:
    _, _, body = message.text.partition("\n")
    output.states.append(PrintedState(1, "<Initial predicate>", body))


def _on_coverage_start(output: Output, _message: Message) -> None:
    # Each report covers everything since the start: the last whole one counts.
    output.coverage.clear()
    output.coverage_complete = False


def _on_coverage(output: Output, message: Message) -> None:
    found = _COVERED.match(message.text)
    if found:
        output.covering = Covered(found[1], int(found[2]), int(found[3]))
        output.coverage.append(output.covering)


def _on_coverage_elsewhere(output: Output, _message: Message) -> None:
    output.covering = None


def _on_coverage_value(output: Output, message: Message) -> None:
    found = _COUNTED.match(message.text)
    if found and output.covering is not None:
        line, column, last_line, last_column = (int(found[one]) for one in range(2, 6))
        span = (found[6], line, column, last_line, last_column)
        output.covering.counts.append(Count(len(found[1]), span, int(found[7])))


def _on_temporal(output: Output, _message: Message) -> None:
    if output.progress is not None:
        output.note_progress(replace(output.progress, is_temporal=True))


def _on_coverage_end(output: Output, _message: Message) -> None:
    output.coverage_complete = True
    output.covering = None


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


_HANDLERS: dict[int, Callable[[Output, Message], None]] = {
    Code.VERSION: _on_version,
    Code.MODE_SIMULATE: _on_simulate,
    Code.SANY_START: _on_sany_start,
    Code.SANY_END: _on_sany_end,
    Code.INIT_GENERATED_1: _on_init,
    Code.INIT_GENERATED_2: _on_init,
    Code.INIT_GENERATED_3: _on_init,
    Code.INIT_GENERATED_4: _on_init,
    Code.PROGRESS: _on_progress_message,
    Code.PROGRESS_SIMULATION: _on_progress_message,
    Code.STATS: _on_stats,
    Code.SEARCH_DEPTH: _on_depth,
    Code.SUCCESS: _on_success,
    Code.FINISHED: _on_finished,
    Code.STATE_PRINT: _on_state,
    Code.STATE_PRINT_1: _on_state,
    Code.BACK_TO_STATE: _on_back_to,
    Code.STUTTERING: _on_stuttering,
    Code.INVARIANT_VIOLATED_INITIAL: _on_initial_violation,
    Code.PROPERTY_VIOLATED_INITIAL: _on_initial_violation,
    Code.COVERAGE_START: _on_coverage_start,
    Code.COVERAGE_NEXT: _on_coverage,
    Code.COVERAGE_INIT: _on_coverage_elsewhere,
    Code.COVERAGE_PROPERTY: _on_coverage_elsewhere,
    Code.COVERAGE_CONSTRAINT: _on_coverage_elsewhere,
    Code.COVERAGE_VALUE: _on_coverage_value,
    Code.COVERAGE_VALUE_COST: _on_coverage_value,
    Code.COVERAGE_END: _on_coverage_end,
    Code.COVERAGE_END_OVERHEAD: _on_coverage_end,
    Code.CHECKING_TEMPORAL: _on_temporal,
}
