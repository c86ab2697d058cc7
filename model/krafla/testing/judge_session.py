"""The session of ``krafla judge``: lines of requests in, a line of an answer out for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.manifest import meant
from krafla.match.seen import Seen, named_actions
from krafla.oracle.errors import ValueOutOfRange
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.judge_answers import data_of, violated
from krafla.testing.judge_lines import (
    PROTOCOL_VERSION,
    REQUESTS,
    EnabledAnswer,
    EnabledRequest,
    ErrorAnswer,
    Hello,
    RefuseRequest,
    SavedAnswer,
    SaveRequest,
    StartRequest,
    StatesAnswer,
    StatesRequest,
    StayRequest,
    StepRequest,
    Summary,
    VerdictAnswer,
)
from krafla.testing.origins import SESSION
from krafla.traces import Observation, Trace, write_trace
from krafla.traces.plain_log import parameters_of, seen_of
from krafla.traces.reader import convert, strict_json
from krafla.verdict import ExitCode, KraflaError, Verdict, worst_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from krafla.testing.judge import Judge
    from krafla.testing.judge_lines import VerdictWord
    from krafla.traces import PartialTrace
    from krafla.traces.partial import Part
    from krafla.values import Value

__all__ = ["JudgeSession", "unloaded"]

_JUDGES_MOST: Final = 1_000
_STATES_MOST: Final = 100
# What was not judged is not held.
_WORDS: Final[dict[ExitCode, VerdictWord]] = {
    ExitCode.HELD: "held",
    ExitCode.VIOLATED: "violated",
}
_FIELDS: Final = ("judge", "parameters", "seen")


@dataclass(slots=True)
class _Run:
    """A judge by its name, and what has ended its behaviour."""

    judge: Judge
    ended: VerdictAnswer | None = None
    shown: Trace | PartialTrace | None = None


class JudgeSession:
    """Several judges of one spec, and what they have found since the session began."""

    def __init__(self, judge: Judge) -> None:
        self._first = judge
        self._runs: dict[str, _Run] = {}
        self._actions = {one.name: one.parameters for one in named_actions(judge.spec)}
        self._answers: dict[type[msgspec.Struct], Callable[[Any], msgspec.Struct]] = {
            StartRequest: self._start,
            StepRequest: self._step,
            StayRequest: self._stay,
            RefuseRequest: self._refuse,
            EnabledRequest: self._enabled,
            StatesRequest: self._states,
            SaveRequest: self._save,
        }
        self._line = 0
        self._behaviours = 0
        self._steps = self._refusals = 0
        self._has_stepped = False
        self._errors = 0
        self._found = dict.fromkeys(Verdict, 0)

    def hello(self) -> bytes:
        """Return the first line of the session."""
        spec = self._first.spec
        hello = Hello(
            krafla_judge=PROTOCOL_VERSION,
            krafla=version("krafla"),
            spec=spec.name,
            variables=list(spec.variables),
            actions={name: list(parameters) for name, parameters in self._actions.items()},
            not_judged=list(self._first.not_judged),
            left_out=list(self._first.left_out),
        )
        return _encoded(hello)

    def answer(self, line: bytes) -> bytes | None:
        """Return the answer to one line; ``None`` to an empty one.

        A line that is no request is answered by its error; nothing is judged for it.
        """
        self._line += 1
        line = line.strip()
        if not line:
            return None
        try:
            request = self._request(line)
            return _encoded(self._answers[type(request)](request))
        except (KraflaError, ValueError, OSError) as error:
            return self._error(str(error))

    def too_long(self, most: int) -> bytes:
        """Return the answer to a line that has more bytes than ``most``."""
        self._line += 1
        return self._error(f"a line of more than {most:,} bytes")

    def summary(self) -> bytes:
        """Return the last line of the session."""
        status = self.status
        return _encoded(
            Summary(
                verdict=_WORDS.get(status, "inconclusive"),
                behaviours=self._behaviours,
                steps=self._steps,
                refusals=self._refusals,
                violations=self._found[Verdict.VIOLATED],
                doubts=self._found[Verdict.INCONCLUSIVE],
                errors=self._errors,
                exit_status=int(status),
            )
        )

    @property
    def status(self) -> ExitCode:
        """Return the exit status of all that was asked; of a session without a step 3."""
        found = dict(self._found)
        if not self._has_stepped:
            # A state that fits is no step, nor is a refusal: nothing was judged that was done.
            found[Verdict.HELD] = 0
        statuses = [one.exit_code for one, count in found.items() if count]
        if self._errors:
            statuses.append(ExitCode.COULD_NOT_RUN)
        return worst_status(statuses)

    def _error(self, text: str) -> bytes:
        self._errors += 1
        return _encoded(ErrorAnswer(error=text, line=self._line))

    def _request(self, line: bytes) -> msgspec.Struct:
        place = "the request"
        data = strict_json(line.decode("utf-8"), place)
        if not isinstance(data, dict):
            raise KraflaError(f"expected an object, found {type(data).__name__}", place)
        named = [name for name in data if name in REQUESTS]
        if len(named) == 1:
            return convert(data, REQUESTS[named[0]], place)
        if named:
            raise KraflaError(f"asks for {' and '.join(named)}: one a line", place)
        other = next((name for name in data if name not in _FIELDS), "")
        what = f"no request {other!r}" if other else "asks for nothing"
        raise KraflaError(f"{what}{meant(other, REQUESTS)}", place)

    def _run(self, name: str) -> _Run:
        found = self._runs.get(name)
        if found is None:
            which = f"judge {name!r}" if name else "the judge"
            raise KraflaError(f'{which} has no behaviour yet: begin with {{"start": {{}}}}')
        return found

    def _start(self, request: StartRequest) -> VerdictAnswer:
        seen = _keyed(seen_of(request.start.seen))
        if request.judge not in self._runs and len(self._runs) >= _JUDGES_MOST:
            raise KraflaError(
                f"more than {_JUDGES_MOST:,} judges: use the name of one that is done"
            )
        # A start that is wrong leaves the behaviour as it is.
        run = _Run(self._first.fresh())
        answer = self._judged(run, request.judge, lambda: run.judge.start(seen))
        self._runs[request.judge] = run
        self._behaviours += 1
        return answer

    def _step(self, request: StepRequest) -> VerdictAnswer:
        run = self._run(request.judge)
        parameters = self._parameters(request.step, request.parameters)
        seen = _keyed(seen_of(request.seen))
        if run.ended is not None:
            return self._over(run.ended)
        answer = self._judged(
            run, request.judge, lambda: run.judge.step(request.step, *parameters, seen=seen)
        )
        self._steps += 1
        return answer

    def _stay(self, request: StayRequest) -> VerdictAnswer:
        run = self._run(request.judge)
        seen = _keyed(seen_of(request.stay.seen))
        if run.ended is not None:
            return self._over(run.ended)
        return self._judged(run, request.judge, lambda: run.judge.stay(seen))

    def _refuse(self, request: RefuseRequest) -> VerdictAnswer:
        run = self._run(request.judge)
        parameters = self._parameters(request.refuse, request.parameters)
        seen = seen_of(request.seen)
        self._check_seen(seen)

        def refuse() -> None:
            run.judge.refuse(request.refuse, *parameters)
            if seen:
                run.judge.stay(_keyed(seen))

        if run.ended is not None:
            return self._over(run.ended)
        answer = self._judged(run, request.judge, refuse)
        self._refusals += 1
        return answer

    def _check_seen(self, seen: tuple[tuple[Part, Value], ...]) -> None:
        """Raise ``KraflaError`` if the spec cannot have it: before the refusal is judged."""
        spec, place = self._first.spec, "the request"
        try:
            for _, value in seen:
                spec.converter.to_java(value)
        except ValueOutOfRange as error:
            raise KraflaError(error.message, place) from None
        Seen(spec, Observation(None, None, seen), place)

    def _enabled(self, request: EnabledRequest) -> EnabledAnswer:
        run = self._run(request.judge)
        self._parameters(request.enabled, None)
        reason = ""
        try:
            found = () if run.ended is not None else run.judge.enabled(request.enabled)
        except Inconclusive as doubt:
            found, reason = (), str(doubt)
        rows = [[data_of(value) for value in row] for row in found]
        return EnabledAnswer(enabled=rows, line=self._line, judge=request.judge, reason=reason)

    def _states(self, request: StatesRequest) -> StatesAnswer:
        found = self._run(request.judge).judge.states
        rows = [
            {str(name): data_of(value) for name, value in state.as_function().items()}
            for state in found[:_STATES_MOST]
        ]
        return StatesAnswer(
            states=rows, candidates=len(found), line=self._line, judge=request.judge
        )

    def _save(self, request: SaveRequest) -> SavedAnswer:
        run = self._run(request.judge)
        trace = run.shown or run.judge.trace
        if isinstance(trace, Trace) and trace.origin is not None:
            trace = replace(trace, origin=replace(trace.origin, made_by=SESSION))
        write_trace(trace, Path(request.save))
        steps = max(0, len(trace) - 1) if isinstance(trace, Trace) else trace.steps
        return SavedAnswer(saved=request.save, steps=steps, line=self._line, judge=request.judge)

    def _parameters(self, action: str | None, given: Sequence[Any] | None) -> tuple[Any, ...]:
        """Return the parameters for a judge, each ``...`` if it is unknown.

        ``KraflaError`` if the spec lacks the action.
        """
        if action is not None and action not in self._actions:
            raise KraflaError(
                f"{self._first.spec.name} has no action {action!r}{meant(action, self._actions)}"
            )
        if given is None:
            return (...,) * len(self._actions.get(action or "", ()))
        found = parameters_of(given)
        assert found is not None, "there are parameters"
        return tuple(... if one is None else one for one in found)

    def _judged(self, run: _Run, name: str, ask: Callable[[], None]) -> VerdictAnswer:
        """Return the verdict on what is asked of a judge; one that is bad ends its behaviour."""
        try:
            ask()
        except SpecViolation as found:
            run.shown = found.trace
            run.ended = violated(found, len(run.judge.states), self._line, name)
            self._found[Verdict.VIOLATED] += 1
            return run.ended
        except Inconclusive as doubt:
            run.ended = VerdictAnswer(
                verdict="inconclusive", candidates=0, line=self._line, judge=name, reason=str(doubt)
            )
            self._found[Verdict.INCONCLUSIVE] += 1
            return run.ended
        self._found[Verdict.HELD] += 1
        # A stay may show that a hidden step was taken.
        self._has_stepped = self._has_stepped or run.judge.has_stepped
        return VerdictAnswer(
            verdict="held", candidates=len(run.judge.states), line=self._line, judge=name
        )

    def _over(self, ended: VerdictAnswer) -> VerdictAnswer:
        """Return the answer to a step after the end of a behaviour: that which ended it, again.

        Of the threads of a program, any may read it first.
        """
        reason = f"ended in line {ended.line}: {ended.reason}"
        return msgspec.structs.replace(ended, candidates=0, line=self._line, reason=reason)


def unloaded(text: str) -> bytes:
    """Return the only line of a session whose spec does not load."""
    return _encoded(ErrorAnswer(error=text, line=0))


def _keyed(seen: Iterable[tuple[Part, Value]]) -> dict[Any, Any]:
    """Return what was seen as a judge takes it: a variable that was seen whole is a plain key."""
    return {path[0] if len(path) == 1 else path: value for path, value in seen}


def _encoded(answer: msgspec.Struct) -> bytes:
    return msgspec.json.encode(answer) + b"\n"
