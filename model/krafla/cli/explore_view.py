"""A state graph on a terminal: counts, tables and histograms."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from krafla.cli.endless import Endless
    from krafla.cli.screen import LiveLine
    from krafla.graph import ActionUse, Components, DeadEnds, StateGraph
    from krafla.oracle import Exploration

__all__ = ["counted", "histogram", "reporter", "show_graph"]

_BAR_WIDTH = 40
_ROWS_MAX = 40
_SMALL = 16


def histogram(counts: dict[int, int]) -> list[str]:
    """Return one line for each number: the number, how often, and a bar in proportion.

    More rows than a screen holds become ranges: of one width where the numbers lie close, else
    each twice as wide as the one before.
    """
    rows = list(_rows(counts))
    if not rows:
        return []
    widest = max(count for _, count in rows)
    label_width = max(len(label) for label, _ in rows)
    lines = []
    for label, count in rows:
        # Not to be taken for none at all, the smallest count gets one mark.
        bar = "#" * max(round(_BAR_WIDTH * count / widest), 1 if count else 0)
        lines.append(f"{label:>{label_width}} {count:>11,}  {bar}".rstrip())
    return lines


def _rows(counts: dict[int, int]) -> Iterator[tuple[str, int]]:
    if not counts:
        return
    low, high = min(counts), max(counts)
    if high - low < _ROWS_MAX:
        yield from ((str(number), counts.get(number, 0)) for number in range(low, high + 1))
        return
    start = low
    while start <= high:
        width = 1 if start < _SMALL else start
        end = min(start + width - 1, high)
        total = sum(count for number, count in counts.items() if start <= number <= end)
        yield (str(start) if start == end else f"{start}-{end}"), total
        start = end + 1


def reporter(
    live: LiveLine, expected: int | None, before: str = "", endless: Endless | None = None
) -> Callable[[Exploration], None]:
    """Return a function that shows on the line of progress how far a search is, and the time left.

    The estimate is by states, of which ``expected`` are pinned. ``endless`` looks at a search that
    nothing bounds.
    """
    began = time.monotonic()

    def report(found: Exploration) -> None:
        seconds = max(time.monotonic() - began, 1e-3)
        text = f"{found.distinct:,} states, {found.edges:,} steps, depth {found.depth}"
        text += f", {found.edges / seconds:,.0f} steps/s"
        if expected is not None and found.expanded and expected > found.expanded:
            left = seconds * (expected - found.expanded) / found.expanded
            text += f", {100 * found.expanded // expected}%, about {left:,.0f} s left"
        if endless is not None:
            endless.look(found.distinct, found.depth)
        live.show(before + text)

    return report


def show_graph(
    console: Console,
    graph: StateGraph,
    uses: dict[str, ActionUse],
    parts: Components,
    ends: DeadEnds,
    progress: tuple[str, bytes] | None,
) -> None:
    """Print the facts about a graph as a whole.

    ``progress`` is the text of the predicate that a livelock never satisfies, and its source.
    """
    lines = [
        *_actions(uses),
        "",
        *_dead_ends(graph, ends),
        "",
        *_components(graph, parts, progress),
    ]
    lines += ["", "states by depth", *_indented(histogram(graph.depth_histogram()))]
    lines += ["", "states by the number of steps from them"]
    lines += _indented(histogram(graph.out_degrees()))
    lines += [
        "",
        "states by the number of steps to them",
        *_indented(histogram(graph.in_degrees())),
    ]
    for text in lines:
        screen.line(console, text)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {text}" for text in lines]


def _actions(uses: dict[str, ActionUse]) -> Iterator[str]:
    width = max([6, *(len(name) for name in uses)])
    yield f"{'action':<{width}} {'taken':>9} {'discovered':>10} {'loops':>9} {'out of bounds':>13}"
    for name, use in uses.items():
        yield (
            f"{name:<{width}} {use.taken:>9,} {use.discovered:>10,} {use.loops:>9,} {use.cut:>13,}"
        )


def _dead_ends(graph: StateGraph, ends: DeadEnds) -> Iterator[str]:
    yield "dead ends: states from which no step leads to another state"
    for states, what in (
        (ends.stepless, "without any step"),
        (ends.bounded, "that go on only out of the model's bounds"),
        (ends.looping, "with steps only to themselves"),
    ):
        nearest = ""
        if states:
            nearest = f"; the nearest is state {states[0]}, depth {graph.depths[states[0]]}"
        yield f"  {counted(len(states), 'state')} {what}{nearest}"


def _components(
    graph: StateGraph, parts: Components, progress: tuple[str, bytes] | None
) -> Iterator[str]:
    found = parts.found
    single = sum(part.size == 1 for part in found)
    largest = found[parts.largest]
    terminal = [part for part in found if part.is_terminal]
    bounded = sum(part.is_cut and not part.is_left for part in found)
    yield f"strongly connected components: {len(found):,}, {single:,} of them of one state"
    yield f"  the largest has {counted(largest.size, 'state')}, one is state {largest.first}"
    yield f"  {len(terminal):,} terminal: no step leaves them"
    yield f"  {bounded:,} left only out of the model's bounds"
    if progress is None:
        # Without a word of what progress is, a system that goes round in circles may be healthy.
        return
    livelocks = parts.livelocks(progress[1])
    yield (
        f"  {counted(len(livelocks), 'candidate')} for a livelock: terminal, a step can be taken, "
        f"and {progress[0]} holds nowhere"
    )
    for index in livelocks[:5]:
        part = found[index]
        depth = graph.depths[part.first]
        yield f"    {counted(part.size, 'state')} from state {part.first}, depth {depth}"
    if len(livelocks) > 5:
        yield f"    and {len(livelocks) - 5:,} more"
