"""A run as a file: the configuration and the choices, which reproduce it."""

from __future__ import annotations

import msgspec

from kraft.sim.recording import RecordingError
from kraft.sim.together.choices import Choice  # noqa: TC001 - msgspec reads the types
from kraft.sim.together.cluster import Configuration  # noqa: TC001 - msgspec reads the types


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to play a run again, choice by choice."""

    configuration: Configuration
    choices: tuple[Choice, ...]


def to_json(recording: Recording) -> bytes:
    """Return a recording as JSON; a choice is an object with its class's name as `choice`."""
    return msgspec.json.encode(recording)


def from_json(text: bytes | str) -> Recording:
    """Return the recording that `to_json` wrote.

    Raises RecordingError if the text is not one.
    """
    try:
        return msgspec.json.decode(text, type=Recording)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"not a recording of a cluster: {error}") from None
