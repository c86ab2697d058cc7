"""A trace as one offline page: its steps in order, nodes as lanes, arrows for messages.

All text is in the document, so that it can be read, searched and printed without scripts. The
scripts draw the arrows and show the state after one step at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.report.explain.html_steps import name_of, page_steps, rest_of
from krafla.report.page import render
from krafla.traces import ClaimKind
from krafla.values import same

if TYPE_CHECKING:
    from krafla.report.explain.view import Part, StepView, TraceView

__all__ = ["page_of", "title_of"]

# The most steps on a page, which a browser opens at once; the last ones are kept.
STEPS_MAX = 20_000
# An initial state of more parts than this is folded.
_INITIAL_MAX = 8
# More parts of what is false are folded: a formula may have dozens of alternatives.
_REASONS_MAX = 3
# The pixels that a character of a node's name takes, and the most that all lanes may take.
_CHARACTER, _MARGIN = 7.5, 16
_WIDE_MAX, _NARROW_MAX = 400, 104
_LANES_MAX = 8

_Pieces = dict[tuple[int, str], tuple[str, str]]


def page_of(view: TraceView, path: str, *, steps_max: int = STEPS_MAX) -> str:
    """Return the page. Its fragment says which step and nodes it shows: ``#step=5&nodes=p1,p2``."""
    first = max(0, len(view.steps) - steps_max)
    slots: dict[tuple[int, str], int] = {}
    initial = _delta({}, _pieces(view.parts(first)), slots)
    deltas = [_changed(view, step, first, slots) for step in view.steps[first:]]
    lanes = _lanes(view)
    headline = "" if view.outcome is None else _sentence(view.outcome.headline)
    title = title_of(view)
    steps = page_steps(view, first)
    data = {
        "first": first,
        "columns": [one.name for one in view.columns],
        "lanes": lanes,
        "initial": initial,
        "deltas": deltas,
        "slots": [list(slot) for slot in slots],
        "flights": [
            [one.text, one.sent, one.taken, one.sender, one.receiver, one.is_lost]
            for one in view.flights
            if one.taken is None or one.taken >= first
        ],
        "meanings": dict(view.meanings),
        "actions": [step.action for step in steps],
        "names": [name_of(step) for step in view.steps[first:]],
        "counted": [step.counted for step in view.steps[first:]],
        "wrong": view.outcome.step if view.outcome is not None and view.outcome.is_bad else None,
    }
    return render(
        "trace.html",
        title=title,
        headline="" if headline == title else headline,
        view=view,
        steps=steps,
        data=data,
        outcome=view.outcome,
        wrong="" if view.outcome is None else name_of(view.steps[view.outcome.step]),
        rest_of=rest_of,
        lanes=lanes,
        arrows=_has_arrows(view),
        widths=_widths([view.columns[index].name for index in lanes]),
        names=max(len(one.name) for one in view.columns),
        command=f"krafla {view.judged_by} {path}",
        cut=f"{first:,} earlier steps are left out of this page." if first else "",
        initial_max=_INITIAL_MAX,
        reasons_max=_REASONS_MAX,
    )


def title_of(view: TraceView) -> str:
    """Return what went wrong in a sentence: the violated property in words, if it has any."""
    outcome = view.outcome
    if outcome is None:
        return view.title
    if not outcome.is_bad:
        return f"{view.title}: {outcome.headline}"
    if outcome.meaning and outcome.is_property:
        return f"Violated: {outcome.meaning}"
    claim = view.trace.claim
    if claim is not None and claim.kind is ClaimKind.DEADLOCK:
        return f"Deadlock: {outcome.headline}"
    return _sentence(outcome.headline)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lanes(view: TraceView) -> list[int]:
    """Return the columns that are drawn: not the network, whose messages are the arrows.

    Of many columns only those are drawn in which something happens.
    """
    bag = view.layout.bag
    network = None if bag is None else view.layout.of_variable.get(bag)
    owned = [name for name, one in view.layout.of_variable.items() if one == network]
    hidden = network if owned == [bag] and _has_arrows(view) else None
    lanes = [index for index in range(len(view.columns)) if index != hidden]
    if len(lanes) <= _LANES_MAX:
        return lanes
    busy: set[int | None] = {
        index for step in view.steps[1:] for index, lines in enumerate(step.cells) if lines
    }
    busy |= {step.node for step in view.steps}
    busy |= {one for flight in view.flights for one in (flight.sender, flight.receiver)}
    return [index for index in lanes if index in busy] or lanes[:1]


def _has_arrows(view: TraceView) -> bool:
    return any(None not in (one.sender, one.receiver) for one in view.flights)


def _widths(names: list[str]) -> dict[str, Any]:
    """Return the pixels of a lane on a wide and on a narrow screen; whether names fit across."""
    needed = round(max(map(len, names), default=1) * _CHARACTER) + _MARGIN
    count = max(1, len(names))
    fits = needed * count <= _WIDE_MAX
    wide = max(needed, 44) if fits else max(16, min(44, _WIDE_MAX // count))
    return {"wide": wide, "narrow": max(15, min(24, _NARROW_MAX // count)), "fits": fits}


def _changed(
    view: TraceView, step: StepView, first: int, slots: dict[tuple[int, str], int]
) -> list[list[Any]]:
    """Return the slots that a step of the page changed."""
    if step.number == first:
        return []
    before, after = (view.trace.steps[step.number - back].state for back in (1, 0))
    names = [
        str(name)
        for name, value in after.items()
        if name not in before or not same(before[name], value)
    ]
    was, now = (_pieces(view.parts(step.number - back, names)) for back in (1, 0))
    return _delta(was, now, slots)


def _pieces(parts: tuple[Part, ...]) -> _Pieces:
    return {(one.column, one.name): (one.text, rest_of(one.text, one.whole)) for one in parts}


def _delta(was: _Pieces, now: _Pieces, slots: dict[tuple[int, str], int]) -> list[list[Any]]:
    """Return the slots that differ as ``[slot, text, whole]``; the texts of a removed one as null.

    ``whole`` is left out if the text is not cut.
    """
    changed = [(slot, *texts) for slot, texts in now.items() if was.get(slot) != texts]
    told = [
        [slots.setdefault(slot, len(slots)), text, *([whole] if whole else [])]
        for slot, text, whole in changed
    ]
    gone = [[slots.setdefault(slot, len(slots)), None] for slot in was if slot not in now]
    return [*told, *gone]
