"""A warning of code of which nothing is seen, though its class does not say so."""

from __future__ import annotations

import functools
import warnings

from krafla.testing.action_method import observes_somewhere
from krafla.testing.errors import UnobservedWarning

__all__ = ["warn_of_unobserved"]


@functools.cache
def warn_of_unobserved(machine: type, default: object = None) -> None:
    """Warn once of a class that shows nothing of its code, unless it says so itself.

    ``default`` is the ``observe`` of a class that has none of its own.
    """
    if not getattr(machine, "observes", True) or getattr(machine, "observe", None) is not default:
        return
    if observes_somewhere(machine):
        return
    warnings.warn(
        f"{machine.__name__} has no observe(): nothing of the code's state is compared with the "
        "spec. Write it, or set observes = False if what the methods return is enough",
        UnobservedWarning, stacklevel=3,
    )  # fmt: skip
