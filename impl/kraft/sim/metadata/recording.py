"""A run as a file: the configuration and the choices, which reproduce it."""

from __future__ import annotations

import msgspec

from kraft.sim.metadata.choices import Choice  # noqa: TC001 - msgspec reads the types
from kraft.sim.metadata.cluster import Configuration  # noqa: TC001 - msgspec reads the types
from kraft.sim.recording import read, to_json

__all__ = ["Recording", "from_json", "to_json"]


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to play a run again, choice by choice."""

    configuration: Configuration
    choices: tuple[Choice, ...]


def from_json(text: bytes | str) -> Recording:
    """Return the recording that `to_json` wrote.

    Raises RecordingError if the text is not one.
    """
    return read(text, Recording, "recording of a metadata log")
