"""Which names a topic may have.

Kafka: Topic.validate.
"""

from __future__ import annotations

import re
from typing import Final

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode

_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def validate_topic_name(name: str) -> None:
    """Return if a topic may be called so.

    Raises ControllerError (INVALID_TOPIC_EXCEPTION).
    Kafka: Topic.validate.
    """
    if not _LEGAL_NAME.fullmatch(name) or name in {".", ".."}:
        reason = (
            f"{name!r} is no name for a topic: 1 to 249 letters, digits and ._-, "
            "and neither . nor .."
        )
        raise ControllerError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
