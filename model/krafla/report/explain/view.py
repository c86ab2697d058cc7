"""The content of an explanation for any medium: steps, changes by node, messages in flight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.report.explain.flights import Flight, flights
from krafla.report.explain.layout import Column, layout_of
from krafla.report.explain.meaning import Meanings
from krafla.traces.changes import Sort, deep_changes
from krafla.values import Function, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krafla.report.explain.layout import Layout
    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.words import Words
    from krafla.traces import Step, Trace

__all__ = ["CUT", "Line", "Part", "StepNote", "StepView", "TraceView", "view_of"]

# What stands for the rest of a text that is cut.
CUT = "..."
UNCOUNTED = "-"
"""The label of a step that does not count."""


@dataclass(frozen=True, slots=True)
class Line:
    """One change as it is shown, and in full."""

    text: str
    whole: str


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a state: its column, its name there, its value, and all of a value that is cut."""

    column: int
    name: str
    text: str
    whole: str = ""


@dataclass(frozen=True, slots=True)
class StepNote:
    """What a trace does not say of one of its steps: a remark, and whether it has a number.

    ``nothing`` is shown below a step without a change. What came between two steps, such as what
    the code refused, is a line of the trace that is no step of the spec.
    """

    remark: str = ""
    is_counted: bool = True
    nothing: str = "nothing changed"
    is_step: bool = True


