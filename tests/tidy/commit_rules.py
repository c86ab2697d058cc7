"""The house rule about commits: an imperative subject of at most 72 characters."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUBJECT_MAX = 72
THIS_FILE = "tests/tidy/commit_rules.py"
MERGE = re.compile(r"Merge (branch|remote-tracking branch) '[^']+'( into \S+)?")
# "Adds", "Added" and "Adding" are no imperatives; neither is a label in front.
NO_IMPERATIVE = re.compile(
    r"\w+(?:\(.*?\))?!?:|\w+(?:ed|ing|[^s\W]s)\b"
    r"|(?:A|An|The|New|WIP|Made|Wrote|Rewrote|Broke|Did|Was|Got|Took|Kept|Gave|Ran)\b"
)
IMPERATIVES = {
    "Bleed",
    "Bring",
    "Embed",
    "Feed",
    "Focus",
    "Need",
    "Ping",
    "Proceed",
    "Seed",
    "Shed",
    "Sing",
    "Speed",
    "String",
}


def subject_objection(subject: str) -> str | None:
    """Return what is wrong with the subject of a commit; None if nothing is."""
    if MERGE.fullmatch(subject):
        return None
    if len(subject) > SUBJECT_MAX:
        return f"{len(subject)} characters, more than {SUBJECT_MAX}"
    if not subject[:1].isupper():
        return "does not begin with a capital letter"
    if subject.endswith("."):
        return "ends with a full stop"
    if NO_IMPERATIVE.match(subject) and subject.split()[0] not in IMPERATIVES:
        return "does not begin with an imperative"
    return None


def subjects_since_the_rule(root: Path) -> list[str] | None:
    """Return the subjects of the commits after the one that added this file.

    None where there is no history to read: not a checkout. In a shallow one, the oldest commit
    counts as the one that added this file. Raises LookupError if no commit did: it was renamed.
    """
    added = _git(root, "log", "--diff-filter=A", "--format=%H", "--", THIS_FILE)
    if added is None:
        return None
    if not added:
        raise LookupError(f"no commit added {THIS_FILE}")
    found = _git(root, "log", "--format=%s", f"{added.splitlines()[-1]}..HEAD")
    return (found or "").splitlines()


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None
