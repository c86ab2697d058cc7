"""Calls of the code under test: an error of its own says where in the run it came."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from krafla.testing.errors import Refused
from krafla.testing.found import note_steps
from krafla.testing.run_end import is_of_code
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.testing.judge import Judge

__all__ = ["called", "observed"]


def called(code: Any, judge: Judge, what: Callable[[], str], call: Callable[[], Any]) -> Any:
    """Return what a call of the code returns; ``what`` names the call in the note of an error."""
    __tracebackhide__ = True
    try:
        return call()
    except BaseException as error:
        # A method may ask the judge, whose answers are no errors of the code.
        if is_of_code(error) and not isinstance(error, Refused):
            note_steps(error, what(), judge, type(code))
        raise


def observed(
    code: Any,
    judge: Judge,
    what: Callable[[], str],
    observe: Callable[[Any], Mapping[Any, Any]] | None = None,
) -> Mapping[Any, Any]:
    """Return what is seen of the code by a function, or else by its own ``observe``.

    ``KraflaError`` if that is no mapping.
    """
    __tracebackhide__ = True
    look = _look_of(code) if observe is None else partial(observe, code)
    found = {} if look is None else called(code, judge, what, look)
    if not isinstance(found, Mapping):
        raise KraflaError(
            f"{what()} of {type(code).__name__} returned {found!r}, not a mapping from variables "
            "to values"
        )
    return found


def _look_of(code: Any) -> Callable[[], Any] | None:
    return getattr(code, "observe", None) if getattr(code, "observes", True) else None
