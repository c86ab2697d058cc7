"""The end of a run: a teardown that fails does not hide what was found before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.interrupted import interruption_in
from krafla.testing.errors import Inconclusive

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["tear_down", "told_of_teardown"]

_HEAD: Final = "krafla: teardown raised "


def tear_down(teardown: Callable[[], Any], found: BaseException | None) -> None:
    """Tear the code down; an error of that is a note on what the run ``found``, if it did."""
    __tracebackhide__ = True
    try:
        teardown()
    except BaseException as error:
        if found is None or isinstance(found, Inconclusive) or interruption_in(error) is not None:
            raise
        found.add_note(f"{_HEAD}{type(error).__name__}: {error}")


def told_of_teardown(found: BaseException) -> str:
    """Return what a sentence on a finding has to add: how teardown failed, if it did."""
    notes = getattr(found, "__notes__", ())
    return "".join(
        f"; teardown raised {one.removeprefix(_HEAD)}" for one in notes if one.startswith(_HEAD)
    )
