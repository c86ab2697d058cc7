"""What Spark complains about, in one line for the user, and a file with the rest."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["JobError", "cause_in", "cause_of_end", "kept_log", "last_error", "users_error"]

_KEPT_LINES: Final = 200
_CHARACTERS: Final = 300
_RAISED: Final = re.compile(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b(: |$)")
_OURS: Final = re.compile(r"^krafla\.verdict\.KraflaError: (.+)$", re.MULTILINE)
_FOREIGN: Final = ("org.apache.spark", "py4j", "java.", "pyspark.", "grpc.")


class JobError(KraflaError):
    """A job failed; the message has the reason, and the place of Spark's log."""


def cause_in(text: str) -> str:
    """Return the one line of a complaint that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line) and not line.startswith(_FOREIGN)]
    if raised:
        return raised[-1][:_CHARACTERS]
    told = [line for line in lines if line.startswith((*_FOREIGN, "Caused by", "Exception in"))]
    first = (told or lines or ["for a reason it does not say"])[0]
    plain = re.sub(r"^(Exception in thread \"\w+\" )?(Caused by: )?((\w+\.)+\w+): ", "", first)
    return plain[:_CHARACTERS]


def cause_of_end(text: str) -> str:
    """Return the line of a log that says why Java did not start, or ended at once."""
    if "Exception" in text:
        return cause_in(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("WARNING:", "Picked up "))]
    return (told or ["for a reason it does not say"])[0][:_CHARACTERS]


def users_error(text: str) -> KraflaError | None:
    """Return the error of krafla that a task raised; ``None`` if it raised another."""
    found = _OURS.findall(text)
    return KraflaError(found[-1]) if found else None


def last_error(log: Path) -> str | None:
    """Return Spark's message when it gave up, which Spark keeps from its callers."""
    with suppress(OSError):
        text = log.read_text(encoding="utf-8", errors="replace")
        found = re.findall(r"^[\d:]+ ERROR \w*Scheduler\w*: (.+)$", text, re.MULTILINE)
        if found:
            return str(found[-1])[:_CHARACTERS]
    return None


def kept_log(log: Path | None, complaint: str = "") -> str:
    """Return the place of a file that stays, with Spark's last lines and a complaint."""
    last: list[str] = []
    if log is not None:
        with suppress(OSError):
            last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_KEPT_LINES:]
    descriptor, name = tempfile.mkstemp(prefix="krafla-spark-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join([*last, "", complaint, ""]))
    return name
