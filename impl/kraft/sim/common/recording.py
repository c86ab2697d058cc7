"""Choices, and a run as a file: the configuration and the choices, which reproduce the run."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

ConfigurationT = TypeVar("ConfigurationT")
ChoiceT = TypeVar("ChoiceT")


class BaseChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="choice"):
    """An immutable, hashable choice; in JSON its tag is the name of its class."""


class RecordingError(ValueError):
    """The text is not a recording; the message names the mistake and the field."""


class Recording(
    msgspec.Struct, Generic[ConfigurationT, ChoiceT], frozen=True, forbid_unknown_fields=True
):
    """The configuration and the choices of a run, enough to play it again."""

    configuration: ConfigurationT
    choices: tuple[ChoiceT, ...]


def to_json(recording: Recording[Any, Any]) -> bytes:
    """Return a recording as JSON; a choice is an object with its class name as `choice`."""
    return msgspec.json.encode(recording)


def from_json(
    text: bytes | str, configuration: type[ConfigurationT], choice: Any, name: str
) -> Recording[ConfigurationT, Any]:
    """Return the recording in a text by `to_json`, with these types of configuration and choice.

    Raises RecordingError if the text is not a recording; its message calls the run by `name`.
    """
    try:
        recording: Recording[ConfigurationT, Any] = msgspec.json.decode(
            text,
            type=Recording[configuration, choice],  # type: ignore[valid-type]  # known at run time
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"not a recording of {name}: {error}") from None
    return recording
