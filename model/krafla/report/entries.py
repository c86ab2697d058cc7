"""What a command tells a CI system: an entry for each question, with its answer and its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from krafla.verdict import ExitCode, Verdict

__all__ = [
    "Entry", "EntryStep", "FilePlace", "Rule", "one_line", "places_named", "shown_path",
    "writable",
]  # fmt: skip

_NAMED: Final = re.compile(r"(?<!\S)(?P<path>\S+):(?P<line>\d+)(?=:)")
# XML 1.0 cannot contain these characters, not even escaped.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file, at a line counted from 1 or at a byte counted from 0, if that is known."""

    path: Path
    line: int | None = None
    byte: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A property or an invariant: its id, as ``Module!Name`` or ``P2``, and its sentence."""

    id: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class EntryStep:
    """One step of the way to a failure, and the place of its action in the spec."""

    text: str
    place: FilePlace | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of a command, with its answer.

    ``kind`` is the sort of question. The verdict holds within ``bounds``. ``headline`` says in a
    sentence what is wrong, ``reasons`` say more of it; ``evidence`` lists counts and observations.
    ``reproduce`` is the command that asks again. ``could_run`` is false if the question could not
    be asked. ``asked`` are the rules that were asked about, ``broken`` is the one that does not
    hold. The first of ``places`` is the one to look at. ``steps`` lead to the failure, and
    ``story`` has the lines in which the command tells it.
    """

    kind: str
    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    bounds: str = ""
    reproduce: str = ""
    seconds: float = 0.0
    could_run: bool = True
    headline: str = ""
    asked: tuple[Rule, ...] = ()
    broken: Rule | None = None
    places: tuple[FilePlace, ...] = ()
    steps: tuple[EntryStep, ...] = ()
    story: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Return the verdict in a word, or that the question could not be asked."""
        return self.verdict.value if self.could_run else ExitCode.COULD_NOT_RUN.word

    @property
    def title(self) -> str:
        """Return what is wrong in one line: the headline, or the first line of the reasons.

        It is the name of a question that held.
        """
        texts = (self.headline, *(line for one in self.reasons for line in one.splitlines()))
        return next(filter(None, map(one_line, texts)), self.name)


def writable(text: str) -> str:
    """Return the text with a mark for each character that XML, and so a report, cannot contain."""
    return _UNWRITABLE.sub("\ufffd", text)


def places_named(text: str) -> tuple[FilePlace, ...]:
    """Return the files with their lines that a message names as ``file:line``, if they are there.

    The file comes at the beginning of the message or after a blank.
    """
    found = ((Path(one["path"]), int(one["line"])) for one in _NAMED.finditer(text))
    return tuple(FilePlace(path, line) for path, line in found if path.is_file())


def one_line(text: str) -> str:
    """Return the writable text with a blank for each run of blanks and ends of lines."""
    return " ".join(writable(text).split())


def shown_path(path: Path, root: Path) -> str:
    """Return a path as CI systems want it: relative to the root of the repository, with ``/``.

    A path that is not below ``root`` is absolute.
    """
    whole = path.resolve()
    below = whole.relative_to(root) if whole.is_relative_to(root) else whole
    return below.as_posix()
