"""A failure as every command tells it: what is violated, why, the steps to it, how to go on."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.report.explain.terminal import LEGEND, outcome_lines, step_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.report.explain.outcome import Outcome
    from krafla.report.explain.terminal import Styled
    from krafla.report.explain.view import StepView, TraceView

__all__ = ["Account", "Command", "Section", "account_lines", "command_lines"]

STEPS_SHOWN = 25
"""The most steps of a trace that a terminal shows unless all are asked for."""
_ALIGNED_MAX = 60
_WIDTH_MIN = 40


@dataclass(frozen=True, slots=True)
class Command:
    """A command for the shell to go on with, and what it does."""

    line: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of the way to a failure that is no trace: its title, and lines of text."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """A failure: its outcome, then its steps, then the commands to go on with.

    ``view`` has the steps of a trace; where there is no trace, ``sections`` tell what is known.
    """

    outcome: Outcome | None
    view: TraceView | None = None
    sections: tuple[Section, ...] = ()
    commands: tuple[Command, ...] = ()


def account_lines(account: Account, width: int) -> Iterator[Styled]:
    """Yield the lines of an account in its order: sentence, conjunct, steps, commands."""
    if account.outcome is not None:
        yield from outcome_lines(account.outcome, width)
    if account.view is not None:
        yield from _trace_lines(account.view, width)
    for section in account.sections:
        yield "", ""
        yield f"  {section.title}", "bold"
        for line in section.lines:
            yield from ((piece, "") for piece in _wrapped(line, width))
    yield from command_lines(account.commands)


def _trace_lines(view: TraceView, width: int) -> Iterator[Styled]:
    """Yield the last steps up to the failure, with a title that says what their signs mean."""
    last = len(view.steps) - 1 if view.outcome is None else view.outcome.step
    first = max(0, last - STEPS_SHOWN + 1)
    which = _which(view.steps[1 : last + 1], view.steps[max(1, first) : last + 1])
    yield "", ""
    yield f"  {which} ({LEGEND})" if last else f"  {which}", "bold"
    yield from step_lines(view, width, steps=range(first, last + 1))


def _wrapped(line: str, width: int) -> list[str]:
    """Return the lines that a long one takes, without a break inside a name."""
    return textwrap.wrap(
        line, max(_WIDTH_MIN, width), initial_indent="    ", subsequent_indent=" " * 10,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _which(steps: Sequence[StepView], shown: Sequence[StepView]) -> str:
    """Return which steps are shown: without those that no observation shows, and how many."""
    counted, count = (sum(one.note.is_counted for one in some) for some in (shown, steps))
    # The last is what fits no step, if it is none itself.
    others = [one.note.is_step for one in shown[:-1] if not one.note.is_counted]
    hidden, between = others.count(True), False in others
    told = _steps(count)
    if len(shown) < len(steps):
        told = f"the last {counted} of {count} steps"
    more = [f"{hidden} that no observation shows"] if hidden else []
    more += ["what was observed without a step"] if between else []
    return f"{', '.join([told, *more[:-1]])}, and {more[-1]}" if more else told


def _steps(number: int) -> str:
    if number < 2:
        return "the one step that leads there" if number else "the initial state"
    return f"the {number} steps that lead there"


def command_lines(commands: tuple[Command, ...]) -> Iterator[Styled]:
    """Yield the commands to go on with, each with what it does; nothing for none."""
    if not commands:
        return
    yield "", ""
    yield "  go on with", "bold"
    width = min(_ALIGNED_MAX, max(len(one.line) for one in commands))
    for one in commands:
        # As a comment of the shell, so that the whole line can be pasted.
        yield f"    {one.line:{width}}   # {one.purpose}", ""
