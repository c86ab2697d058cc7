"""Why a file is in quarantine: at which stage, for which reason, at which place in it."""

from __future__ import annotations

from dataclasses import dataclass

from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable

__all__ = ["Fault", "fault_of", "sentence"]


@dataclass(frozen=True, slots=True)
class Fault:
    """The stage is ``name``, ``open`` or ``decode``; the place is empty if none is known."""

    stage: str
    reason: str
    place: str


def fault_of(error: Exception, stage: str) -> Fault:
    """Return what a reader complains about, without the path of a private copy."""
    if isinstance(error, KraflaError):
        return Fault(stage, printable(error.message), printable(error.place or ""))
    if isinstance(error, UnreadableFileError):
        return Fault(stage, printable(error.reason), "")
    assert isinstance(error, CorruptRecordError)
    numbers = [
        f"{name} {number}"
        for name, number in (
            ("byte", error.position),
            ("batch at offset", error.base_offset),
            ("record at offset", error.offset),
            ("field", error.field),
        )
        if number is not None
    ]
    return Fault(stage, printable(error.reason), printable(", ".join(numbers)))


def sentence(reason: str, place: str) -> str:
    """Return a fault as one sentence with its place in the file, if that is known."""
    return f"{reason} ({place})" if place else reason
