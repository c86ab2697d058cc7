"""Which files differ from where the branch began: commits, edits and new files together."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAIN = ("origin/main", "main")


class ChangesError(Exception):
    """Says why it is not known what has changed."""


def branch_point(root: Path) -> str:
    """Return the commit at which this branch left main; HEAD where there is no main."""
    for name in MAIN:
        found = _git(root, "merge-base", "HEAD", name)
        if found is not None:
            return found.strip()
    return "HEAD"


def changed_files(root: Path, base: str) -> list[str]:
    """Return the paths that differ from a commit, also those not committed; deleted ones, too.

    Raises `ChangesError` outside a checkout, and where there is no such commit.
    """
    differing = _git(root, "diff", "--name-only", "--no-renames", "-z", base, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        raise ChangesError(f"git does not know what has changed since {base!r}; see --base")
    return sorted({name for name in (differing + new).split("\0") if name})


def _git(root: Path, *arguments: str) -> str | None:
    try:
        ended = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return ended.stdout if ended.returncode == 0 else None
