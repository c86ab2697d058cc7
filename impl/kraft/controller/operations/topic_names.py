"""Valid topic names.

Kafka: Topic.validate.
"""

from __future__ import annotations

import re
from typing import Final

from kraft.controller.operations.errors import ControllerError
from kraft.errors import ErrorCode

_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def validate_topic_name(name: str) -> None:
    """Check that a topic may have this name.

    Raises ControllerError (INVALID_TOPIC_EXCEPTION).
    Kafka: Topic.validate.
    """
    if not _LEGAL_NAME.fullmatch(name) or name in {".", ".."}:
        reason = (
            f"{name!r} is not a topic name: it needs 1 to 249 letters, digits and ._-, "
            "and neither . nor .."
        )
        raise ControllerError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
