"""The test that runs now, which names the trace of a failure."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle import Spec

__all__ = ["CURRENT_TEST", "CurrentTest", "name_of_failure"]


@dataclass(frozen=True, slots=True)
class CurrentTest:
    """The test that runs now: the name of its trace, and the spec of a class that names none."""

    name: str
    load: Callable[[], Spec]


CURRENT_TEST: Final[ContextVar[CurrentTest | None]] = ContextVar("CURRENT_TEST", default=None)


def name_of_failure(machine: type) -> str:
    """Return the name of a file for what a machine does wrong in this test."""
    test = CURRENT_TEST.get()
    if test is None:
        return machine.__name__
    words = "".join(one if one.isalnum() else "-" for one in test.name)
    return f"{machine.__name__}-{words.strip('-')}"
