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

__all__ = [
    *("JobError", "advice_in", "cause_in", "cause_of_end", "kept_log", "last_error"),
    "users_error",
]

_KEPT_LINES: Final = 200
_CHARACTERS: Final = 300
_RAISED: Final = re.compile(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b(: |$)")
_OURS: Final = re.compile(r"^krafla\.verdict\.KraflaError: (.+)$", re.MULTILINE)
_FOREIGN: Final = ("org.apache.", "py4j", "java.", "pyspark.", "grpc.")
_CAUSED: Final = re.compile(r"Caused by: [\w.$]+: (.+)")
_NAMED: Final = re.compile(r"\([\w.$]+\) (.+)")
# A folder that a task cannot make is one that Spark would move to its place later.
_TEMPORARY: Final = re.compile(r"/_temporary\S*( \(exists=.*\))?")
_ADVICE: Final = (
    (
        r"No space left on device|Disk quota exceeded",
        "a disk is full: all that was committed stays, and the same command goes on from there"
        " once there is room",
    ),
    (
        r"FileSystem not found|No FileSystem for scheme",
        "Spark has no jars for this storage: --packages names them, see docs/internals/places.md",
    ),
    (
        r"NoAuthWithAWS|No AWS [Cc]redentials|Unable to load credentials",
        "Spark has no keys for this storage: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or"
        " spark.hadoop.fs.s3a.access.key and .secret.key",
    ),
    (
        r"Mkdirs failed|ParentNotDirectory|Read-only file system",
        "Spark cannot write there: name a place that it may make folders in",
    ),
    (
        r"Permission denied|AccessDenied",
        "Spark has no access there: it must be allowed to list and read what it reads, and to make"
        " folders where it writes",
    ),
)
"""What to do about some complaints of storages."""


class JobError(KraflaError):
    """A job failed; the message has the reason, and the place of Spark's log."""


def cause_in(text: str) -> str:
    """Return the one line of a complaint that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line) and not line.startswith(_FOREIGN)]
    if raised:
        return raised[-1][:_CHARACTERS]
    causes = _matched(_CAUSED, lines)[-1:] or _matched(_NAMED, lines)[:1]
    if causes:
        return _TEMPORARY.sub("", causes[0])[:_CHARACTERS]
    told = [line for line in lines if line.startswith((*_FOREIGN, "Caused by", "Exception in"))]
    first = (told or lines or ["for a reason it does not say"])[0]
    plain = re.sub(r"^(Exception in thread \"\w+\" )?(Caused by: )?((\w+\.)+\w+): ", "", first)
    return plain[:_CHARACTERS]


def _matched(pattern: re.Pattern[str], lines: list[str]) -> list[str]:
    return [found[1] for line in lines if (found := pattern.match(line))]


def advice_in(text: str) -> str:
    """Return what to do about a complaint, to follow its cause; empty if that is not known."""
    found = (words for pattern, words in _ADVICE if re.search(pattern, text))
    return "".join(f"; {words}" for words in [*found][:1])


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
