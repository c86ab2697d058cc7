"""Kafka's jars by Maven coordinates, each verified against a lock, and cached.

The lock names every jar, so that nothing is resolved: a jar is exactly the one named, or refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.scratch import scratch_folder
from krafla.tlc.fetch_failure import not_fetched
from krafla.tlc.jar import ANOTHER_CACHE, cache_directory
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ENVIRONMENT_VARIABLE", "VERSION", "Jar", "class_path", "locked_jars"]

VERSION = "4.1.0"
# Points at a folder of jars to use as they are: of another build of Kafka, say.
ENVIRONMENT_VARIABLE = "KAFKA_LIBS"
_DOWNLOAD_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar as the lock names it: Maven coordinates and SHA-256."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        """Return the Maven coordinates."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def name(self) -> str:
        """Return the name of its file, which is another one for other bytes."""
        return f"{self.artifact}-{self.version}-{self.sha256[:12]}.jar"


@cache
def locked_jars() -> tuple[Jar, ...]:
    """Return the jars of the lock, in its order."""
    text = (resources.files("krafla.record") / "kafka.lock").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            sha256, coordinates = line.split()
            group, artifact, version = coordinates.split(":")
            found.append(Jar(group, artifact, version, sha256))
    return tuple(found)


def class_path(
    cache_to: Path | None = None, progress: Callable[[str], None] = lambda _: None
) -> str:
    """Return the class path of Kafka's servers and tools; a first run fetches the jars.

    Several processes may do so at once. ``KraflaError`` if a jar cannot be fetched, or is not the
    locked one.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        if not Path(chosen).is_dir():
            raise KraflaError(f"{ENVIRONMENT_VARIABLE} names no folder", chosen)
        return f"{Path(chosen).resolve()}/*"
    folder = (cache_to or cache_directory()) / f"kafka-{VERSION}"
    jars = locked_jars()
    missing = [jar for jar in jars if not _is_there(folder / jar.name, jar)]
    for number, jar in enumerate(missing, 1):
        progress(f"fetching jar {number} of {len(missing)}: {jar.coordinates}")
        _fetch(jar, folder)
    return os.pathsep.join(str(folder / jar.name) for jar in jars)


def _is_there(path: Path, jar: Jar) -> bool:
    # A cache may rot: 60 MB are hashed in a tenth of a second.
    return path.is_file() and _sha256(path) == jar.sha256


def _fetch(jar: Jar, folder: Path) -> None:
    """Fetch, verify, and only then let the jar appear under its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with scratch_folder("fetch", folder) as scratch:
            fetched = _resolve(jar, scratch, folder)
            found = _sha256(fetched)
            if found != jar.sha256:
                raise KraflaError(
                    f"{jar.coordinates} has SHA-256 {found}, expected {jar.sha256}: the file was "
                    "altered on its way or at its source; it was not kept"
                )
            draft = scratch / jar.name
            shutil.copyfile(fetched, draft)
            draft.replace(folder / jar.name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise KraflaError(
            f"Kafka's jars cannot be stored: {reason}; {ANOTHER_CACHE}", str(folder)
        ) from error


def _resolve(jar: Jar, repository: Path, folder: Path) -> Path:
    # Imported here: it takes half a second, and only the first run of a machine needs it.
    import requests
    from jgo.maven import MavenContext

    shared = Path(os.environ.get("M2_REPO") or Path.home() / ".m2" / "repository")
    context = MavenContext(
        repo_cache=repository,
        local_repos=[shared] if shared.is_dir() else [],
        timeout=_DOWNLOAD_TIMEOUT_SECONDS,
    )
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    try:
        return Path(component.artifact().resolve())
    except (requests.RequestException, RuntimeError) as error:
        told = not_fetched(f"Kafka's jar {jar.coordinates}", error, folder / jar.name)
        raise KraflaError(
            f"{told}, or set {ENVIRONMENT_VARIABLE} to a folder of Kafka's jars"
        ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as jar:
        return hashlib.file_digest(jar, "sha256").hexdigest()
