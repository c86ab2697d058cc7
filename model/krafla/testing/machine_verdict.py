"""What the runs of a machine ended with: a finding, a doubt, or a mistake of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.errors import FailedHealthCheck, Flaky, Unsatisfiable

from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.run_end import is_finding, is_of_hypothesis, skip_in
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["unrepeated", "verdict_of"]


def unrepeated(
    error: BaseException, kept: BaseException | None
) -> tuple[BaseException, str] | None:
    """Return what a run found before all ended with another error, and a remark that says so.

    It is the finding that Hypothesis could not make again, or else the one that was ``kept``.
    """
    found = next(filter(is_finding, _parts(error)), kept)
    if found is None:
        return None
    if isinstance(error, KeyboardInterrupt):
        return found, "; it was interrupted before the run was made smaller"
    return found, "; it did not come again when the same calls were made"


def _parts(error: BaseException) -> Iterator[BaseException]:
    for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield one
        # Hypothesis puts what is no Exception behind one that is.
        if is_of_hypothesis(one) and one.__cause__ is not None:
            yield one.__cause__


def verdict_of(error: BaseException, machine: str) -> tuple[Verdict, str]:
    """Return what an error at the end of all runs says, with a sentence about it.

    ``KraflaError`` if it speaks of the test, which cannot be run as it is written.
    """
    if isinstance(error, KraflaError):
        raise error
    if isinstance(error, SpecViolation):
        return Verdict.VIOLATED, "the code does what the spec does not allow"
    if isinstance(error, Inconclusive):
        return Verdict.INCONCLUSIVE, str(error)
    if isinstance(error, KeyboardInterrupt):
        return Verdict.INCONCLUSIVE, "it was interrupted"
    skipped = skip_in(error)
    if skipped is not None:
        return Verdict.INCONCLUSIVE, f"the test was skipped: {skipped}"
    if isinstance(error, Flaky):
        return Verdict.INCONCLUSIVE, f"the same calls do not show the same: {_first_line(error)}"
    if isinstance(error, FailedHealthCheck | Unsatisfiable):
        return Verdict.INCONCLUSIVE, f"Hypothesis found no run to judge: {_first_line(error)}"
    if is_of_hypothesis(error):
        drawn = [one for one in getattr(error, "__notes__", ()) if one.startswith("while ")]
        told = ", ".join(" ".join(one.split()).rstrip(".") for one in (str(error), *drawn[:1]))
        raise KraflaError(f"is no machine that can be run: {told}", machine) from error
    return Verdict.VIOLATED, f"the code raised {type(error).__name__}: {error}"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
