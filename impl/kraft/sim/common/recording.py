"""A run as a file: the configuration and the choices, which reproduce it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

ConfigurationT = TypeVar("ConfigurationT")
ChoiceT = TypeVar("ChoiceT")


class RecordingError(ValueError):
    """The text is not a recording; the message names what is wrong, and the field."""


class Recording(
    msgspec.Struct, Generic[ConfigurationT, ChoiceT], frozen=True, forbid_unknown_fields=True
):
    """All that is needed to play a run again, choice by choice."""

    configuration: ConfigurationT
    choices: tuple[ChoiceT, ...]


def to_json(recording: Recording[Any, Any]) -> bytes:
    """Return a recording as JSON; a choice is an object with its class's name as `choice`."""
    return msgspec.json.encode(recording)


def from_json(
    text: bytes | str, configuration: type[ConfigurationT], choice: Any, name: str
) -> Recording[ConfigurationT, Any]:
    """Return the recording that `to_json` wrote, of these types of configuration and choice.

    Raises RecordingError if the text is none; its message calls the run by `name`.
    """
    try:
        recording: Recording[ConfigurationT, Any] = msgspec.json.decode(
            text,
            type=Recording[configuration, choice],  # type: ignore[valid-type]  # known at run time
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"not a recording of {name}: {error}") from None
    return recording
