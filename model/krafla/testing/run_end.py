"""What an error at the end of a run speaks of: the code under test, or something else."""

from __future__ import annotations

import sys
import unittest

from krafla.interrupted import interruption_in
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.verdict import KraflaError

__all__ = ["is_finding", "is_of_code", "is_of_hypothesis", "is_played_again", "skip_in"]


def is_finding(error: BaseException) -> bool:
    """Return whether an error speaks against the code: a violation, or an error of its own."""
    return isinstance(error, SpecViolation) or is_of_code(error)


def is_of_code(error: BaseException) -> bool:
    """Return whether the code under test raised an error: also what is no ``Exception``.

    Answers of the judge are none, nor are interruptions, skips and the errors of Hypothesis.
    """
    if isinstance(error, SpecViolation | Inconclusive | KraflaError) or is_of_hypothesis(error):
        return False
    return skip_in(error) is None and interruption_in(error) is None


def is_played_again(error: BaseException) -> bool:
    """Return whether Hypothesis plays a run again that ended with such an error."""
    return isinstance(error, (Exception, SystemExit, GeneratorExit, *_outcome("fail")))


def skip_in(error: BaseException) -> str | None:
    """Return why a test is skipped, if that is what an error says."""
    return str(error) if isinstance(error, (unittest.SkipTest, *_outcome("skip"))) else None


def _outcome(name: str) -> tuple[type[BaseException], ...]:
    """Return the type of what a function of pytest raises, if pytest is there."""
    pytest = sys.modules.get("pytest")
    return () if pytest is None else (getattr(pytest, name).Exception,)


def is_of_hypothesis(error: BaseException) -> bool:
    """Return whether Hypothesis raised an error on its own account."""
    return type(error).__module__.partition(".")[0] == "hypothesis"
