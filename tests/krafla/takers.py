"""What ``replay``, ``shrink``, ``explain``, ``validate``, ``keep`` do with each kind of recording.

A recording that cannot be taken is refused in one sentence, with exit status 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from krafla.cli import application
from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

HELD, VIOLATED, REFUSED, UNKNOWN = (
    ExitCode.HELD, ExitCode.VIOLATED, ExitCode.COULD_NOT_RUN, ExitCode.INCONCLUSIVE
)  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """The exit status of each verb for one kind of recording.

    ``kept_as`` is the word of ``--as``. ``said`` is a piece of each refusal.
    """

    replay: int
    shrink: int
    explain: int
    validate: int
    keep: int
    kept_as: str = "rejected"
    said: str = ""


KINDS = {
    "a counterexample": Taken(VIOLATED, HELD, HELD, HELD, HELD, "counterexample"),
    "a behaviour": Taken(HELD, REFUSED, HELD, HELD, HELD, "accepted", "only a violated"),
    "a run of choices": Taken(VIOLATED, HELD, HELD, VIOLATED, HELD),
    "a run on machines": Taken(VIOLATED, HELD, HELD, REFUSED, HELD, said="`krafla replay "),
    "a partial trace": Taken(REFUSED, REFUSED, HELD, HELD, REFUSED, said="`krafla validate "),
    "an output of TLC": Taken(
        REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, said="`krafla convert "
    ),
    "a report": Taken(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, said="a report of --json"),
    "a page": Taken(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, said="a page or a picture"),
    "nothing known": Taken(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, said="no recording"),
    "logs": Taken(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, said="`krafla audit "),
}  # fmt: skip


def check_taken(path: Path, kind: str, folder: Path, without: Collection[str] = ()) -> Path:
    """Give a recording to each verb but those left out, and return what ``shrink`` wrote."""
    expected = KINDS[kind]
    corpus, smaller = folder / "corpus", folder / f"{path.name}.smaller.ndjson"
    corpus.mkdir(exist_ok=True)
    given = {
        "replay": (),
        # The search for a smaller one need not end.
        "shrink": ("--tries", "2", "--output", str(smaller), "--quiet"),
        "explain": (),
        "validate": (),
        "keep": ("--as", expected.kept_as, "--into", str(corpus), "--reason", "So.", "--quiet"),
    }
    for verb in (one for one in given if one not in without):
        options = given[verb]
        result = CliRunner().invoke(application(verb), [verb, str(path), *options])
        status = getattr(expected, verb)
        statuses = {HELD, UNKNOWN} if verb == "shrink" and status == HELD else {status}
        assert result.exit_code in statuses, f"{verb} {path.name}: {result.output}"
        if status == REFUSED:
            assert result.stdout == ""
            assert len(result.stderr.splitlines()) == 1
            assert result.stderr.startswith(f"krafla: {path}")
            assert expected.said in result.stderr
    return smaller
