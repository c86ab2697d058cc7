"""The models of one ``krafla check``, asked several at a time: progress, answers, what is saved."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.cli import check_view, screen
from krafla.cli.endless import Endless
from krafla.pins import write_pins
from krafla.project.pinned import pin_numbers
from krafla.tlc.inputs import inputs_of, statements_of
from krafla.tlc.judge import judge, misfits, unpinned
from krafla.tlc.measured_coverage import find_coverage, keep_coverage
from krafla.tlc.model_check import Check, check_model
from krafla.tlc.pace import Pace
from krafla.tlc.side_by_side import side_by_side
from krafla.tlc.warm_java import warm_javas
from krafla.traces import write_trace
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.cli.check_view import Answer
    from krafla.manifest import Model
    from krafla.pins import Pin
    from krafla.tlc.command import Simulation
    from krafla.tlc.kept import KeptChecks
    from krafla.tlc.output import Progress
    from krafla.tlc.trial import Trial

__all__ = ["Request", "answers_of"]


@dataclass(frozen=True, slots=True)
class Request:
    """How models are checked, and what is done with each answer.

    ``threads`` is of each model, ``None`` where the manifest decides. With a ``trial``, the models
    are asked what it says. ``measures``: TLC counts how often each action is taken, also where that
    is kept. ``pins``: what was found is written where the manifest pins another number, and the
    coverage is kept. The counterexample goes to the file ``trace``.
    """

    at_once: int
    threads: int | None = None
    heap_mb: int | None = None
    timeout: float | None = None
    simulation: Simulation | None = None
    kept: KeptChecks | None = None
    trial: Trial | None = None
    measures: bool = False
    pins: bool = False
    coverage: bool = False
    trace: str | None = None
    is_silent: bool = False


def answers_of(request: Request, models: Sequence[Model]) -> tuple[list[Answer], list[Pin | str]]:
    """Return the answer for each model, shown unless the request is silent, and what was pinned."""
    answers: list[Answer] = []
    pinned: list[Pin | str] = []
    made = nullcontext(None) if request.trial is None else request.trial.folder()
    # A single model is done before a warm JVM would be.
    javas = warm_javas() if len(models) > 1 else nullcontext()
    with made as folder, javas, screen.LiveLine() as live:
        asking = _Asking(live, request, folder)
        for found in side_by_side(asking.tasks(models), request.at_once):
            answer, pins = _repinned(found) if request.pins else (found, ())
            with asking.quiet():
                # The reader of the output may leave before its end.
                try:
                    saved = _saved(answer, request.trace)
                finally:
                    if not request.is_silent:
                        _show(request, answer, pins, answers, asked_for=len(models) == 1)
                if saved:
                    screen.line(screen.stderr(), saved)
            answers.append(answer)
            pinned += pins
    return answers, pinned


def _show(
    request: Request,
    answer: Answer,
    pins: Sequence[Pin | str],
    before: Sequence[Answer],
    *,
    asked_for: bool,
) -> None:
    console = screen.stdout()
    if before:
        screen.line(console, "")
    check_view.show(
        console, answer, coverage=request.coverage, asked_for=asked_for, kept=request.trace
    )
    for pin in pins:
        screen.line(console, f"    pinned: {pin}")
    if request.pins and isinstance(answer, Check) and answer.verdict is not Verdict.HELD:
        screen.line(console, "    not pinned: a number is written only if all else held")


def _repinned(answer: Answer) -> tuple[Answer, tuple[Pin | str, ...]]:
    """Write the numbers that were found, if all else held; return the answer under them, and where.

    ``KraflaError`` if they cannot be written.
    """
    if not isinstance(answer, Check):
        return answer, ()
    if not answer.is_kept and answer.statements != statements_of(answer.model):
        said = "its files were changed while it was searched: nothing is pinned"
        return KraflaError(said, answer.model.name), ()
    pins = misfits(answer.model, answer.result)
    found: dict[str, Any] = {pin.field: pin.found for pin in pins}
    model = replace(answer.model, **found)
    judgement = judge(model, answer.result)
    if judgement.verdict is not Verdict.HELD:
        return answer, ()
    write_pins(pins)
    told: tuple[Pin | str, ...] = pins
    if not model.listing.needs_pins:
        numbers: dict[str, Any] = unpinned(model, answer.result)
        told += pin_numbers(model, numbers) if numbers else ()
        model = replace(model, **numbers)
    elif answer.is_measured:
        kept = find_coverage(model)
        # Which step finds a state first is chance, and so are some counts: those kept are as good.
        if kept is None or kept.doubt(answer.result) is not None:
            keep_coverage([(model, answer.result)])
    return replace(answer, model=model, judgement=judgement), told


class _Asking:
    """How every model of a run is asked about, and the line that tells how far they are."""

    def __init__(self, live: screen.LiveLine, request: Request, folder: Path | None) -> None:
        self._live = live
        self._request = request
        self._folder = folder
        self._one_at_a_time = threading.Lock()

    def tasks(self, models: Sequence[Model]) -> list[Callable[[], Answer]]:
        """Return the task for each model, in their order."""
        count = len(models)
        prefixes = [f"[{n}/{count}] " if count > 1 else "" for n in range(1, count + 1)]
        return [partial(self._answer, *pair) for pair in zip(models, prefixes, strict=True)]

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep the line of progress away from the output inside."""
        with self._one_at_a_time:
            self._live.erase()
            yield

    def _show(self, text: str) -> None:
        with self._one_at_a_time:
            self._live.show(text)

    def _remark(self, text: str) -> None:
        with self.quiet():
            screen.line(screen.stderr(), text)

    def _answer(self, model: Model, prefix: str) -> Answer:
        """Return the check of a model, or why it could not be checked."""
        request = self._request
        kept = request.kept
        try:
            earlier = kept.find(model, measured=request.measures) if kept is not None else None
            if earlier is not None:
                return earlier
            inputs = inputs_of(model) if kept is not None else ""
            self._show(f"{prefix}{model.name}: starting TLC")
            check = self._checked(model, f"{prefix}{model.name}: ")
        except KraflaError as error:
            return error
        if kept is not None:
            self._keep(kept, check, inputs)
        return check

    def _checked(self, model: Model, prefix: str) -> Check:
        request = self._request
        check = partial(check_model, measure=request.measures)
        if request.trial is not None:
            assert self._folder is not None, "a trial has a folder"
            check = partial(request.trial.check, self._folder)
        return check(
            model,
            workers=request.threads,
            progress=_reporter(self._show, model, prefix, self._remark),
            timeout=request.timeout,
            simulation=request.simulation,
            heap_mb=request.heap_mb,
        )

    def _keep(self, kept: KeptChecks, check: Check, inputs: str) -> None:
        """Keep a check for a later run; what cannot be kept has been answered all the same."""
        try:
            kept.add(check, inputs)
        except KraflaError as error:
            self._remark(f"krafla: {check.model.name} is not kept: {error}")


