"""A run as a file: the configuration and the choices, which reproduce it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from kraft.sim.choices import Choice  # noqa: TC001 - msgspec reads the types
from kraft.sim.configuration import Configuration  # noqa: TC001 - msgspec reads the types

_Kind = TypeVar("_Kind", bound=msgspec.Struct)


class RecordingError(ValueError):
    """Text that is not a recording; the message says what is wrong, and at which field."""


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is needed to play a run again with `kraft.sim.replay_choices`."""

    configuration: Configuration
    choices: tuple[Choice, ...]


def to_json(recording: msgspec.Struct) -> bytes:
    """Return a recording as JSON; a choice is an object with its class's name as `choice`."""
    return msgspec.json.encode(recording)


def from_json(text: bytes | str) -> Recording:
    """Return the recording that `to_json` wrote.

    Raises RecordingError if the text is not one.
    """
    return read(text, Recording, "recording")


def read(text: bytes | str, kind: type[_Kind], name: str) -> _Kind:
    """Return what `to_json` wrote of a recording of some kind, called by a name in messages.

    Raises RecordingError if the text is not one.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"not a {name}: {error}") from None
