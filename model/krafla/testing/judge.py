"""The online judge: it follows a spec step by step, over every state that fits what was seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from krafla.counted import counted
from krafla.match.stay import check_given
from krafla.oracle.errors import EvaluationError
from krafla.testing.errors import Inconclusive, TooFewFollowed
from krafla.testing.frames import without_own_frames
from krafla.testing.frontier import Frontier
from krafla.testing.grounds import Grounds
from krafla.testing.judge_options import JudgeOptions
from krafla.testing.violation import JudgedRun, history, not_beginning, refused, stuck
from krafla.traces.trace import INITIAL
from krafla.values import ModelValue, distinct, fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State
    from krafla.testing.frontier import Reach
    from krafla.traces import Called, Observation, PartialTrace, Trace
    from krafla.traces.partial import ObservedKind
    from krafla.values import Value

__all__ = ["Judge"]

Answer = TypeVar("Answer")


class Judge:
    """Follows a spec while code runs: keeps the candidates, the states in which the spec can be.

    Variables that were not seen are the spec's to choose. Steps of the actions ``hidden``
    (``None``: of any) may come between two judged steps. A step that breaks one of ``invariants``
    or ``properties`` is not followed, hidden or not; both default to those of the cfg. At most
    ``hidden_max`` hidden steps in a row and ``frontier`` candidates are followed, and a question to
    the spec may take ``limit_s`` seconds; beyond these the answer is ``Inconclusive``.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        hidden: Sequence[str] | None = JudgeOptions.hidden,
        hidden_max: int = JudgeOptions.hidden_max,
        invariants: Sequence[str] | None = JudgeOptions.invariants,
        properties: Sequence[str] | None = JudgeOptions.properties,
        frontier: int = JudgeOptions.frontier,
        limit_s: float = JudgeOptions.limit_s,
    ) -> None:
        # Refuses what makes no sense.
        JudgeOptions(hidden, hidden_max, invariants, properties, frontier, limit_s)
        self.spec = spec
        self._grounds = Grounds(spec, hidden, invariants, properties, limit_s)
        self._bounds = (hidden_max, frontier)
        self._forget()

    def fresh(self) -> Judge:
        """Return a judge like this one for another run of the code, in no time."""
        found = object.__new__(Judge)
        found.spec, found._grounds = self.spec, self._grounds
        found._bounds = self._bounds
        found._forget()
        return found

    def _forget(self) -> None:
        self._frontier = Frontier(self._grounds, *self._bounds)
        self._observations: list[Observation] = []
        self._steps = self._refusals = 0
        # Whether anything after the beginning named an action, or showed something.
        self._has_shown = False
        # What is enabled, and with which candidates it is.
        self._enabled: tuple[Any, dict[str, tuple[tuple[Value, ...], ...]]] = (None, {})

    @property
    def hidden(self) -> tuple[str, ...]:
        """Return the actions whose steps may be hidden."""
        return self._grounds.hidden

    @property
    def not_judged(self) -> tuple[str, ...]:
        """Return the properties of which a part, or all, speaks of whole behaviours only."""
        return self._grounds.not_judged

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return what the cfg beside the module lists and nothing judges, as others were given."""
        return self._grounds.left_out

    @property
    def states(self) -> tuple[State, ...]:
        """Return every state in which the spec can be."""
        return tuple(one.state for one in self._frontier.candidates)

    @property
    def steps(self) -> int:
        """Return how many steps were judged."""
        return self._steps

    @property
    def refusals(self) -> int:
        """Return how many refusals were judged."""
        return self._refusals

    @property
    def has_stepped(self) -> bool:
        """Return whether a step was judged, or a hidden one must have been taken.

        Steps without an action are none as long as nothing is seen: any would do.
        """
        found = self._frontier.candidates
        return self._has_shown and bool(found) and all(one.parent is not None for one in found)

    @property
    def trace(self) -> Trace | PartialTrace:
        """Return what was judged: a whole trace if every step is known, else observations.

        These say where the code took no step, too, and what it refused. So does a run in which the
        code was asked for something and took no step: that cannot be told by steps alone.
        """
        return history(self._grounds, self._run())

    def start(self, seen: Mapping[Any, Any] | None = None) -> None:
        """Begin a run of the code, whose state was ``seen``, in whole or in part.

        ``seen`` gives values of variables; a key may also be a path to a part: ``("queue", 1)`` for
        ``queue[1]``, its first element. ``SpecViolation`` if no initial state fits.
        """
        __tracebackhide__ = True
        self._forget()
        observation = self._read(INITIAL, None, seen, "the beginning")

        def begin() -> None:
            __tracebackhide__ = True
            observed = self._grounds.seen(observation)
            states = self._grounds.initial_states(observed)
            if not self._frontier.begin(filter(observed.fits, states)):
                raise not_beginning(self._grounds, observed, self._frontier.broken)

        self._ask(begin, observation)
        self._observations.append(observation)

    def step(
        self,
        action: str | None,
        *parameters: Any,
        seen: Mapping[Any, Any] | None = None,
        call: Called = None,
    ) -> None:
        """Judge a step of the code, and what was seen after it.

        A parameter may be ``...`` (unknown), the action ``None`` (any). ``call`` is only kept: what
        the code was called for, if the action does not tell. ``SpecViolation`` if no candidate has
        such a step that keeps the properties, ``Inconclusive`` if that is not sure. ``KraflaError``
        if the spec has no such action or variable, or a value is none of TLA+.
        """
        __tracebackhide__ = True
        given = None if action is None else parameters
        observation = self._observed(action, given, seen, call)
        number = len(self._observations)

        def take() -> None:
            __tracebackhide__ = True
            if self._frontier.follow(observation, number):
                return
            observed = self._grounds.seen(observation)
            reach = self._frontier.advance(observed, number)
            if reach is not None:
                self._doubt(observation, reach)
                raise stuck(self._grounds, self._run(), observed, self._frontier)

        if not self._frontier.follow_known(observation, number):
            self._ask(take, observation)
        self._observations.append(observation)
        self._has_shown = self._has_shown or action is not None or bool(observation.seen)
        self._steps += 1

    def stay(self, seen: Mapping[Any, Any] | None = None, *, call: Called = None) -> None:
        """Judge that the code took no step, or hidden ones at most, by what was seen after it.

        ``call`` is only kept: what the code was called for.
        """
        __tracebackhide__ = True
        self._begin()
        observation = self._read(None, None, seen, self._place_of_stay, "stay", call)
        is_kept = bool(observation.seen) or call is not None
        number = len(self._observations) if is_kept else None

        def look() -> None:
            __tracebackhide__ = True
            observed = self._grounds.seen(observation)
            reach = self._frontier.keep(lambda one: observed.fits(one.state), observed, number)
            if reach is not None:
                self._doubt(observation, reach)
                raise stuck(self._grounds, self._run(), observed, self._frontier)

        if not self._frontier.is_at(observation):
            self._ask(look, observation)
        self._has_shown = self._has_shown or bool(observation.seen)
        if is_kept:
            self._observations.append(observation)

    def refuse(self, action: str, *parameters: Any, call: Called = None) -> None:
        """Judge that the code refused an action: ``SpecViolation`` if every candidate allows it.

        ``call`` is as for a step. ``KraflaError`` if Next never gives the action such a parameter:
        a misspelt name judges nothing.
        """
        __tracebackhide__ = True
        self._begin()
        observation = self._read(action, parameters, None, self._place_of_stay, "refusal", call)
        known, sole = self._grounds.known, self._frontier.sole
        if sole is not None and known.has_refusal(sole, observation):
            self._note_refusal(observation)
            return
        observed = self._named(observation)

        def ask() -> None:
            __tracebackhide__ = True
            grounds = self._grounds
            reach = self._frontier.keep(
                lambda one: next(grounds.claimed(one.state, observed), None) is None,
                None, len(self._observations),
            )  # fmt: skip
            if reach is not None:
                self._doubt(observation, reach)
                raise refused(grounds, self._run(), observed, reach)

        self._ask(ask, observation)
        if sole is not None:
            known.add_refusal(sole, observation)
        self._note_refusal(observation)

    def _note_refusal(self, observation: Observation) -> None:
        self._observations.append(observation)
        self._refusals += 1

    def allows(self, action: str, *parameters: Any) -> bool:
        """Return whether some candidate allows an action; a parameter may be ``...`` (unknown).

        ``Inconclusive`` if none does, and candidates were left out.
        """
        __tracebackhide__ = True
        observation = self._observed(action, parameters, None)

        def ask() -> bool:
            __tracebackhide__ = True
            observed, reach = self._grounds.seen(observation), self._frontier.reach()
            if any(
                next(self._grounds.claimed(one.state, observed), None) is not None for one in reach
            ):
                return True
            self._doubt(observation, reach, "allows it")
            return False

        return self._ask(ask, observation)

    def enabled(self, action: str) -> tuple[tuple[Value, ...], ...]:
        """Return the parameters with which some candidate allows an action, in the spec's order.

        ``Inconclusive`` if there are none, and candidates were left out.
        """
        __tracebackhide__ = True
        observation = self._observed(action, None, None)

        def ask() -> tuple[tuple[Value, ...], ...]:
            __tracebackhide__ = True
            observed, reach = self._grounds.seen(observation), self._frontier.reach()
            found = distinct(
                parameters
                for one in reach
                for _, parameters, _ in self._grounds.claimed(one.state, observed)
            )
            if not found:
                self._doubt(observation, reach, "allows it")
            return found

        candidates, known = self._enabled
        if candidates is not self._frontier.candidates:
            known = {}
            self._enabled = self._frontier.candidates, known
        if action not in known:
            sole, answers = self._frontier.sole, self._grounds.known
            found = None if sole is None else answers.enabled(sole, action)
            if found is None:
                found = self._ask(ask, observation)
                if sole is not None:
                    answers.add_enabled(sole, action, found)
            elif not found:
                self._doubt(observation, self._frontier.reach(), "allows it")
            known[action] = found
        return known[action]

    def _begin(self) -> None:
        __tracebackhide__ = True
        if not self._observations:
            self.start()

    def _observed(
        self,
        action: str | None,
        parameters: Sequence[Any] | None,
        seen: Mapping[Any, Any] | None,
        call: Called = None,
    ) -> Observation:
        __tracebackhide__ = True
        self._begin()
        return self._read(action, parameters, seen, f"step {self.steps + 1}", "step", call)

    @property
    def _place_of_stay(self) -> str:
        return f"after step {self.steps}" if self.steps else "after the beginning"

    def _read(
        self,
        action: str | None,
        parameters: Sequence[Any] | None,
        seen: Mapping[Any, Any] | None,
        place: str,
        kind: ObservedKind = "step",
        call: Called = None,
    ) -> Observation:
        __tracebackhide__ = True
        try:
            return self._grounds.observation(action, parameters, seen, place, kind, call)
        except KraflaError as error:
            raise without_own_frames(error)  # noqa: B904 - the same error

    def _ask(self, question: Callable[[], Answer], observation: Observation) -> Answer:
        __tracebackhide__ = True
        named = partial(_named, observation)
        try:
            return self._grounds.ask(question, named)
        except KraflaError as error:
            if isinstance(error, EvaluationError) and error.place is None:
                error.place = observation.place
            raise without_own_frames(error)  # noqa: B904 - the same error

    def _named(self, observation: Observation) -> Seen:
        """Return an observation, ready to be compared, whose parameters Next can give.

        ``KraflaError`` if it gives one of them never: nothing can allow the action then.
        """
        # Says what is wrong with the action or the number of parameters.
        seen = self._grounds.seen(observation)
        models_now = partial(self._models_now, observation.action or "")
        check_given(self._grounds.moves, seen, models_now)
        return seen

    def _models_now(self, action: str, at: int) -> tuple[Value, ...] | None:
        """Return the values that a parameter can have now; ``None`` if one is no model value."""
        try:
            found = distinct(one[at] for one in self.enabled(action))
        except (EvaluationError, Inconclusive):
            # The parameters are without number: the search with those given tells.
            return None
        return found if all(isinstance(one, ModelValue) for one in found) else None

    def _run(self) -> JudgedRun:
        frontier = self._frontier
        # Where the trace is a test the code is called again for what its actions do not tell.
        has_calls = any(one.call is not None for one in self._observations)
        return JudgedRun(
            frontier.candidates,
            tuple(self._observations),
            frontier.is_known and not has_calls,
            self._bounds[0],
        )

    def _doubt(self, observation: Observation, reach: Reach, verb: str = "fits") -> None:
        """Raise ``Inconclusive`` if candidates were left out: one of them might have fitted."""
        hidden_max, most = self._bounds
        if self._frontier.is_cut or reach.is_cut:
            raise TooFewFollowed(
                f"{_named(observation)}: none of the first {most:,} states {verb}, and there are "
                "more: show the judge more of the state, or give it a larger frontier"
            )
        if self._frontier.is_bounded or reach.is_bounded:
            raise TooFewFollowed(
                f"{_named(observation)}: no state within {counted(hidden_max, 'hidden step')} in a "
                f"row {verb}, and more lead to other states: show the judge more of the state, "
                "bound the hidden actions in the spec, or give it a larger hidden_max"
            )


def _named(observation: Observation) -> str:
    """Return the place of an observation, and what was observed there."""
    what = observation.action or ("a step" if observation.kind == "step" else "no step")
    if observation.parameters:
        shown = ("..." if one is None else fmt(one) for one in observation.parameters)
        what = f"{what}({', '.join(shown)})"
    return f"{observation.place}, {what}"