def _reporter(
    show: Callable[[str], None], model: Model, prefix: str, remark: Callable[[str], None]
) -> Callable[[Progress], None]:
    # A model that must fail stops on the way, at an unknown place.
    pace = Pace(model.distinct if model.expect == "holds" else None)
    started = time.monotonic()
    endless = Endless(model.name, remark) if model.distinct is None else None

    def report(progress: Progress) -> None:
        if endless is not None:
            endless.look(progress.distinct, progress.depth)
        show(prefix + _told(pace, model, time.monotonic() - started, progress))

    return report


def _told(pace: Pace, model: Model, seconds: float, progress: Progress) -> str:
    if progress.distinct < 0:
        # A simulation counts nothing but the states it came by.
        return f"{progress.generated or 0:,} states in random behaviours"
    speed = pace.add(seconds, progress)
    if speed.share is None:
        text = f"{progress.distinct:,} states, {progress.queue:,} queued, depth {progress.depth}"
    else:
        text = f"{int(100 * speed.share)}% of {model.distinct:,} states, depth {progress.depth}"
    if progress.is_temporal:
        return f"{text}, checking temporal properties"
    if speed.states_per_second is not None:
        text += f", {speed.states_per_second:,.0f}/s"
    if speed.seconds_left is not None:
        if_so = "" if speed.share is not None else " if the queue keeps shrinking like this"
        text += f", about {_duration(speed.seconds_left)} left{if_so}"
    return text


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _saved(answer: Answer, name: str | None) -> str:
    """Write the counterexample of an answer, if there is one; return what to say of its file."""
    if name is None or not isinstance(answer, Check):
        return ""
    if answer.result.counterexample is None:
        return f"no counterexample, so {name} was not written"
    from krafla.match.counterexample import replayable

    write_trace(replayable(answer.result.counterexample, answer.model), Path(name))
    return f"saved: {name}"
