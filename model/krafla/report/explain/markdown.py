"""A trace as Markdown for an issue: what it shows, and the commands that show it again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.view import StepView, TraceView

__all__ = ["block", "code", "markdown_of", "plain"]

# The characters to which Markdown, or HTML inside it, could give a meaning.
_SPECIAL = re.compile(r"[\\`*_{}\[\]#|<>&~@$]|:(?=//)")
_STEPS_MAX = 500


def markdown_of(view: TraceView, path: str) -> str:
    """Return a document about the trace: heading, outcome, table of steps, command to see it.

    Names and texts of the trace have no effect as markup. A very long trace is cut to its last
    steps, with a note.
    """
    lines = [f"## {plain(_title(view))}", ""]
    lines += [f"- {name}: {code(value)}" for name, value in view.facts]
    lines += [
        f"- {code(column.name)}: {code(column.stands_for)}"
        for column in view.columns
        if column.stands_for
    ]
    if view.outcome is not None:
        lines += ["", *_outcome(view.outcome)]
    lines += ["", *_steps(view)]
    lines += [
        "",
        "Reproduce:",
        "",
        *block(f"krafla {view.judged_by} {path}\nkrafla explain {path}"),
    ]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Return the text escaped, so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\g<0>", text.replace("\n", " "))


def code(text: str) -> str:
    """Return the text as inline code."""
    text = text.replace("\n", " ") or " "
    border = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{border}{pad}{text}{pad}{border}"


def _cell(text: str) -> str:
    """Return the text as code for a table cell, which an unescaped bar would end."""
    return code(text).replace("|", "\\|")


def block(text: str) -> list[str]:
    """Return the lines of a code block with a text, whatever backquotes that has."""
    border = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return [border, *text.splitlines(), border]


def _title(view: TraceView) -> str:
    if view.outcome is None or not view.outcome.is_bad:
        return f"{view.title}: a trace"
    return f"{view.title}: {view.outcome.name or view.outcome.headline}"


def _outcome(outcome: Outcome) -> Iterator[str]:
    first, second = outcome.sentences
    yield f"**{plain(first)}**"
    if second:
        yield f"\n{plain(second)}"
    for falsehood in outcome.falsehoods:
        text = "\n".join(falsehood.via)
        text += f"\n{falsehood.place}:\n{falsehood.text}"
        text += f"\n    {falsehood.note}" if falsehood.note else ""
        for name, _, whole in falsehood.values:
            text += f"\n    {name} = {whole}"
        yield ""
        yield from block(text.strip("\n"))
    if outcome.differences:
        yield f"\n| part | {' | '.join(outcome.sides)} |\n|---|---|---|"
        for row in outcome.differences:
            yield f"| {' | '.join(map(_cell, row))} |"
    for name, meaning in outcome.breaks:
        yield f"\nThe state breaks {code(name)}{f': {plain(meaning)}' if meaning else ''}"
    if outcome.nearest:
        yield f"\n{plain(outcome.nearest)}"
    yield f"\nSaid by: {plain(outcome.source)}"


def _steps(view: TraceView) -> Iterator[str]:
    steps = view.steps[1:]
    if len(steps) > _STEPS_MAX:
        yield f"The last {_STEPS_MAX} of {len(steps)} steps:\n"
        steps = steps[-_STEPS_MAX:]
    used = [i for i in range(len(view.columns)) if any(step.cells[i] for step in steps)]
    names = [plain(view.columns[index].name) for index in used]
    yield f"| step | action | {' | '.join(names)} |"
    yield "|--:|---" + "|---" * len(used) + "|"
    for step in steps:
        cells = ["<br>".join(_cell(line.text) for line in step.cells[index]) for index in used]
        call = ", ".join(one for one in (_cell(step.call), plain(step.note.remark)) if one)
        yield f"| {_number(view, step)} | {call} | {' | '.join(cells)} |"
    if view.end:
        yield f"\n{plain(view.end)}"


def _number(view: TraceView, step: StepView) -> str:
    outcome = view.outcome
    is_wrong = outcome is not None and outcome.is_bad and outcome.step == step.number
    return f"**{step.label}**" if is_wrong else step.label
