"""What a judged test ends with: a violation, a doubt, or a refusal of the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle import Explanation
    from krafla.report.explain.account import Account, Command
    from krafla.traces import PartialTrace, Trace

__all__ = [
    *("Inconclusive", "Refused", "SpecViolation", "Story", "TooFewFollowed", "UnjudgedWarning"),
    "UnobservedWarning",
]

_WIDTH = 100


class Refused(Exception):  # noqa: N818 - a word for what the code did, not an error of the test
    """Raise or return it from a method of a machine: the code refused the action.

    An action with its parameters in order, as for ``Taken``, says what was refused instead. A
    parameter may be ``...`` (unknown): then the spec must not allow it with any value.
    """

    def __init__(self, action: str | None = None, *parameters: object) -> None:
        super().__init__(*(() if action is None else (action, *parameters)))
        self.action = action
        self.parameters = parameters


class UnobservedWarning(UserWarning):
    """A machine has no observe, and does not say that this is meant (observes = False)."""


class UnjudgedWarning(UserWarning):
    """What the cfg beside a machine's spec lists is not judged, and the machine says nothing of it.

    Its constants take the place of the cfg.
    """


class Inconclusive(Exception):  # noqa: N818 - the verdict's name
    """The judge cannot tell: it followed too few candidates, or ran out of time."""


class TooFewFollowed(Inconclusive):
    """The judge cannot tell: a candidate that it did not follow may be the one that fits."""


@dataclass(frozen=True, slots=True)
class Story:
    """Why the spec says no, the trace to there, how to tell it, and the property that is broken."""

    reason: Explanation
    trace: Trace | PartialTrace
    account: Account
    broken: str | None = None


class SpecViolation(AssertionError):  # noqa: N818 - names the finding
    """The code did what the spec does not allow, or broke a property.

    ``action`` and ``parameters`` are those of the judged step, ``...`` for an unknown parameter.
    """

    def __init__(
        self, action: str | None, parameters: tuple[object, ...], tell: Callable[[], Story]
    ) -> None:
        super().__init__(action, parameters)
        self.action = action
        self.parameters = parameters
        self.commands: tuple[Command, ...] = ()
        self.remark = ""
        self._tell = tell
        self._story: Story | None = None

    @property
    def story(self) -> Story:
        """Return what there is to tell, asked of the spec when it is first wanted."""
        # Hypothesis raises hundreds of violations while it shrinks one, and reads none of them.
        if self._story is None:
            self._story = self._tell()
        return self._story

    @property
    def reason(self) -> Explanation:
        """Return the false conjunct with its values, or where the states differ."""
        return self.story.reason

    @property
    def conjunct(self) -> str | None:
        """Return the text of the formula that is false, ``None`` if no single one is."""
        reasons = self.reason.reasons
        return " ".join(reasons[0].text.split()) if reasons else None

    @property
    def place(self) -> str | None:
        """Return where that formula stands, as ``Module.tla:line``."""
        reasons = self.reason.reasons
        return str(reasons[0].place) if reasons else None

    @property
    def broken(self) -> str | None:
        """Return the name of the property that the step breaks, ``None`` if there is no such."""
        return self.story.broken

    @property
    def trace(self) -> Trace | PartialTrace:
        """Return the behaviour up to the violation: whole, or as observations."""
        return self.story.trace

    @property
    def account(self) -> Account:
        """Return the sentence, the reason, the steps and the commands to go on with."""
        from dataclasses import replace

        from krafla.report.explain.account import Section

        found = self.story.account
        remarks = (Section("the saved trace", (self.remark,)),) if self.remark else ()
        return replace(found, sections=(*found.sections, *remarks), commands=self.commands)

    def __str__(self) -> str:
        from krafla.report.explain.account import account_lines

        lines = account_lines(self.account, _WIDTH)
        return "\n".join(text.rstrip() for text, _ in lines).lstrip()
