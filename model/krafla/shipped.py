"""Whether a file of the specs is as it was shipped: as the wheel has it, or as it was committed."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING

from krafla.manifest import installed_specs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_shipped", "known"]

_SECONDS_MAX = 20


def is_shipped(path: Path) -> bool:
    """Return whether the specs of this installation have a file of this name with this content.

    What counts is the wheel's own list of files, or in a checkout the last commit. Where there is
    neither, or no git, nothing is known to be shipped.
    """
    data = path.read_bytes()
    found = known()
    return not found.isdisjoint({(path.name, digest) for digest in _digests(data)})


def _digests(data: bytes) -> tuple[str, str, str]:
    """Return how git and a wheel name a content."""
    blob = b"blob %d\0%s" % (len(data), data)
    plain = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    # git's name for a content; nobody is kept from forging one.
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest(), _sha256(blob), plain


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@lru_cache(maxsize=1)
def known() -> frozenset[tuple[str, str]]:
    """Return the name and the digest of each file that was shipped."""
    specs = installed_specs()
    if specs is None:
        return frozenset()
    is_of_wheel = (specs.parent / "__init__.py").is_file()
    return _listed() if is_of_wheel else _committed(specs)


def _listed() -> frozenset[tuple[str, str]]:
    """Return what the wheel lists."""
    try:
        files = metadata.files("krafla") or ()
    except metadata.PackageNotFoundError:
        return frozenset()
    return frozenset(
        (file.name, file.hash.value)
        for file in files
        if file.parts[:2] == ("krafla", "specs") and file.hash is not None
    )


def _committed(specs: Path) -> frozenset[tuple[str, str]]:
    """Return what the last commit of a checkout has; nothing if there is none, or no git."""
    git = shutil.which("git")
    if git is None:
        return frozenset()
    # Inside a hook of another repository git would name that one.
    environment = {name: one for name, one in os.environ.items() if not name.startswith("GIT_")}
    try:
        listed = subprocess.run(
            [git, "-C", str(specs), "ls-tree", "-r", "-z", "HEAD", "."],
            capture_output=True, text=True, check=True, timeout=_SECONDS_MAX, env=environment,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return frozenset()
    rows = (row.partition("\t") for row in listed.split("\0") if row)
    return frozenset((name.rpartition("/")[2], head.split()[2]) for head, _, name in rows)
