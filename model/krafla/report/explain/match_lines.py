"""What a story of a partial trace tells in order: steps, and what came between them without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.match.stay import refused_before
from krafla.report.explain.view import StepNote
from krafla.traces import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.match.report import MatchReport, Taken
    from krafla.report.explain.words import Words
    from krafla.traces import Observation
    from krafla.values import Function, Value

__all__ = ["NO_STEP", "MatchLine", "known_parameters", "match_lines", "refused_at_end"]

NO_STEP: Final = "no step"
"""What stands in place of an action where the code took none."""
# Of more observations without a step in a row the first are only counted.
_IN_A_ROW_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class MatchLine:
    """A line of the story, and the observation that it tells; ``None`` if there is no single one.

    A line that ``is_step`` is one of the behaviour, hidden if there is no observation of it.
    """

    step: Step
    observation: Observation | None
    is_step: bool = True

    def note(self, words: Words) -> StepNote:
        """Return what is to be said of it besides its action."""
        by = "" if self.observation is None else _by_call(self.observation, words)
        if self.is_step:
            is_seen = self.observation is not None
            return StepNote(by) if is_seen else StepNote("hidden", is_counted=False)
        if self.observation is not None and self.observation.kind == "refusal":
            by = f"refused {by}".rstrip()
        return StepNote(by, is_counted=False, nothing="", is_step=False)


def match_lines(report: MatchReport, behaviour: Sequence[Taken]) -> tuple[MatchLine, ...]:
    """Return the steps of a behaviour from its initial state on, and what came between them.

    A refusal is left out if the state that was seen then does not fit: the end tells both.
    """
    found: list[MatchLine] = []
    told_last = refused_at_end(report)
    for one, between in zip(behaviour, _between(report, behaviour), strict=True):
        state = one.state.as_function()
        observations = report.trace.observations
        seen = None if one.observation is None else observations[one.observation]
        found.append(MatchLine(Step(one.action, one.parameters, state), seen))
        shown = [
            observations[at] for at in between
            if not _is_of_the_one_before(observations, at) and observations[at] is not told_last
        ]  # fmt: skip
        found += _without_step(shown, state)
    return tuple(found)


def refused_at_end(report: MatchReport) -> Observation | None:
    """Return the refusal of which the observation that fits nothing is a part, if it is of one."""
    at, observations = report.accepted, report.trace.observations
    if not 0 < at < len(observations):
        return None
    return refused_before(observations[at - 1], observations[at])


def _by_call(observation: Observation, words: Words) -> str:
    """Return the call that an observation came of, if it is said."""
    call = observation.call
    if call is None or call == "same":
        return "" if call is None else "in the same call"
    given = ["..."] if call.parameters is None else map(words.value, call.parameters)
    return f"by {words.text(call.method)}({', '.join(given)})"


def known_parameters(observation: Observation) -> tuple[Value, ...] | None:
    """Return the parameters of what was observed; ``None`` if one is unknown."""
    known = tuple(one for one in observation.parameters or () if one is not None)
    return known if known == observation.parameters else None


def _between(report: MatchReport, behaviour: Sequence[Taken]) -> list[list[int]]:
    """Return the numbers of the observations without a step that come after each step.

    A behaviour says of some in which state they were made. The others come after the last step
    that is of an observation before them.
    """
    found = [list(one.stays) for one in behaviour]
    told = {at for stays in found for at in stays}
    firsts = [
        min((at for at in (one.observation, *one.stays) if at is not None), default=None)
        for one in behaviour
    ]
    after = ahead = 0
    for at, one in enumerate(report.trace.observations[: report.accepted]):
        while ahead < len(firsts) and ((first := firsts[ahead]) is None or first <= at):
            after, ahead = (after if first is None else ahead), ahead + 1
        if one.kind != "step" and at not in told and found:
            found[after].append(at)
    return [sorted(one) for one in found]


def _is_of_the_one_before(observations: Sequence[Observation], at: int) -> bool:
    """Return whether a stay only shows the state after the observation before it."""
    one = observations[at]
    if one.kind != "stay" or at == 0:
        return False
    return one.call == "same" or refused_before(observations[at - 1], one) is not None


def _without_step(observations: Sequence[Observation], state: Function) -> Iterator[MatchLine]:
    """Yield the lines of what was observed without a step, of very many only the last."""
    left_out = max(0, len(observations) - _IN_A_ROW_MAX)
    if left_out:
        yield MatchLine(Step(f"{left_out:,} more without a step", (), state), None, is_step=False)
    for one in observations[left_out:]:
        given = () if one.action is None else known_parameters(one)
        yield MatchLine(Step(one.action or NO_STEP, given, state), one, is_step=False)