@dataclass(frozen=True, slots=True)
class StepView:
    """One step. ``cells`` has the lines of each column; ``node`` is the column that acted.

    ``number`` is its place in the trace, ``label`` the number that is shown, ``counted`` the last
    number that was shown up to here.
    """

    number: int
    label: str
    counted: int
    note: StepNote
    action: str
    call: str
    whole_call: str
    location: str
    time_ms: int | None
    node: int | None
    cells: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class TraceView:
    """A whole trace, ready to be shown. ``meanings`` has a sentence for each action taken.

    ``end`` says how an infinite behaviour goes on, ``judged_by`` is the command that judges the
    file again. No text can control a terminal.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    steps: tuple[StepView, ...]
    flights: tuple[Flight, ...]
    meanings: tuple[tuple[str, str], ...]
    outcome: Outcome | None
    end: str
    trace: Trace
    layout: Layout
    judged_by: str = "replay"

    def parts(self, number: int, names: Sequence[str] | None = None) -> tuple[Part, ...]:
        """Return the pieces of the state after a step, in the order of the columns.

        ``names`` restricts them to some variables.
        """
        state = self.trace.steps[number].state
        chosen = (str(name) for name in state) if names is None else iter(names)
        found = (part for name in chosen for part in _pieces(self.layout, name, state[name]))
        return tuple(sorted(found, key=lambda part: part.column))


_NO_NOTE = StepNote()


def view_of(
    trace: Trace, outcome: Outcome | None = None, notes: Mapping[int, StepNote] | None = None
) -> TraceView:
    """Return the view of a trace, with the finding about it if there is one.

    ``notes`` are about some of its steps, by their numbers.
    """
    layout = layout_of(trace)
    meanings = Meanings(trace.spec, trace.text)
    steps = tuple(_steps(layout, meanings, trace, notes or {}))
    actions = dict.fromkeys(step.action for step in trace.steps)
    told = ((layout.words.text(name), meanings.of(name)) for name in actions)
    return TraceView(
        title=layout.words.text(trace.model or trace.spec),
        facts=_facts(trace, layout, sum(one.note.is_step for one in steps[1:])),
        columns=layout.columns,
        steps=steps,
        flights=flights(trace, layout),
        meanings=tuple((name, sentence) for name, sentence in told if sentence),
        outcome=outcome,
        end=_end(trace, layout),
        trace=trace,
        layout=layout,
    )


def _facts(trace: Trace, layout: Layout, steps: int) -> tuple[tuple[str, str], ...]:
    words = layout.words
    facts = [("spec", words.text(trace.spec))]
    if trace.model:
        facts.append(("model", words.text(trace.model)))
    facts.append(("steps", str(steps)))
    origin = trace.origin
    if origin is not None:
        named = [origin.made_by, origin.profile, origin.seed and f"seed {origin.seed}"]
        facts.append(("made by", words.text(", ".join(one for one in named if one))))
    constants = [f"{words.text(name)} = {words.value(value)}" for name, value in trace.constants]
    if constants:
        facts.append(("constants", ", ".join(constants)))
    return tuple(facts)


def _steps(
    layout: Layout, meanings: Meanings, trace: Trace, notes: Mapping[int, StepNote]
) -> Iterator[StepView]:
    counted = 0
    for number, step in enumerate(trace.steps):
        note = notes.get(number, _NO_NOTE)
        counted += number > 0 and note.is_counted
        label = str(counted) if note.is_counted else UNCOUNTED
        found = _step(layout, meanings, trace, number, step, note)
        yield replace(found, label=label, counted=counted)


def _step(
    layout: Layout, meanings: Meanings, trace: Trace, number: int, step: Step, note: StepNote
) -> StepView:
    before = trace.steps[number - 1].state if number else None
    cells: list[list[Line]] = [[] for _ in layout.columns]
    for column, line in _lines(layout, before, step.state):
        cells[column].append(line)
    words = layout.words
    event = step.event
    return StepView(
        number=number,
        label=str(number),
        counted=number,
        note=note,
        action=words.text(step.action),
        call=words.call(step.action, step.parameters),
        whole_call=words.whole_call(step.action, step.parameters),
        location=words.text("" if number == 0 else meanings.place(step.action) or step.location),
        time_ms=None if event is None else event.time_ms,
        node=_acting(layout, step, cells) if number else None,
        cells=tuple(map(tuple, cells)),
    )


def _lines(layout: Layout, before: Function | None, after: Function) -> Iterator[tuple[int, Line]]:
    words = layout.words
    for name, value in after.items():
        if before is None or name not in before:
            for part in _pieces(layout, str(name), value):
                text = f"{part.name} = {part.text}" if part.text else part.name
                whole = f"{part.name} = {part.whole}" if part.whole else text
                yield part.column, Line(text, whole)
            continue
        found = deep_changes(str(name), before[name], value)
        # The messages that left come first: an answer follows its request.
        for change in sorted(found, key=lambda one: one.sort is not Sort.LOST):
            column, path = layout.owner(change.path)
            text = words.change(change, path, is_bag=name == layout.bag)
            yield column, Line(text, words.text(str(change)))


def _pieces(layout: Layout, name: str, value: Value) -> Iterator[Part]:
    """Yield the value of a variable, as one piece or as one piece for each argument."""
    words = layout.words
    if name == layout.bag:
        counts = value.items() if isinstance(value, Function) else ()
        column, _ = layout.owner((name,))
        for message, copies in counts:
            yield Part(column, words.value(message), "" if copies == 1 else f"{copies} copies")
        return
    pairs: list[tuple[Value, Value]] = []
    if isinstance(value, tuple):
        pairs = [*enumerate(value, start=1)]
    elif isinstance(value, Function) and not isinstance(value.get("type"), str):
        pairs = list(value.items())
    for argument, result in pairs:
        column, path = layout.owner((name, argument))
        yield _part(words, column, path, result)
    if not pairs:
        column, path = layout.owner((name,))
        yield _part(words, column, path, value)


def _part(words: Words, column: int, path: tuple[Value, ...], value: Value) -> Part:
    text = words.value(value)
    return Part(column, words.path(path), text, words.whole(value) if CUT in text else "")


def _acting(layout: Layout, step: Step, cells: list[list[Line]]) -> int | None:
    """Return the column of the node that acted, if the step shows it."""
    if step.action in layout.world:
        return None
    if step.event is not None and step.event.node is not None:
        column = layout.column_of_node(step.event.node)
        if column is not None:
            return column
    for parameter in step.parameters or ():
        column = layout.column_of_node(parameter)
        if column is not None:
            return column
        ends = layout.ends(parameter)
        if ends is not None:
            return ends[1]
    bag = None if layout.bag is None else layout.owner((layout.bag,))[0]
    changed = [index for index, lines in enumerate(cells) if lines and index != bag]
    return changed[0] if len(changed) == 1 else None


def _end(trace: Trace, layout: Layout) -> str:
    if trace.lasso is None:
        return ""
    if trace.stutters:
        return f"and stays in the state of step {trace.lasso} for ever"
    by = layout.words.text(trace.back) or "a step"
    return f"and back to the state of step {trace.lasso} by {by}, for ever"
