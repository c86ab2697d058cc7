"""Where files lie: listed and opened by the process itself, without a Spark session.

A data source runs in processes that have no session: it brings its own access. A local file system
is read by calls of the operating system, S3, Google's and Azure's storage by pyarrow, with the
settings that Hadoop has for them.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from krafla.pipeline.sources import Listing, classified, find_sources
from krafla.verdict import KraflaError
from kraft.errors import UnreadableFileError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

__all__ = ["Storage", "Storages", "StoredFile", "arrow_settings", "storage_of"]

_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_STEP: Final = 1024 * 1024
_ANONYMOUS: Final = "AnonymousAWSCredentialsProvider"
_NO_READER: Final = (
    "this storage is read by Spark alone: use `krafla pipeline ingest`, and its tables from then on"
)


class StoredFile:
    """The bytes of one file from a position on, up to the `end` it had when it was opened.

    Satisfies `ByteStream`.
    """

    def __init__(self, path: str, stream: Any, position: int, end: int) -> None:
        self.path = path
        self.end = end
        self._stream = stream
        self._left = max(end - position, 0)
        self._size = _size_of(stream)

    def has_grown(self) -> bool:
        """Return whether a file of this machine has more bytes than when it was opened."""
        return self._size is not None and (_size_of(self._stream) or 0) > self._size

    def read(self, length: int, /) -> bytes:
        """Return at most so many bytes, none only at the end. Raises `UnreadableFileError`."""
        try:
            part = bytes(self._stream.read(min(length, self._left, _STEP)))
        except OSError as error:
            raise UnreadableFileError(Path(self.path), _reason(error)) from None
        self._left -= len(part)
        return part


def _size_of(stream: Any) -> int | None:
    """Return how many bytes the file of a stream has, None if the stream is of no local file."""
    try:
        return os.fstat(stream.fileno()).st_size
    except (AttributeError, OSError):
        return None


class MissingFileError(UnreadableFileError):
    """A file that is not there, or not there any more."""


def _unreadable(path: Path, error: Exception) -> UnreadableFileError:
    kind = MissingFileError if isinstance(error, FileNotFoundError) else UnreadableFileError
    return kind(path, _reason(error))


class Storage(Protocol):
    """A file system: what lies at or below a URI, and the bytes of a file."""

    def list(self, uri: str) -> Listing:
        """Return the files at or below a URI. Raises `KraflaError` if there is nothing."""

    def open(
        self, path: str, position: int = 0, end: int | None = None
    ) -> AbstractContextManager[StoredFile]:
        """Return the bytes of a file in a context, as `StoredFile`, perhaps some of them.

        Raises `UnreadableFileError` unless it is a file that can be read.
        """


def storage_of(uri: str, options: Mapping[str, str]) -> Storage:
    """Return the storage of a URI; `options` may have settings named as Hadoop's.

    A path without a scheme is one of this machine. `KraflaError` for a scheme that has no reader.
    """
    match = _URI.match(uri)
    scheme = "file" if match is None else match[1].lower()
    if scheme == "file":
        return _LocalStorage()
    kind = _KINDS.get(scheme)
    if kind is None:
        raise KraflaError(_NO_READER, printable(uri))
    return _ArrowStorage(scheme, _file_system(kind, uri, arrow_settings(kind, uri, options)))


class Storages:
    """The storages of some settings, each made once."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._made: dict[str, Storage] = {}

    def of(self, uri: str) -> Storage:
        """Return the storage of a URI; raises as `storage_of`."""
        match = _URI.match(uri)
        key = "" if match is None else "/".join(uri.split("/")[:3])
        if key not in self._made:
            self._made[key] = storage_of(uri, self._settings)
        return self._made[key]


class _LocalStorage:
    """The file system of this machine; links to directories are not followed."""

    def list(self, uri: str) -> Listing:
        return find_sources([Path(_local_path(uri))])

    @contextmanager
    def open(self, path: str, position: int = 0, end: int | None = None) -> Iterator[StoredFile]:
        place = Path(_local_path(path))
        try:
            # Nothing waits for the other end of a FIFO.
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise _unreadable(place, error) from None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise UnreadableFileError(place, "not a regular file")
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            file.seek(position)
            size = status.st_size
            yield StoredFile(path, file, position, size if end is None else min(end, size))


@dataclass(frozen=True, slots=True)
class _ArrowStorage:
    """A storage of objects that pyarrow reads; a URI keeps the scheme that it was given with."""

    scheme: str
    files: Any

    def list(self, uri: str) -> Listing:
        from pyarrow.fs import (  # type: ignore[import-untyped]  # pyarrow ships no types
            FileSelector,
            FileType,
        )

        root = uri.rstrip("/")
        with _told(uri):
            found = self.files.get_file_info(self._path(root))
            if found.type is FileType.File:
                infos = [found]
            else:
                infos = self.files.get_file_info(
                    FileSelector(self._path(root), recursive=True, allow_not_found=True)
                )
        rows = [
            (f"{self.scheme}://{info.path}", info.size, info.mtime_ns or 0)
            for info in infos
            if info.type is FileType.File
        ]
        if not rows:
            raise KraflaError("there is no such file or folder", printable(uri))
        return classified(root, rows)

    @contextmanager
    def open(self, path: str, position: int = 0, end: int | None = None) -> Iterator[StoredFile]:
        try:
            file = self.files.open_input_file(self._path(path))
        except OSError as error:
            raise _unreadable(Path(path), error) from None
        with file:
            size = file.size()
            file.seek(min(position, size))
            yield StoredFile(path, file, position, size if end is None else min(end, size))

    def _path(self, uri: str) -> str:
        rest = uri.partition("://")[2]
        # abfs://container@account.dfs.core.windows.net/path
        return re.sub(r"^([^/@]+)@[^/]+", r"\1", rest)


_KINDS: Final = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("abfs", "abfss"), "abfs"),
}


def arrow_settings(kind: str, uri: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return what pyarrow's file system of a kind is made with, from settings named as Hadoop's.

    Names may begin with `spark.hadoop.`. Without credentials pyarrow looks for them in the
    environment, as other tools do. `KraflaError` for a value that is none.
    """
    known = {
        name.lower().removeprefix("spark.hadoop."): value for name, value in options.items()
    }  # fmt: skip
    return {"s3": _s3_settings, "gs": _gs_settings, "abfs": _azure_settings}[kind](known, uri)


def _s3_settings(known: Mapping[str, str], uri: str) -> dict[str, Any]:
    """Return the settings of a bucket: those that name it go before those of all buckets."""
    bucket = uri.partition("://")[2].partition("/")[0].lower()

    def get(name: str) -> str | None:
        return known.get(f"fs.s3a.bucket.{bucket}.{name}", known.get(f"fs.s3a.{name}"))

    wanted: dict[str, Any] = {
        "access_key": get("access.key"),
        "secret_key": get("secret.key"),
        "session_token": get("session.token"),
        "region": get("endpoint.region"),
    }
    if endpoint := get("endpoint"):
        scheme, is_uri, host = endpoint.partition("://")
        is_plain = get("connection.ssl.enabled") == "false"
        wanted["endpoint_override"] = host if is_uri else endpoint
        wanted["scheme"] = scheme if is_uri else "http" if is_plain else "https"
        if get("path.style.access") == "false":
            wanted["force_virtual_addressing"] = True
    if _ANONYMOUS in (get("aws.credentials.provider") or ""):
        wanted["anonymous"] = True
    return {name: value for name, value in wanted.items() if value is not None}


def _gs_settings(known: Mapping[str, str], _uri: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if known.get("fs.gs.auth.type", "").upper() == "UNAUTHENTICATED":
        wanted["anonymous"] = True
    if endpoint := known.get("fs.gs.storage.root.url"):
        scheme, is_uri, host = endpoint.partition("://")
        wanted["endpoint_override"] = (host if is_uri else endpoint).rstrip("/")
        wanted["scheme"] = scheme if is_uri else "https"
    return wanted


def _azure_settings(known: Mapping[str, str], uri: str) -> dict[str, Any]:
    match = re.match(r"[^:]+://[^/@]+@(([^./]+)[^/]*)", uri)
    if match is None:
        raise KraflaError("an Azure address is abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH",
                          printable(uri))  # fmt: skip
    host, account = match[1].lower(), match[2].lower()
    wanted: dict[str, Any] = {"account_name": account}
    if key := known.get(f"fs.azure.account.key.{host}", known.get("fs.azure.account.key")):
        wanted["account_key"] = key
    token = known.get(f"fs.azure.sas.fixed.token.{host}", known.get("fs.azure.sas.fixed.token"))
    if token:
        wanted["sas_token"] = token
    return wanted


def _file_system(kind: str, uri: str, settings: dict[str, Any]) -> Any:
    from pyarrow import fs  # type: ignore[import-untyped]  # pyarrow ships no types

    made: dict[str, Callable[..., Any]] = {
        "s3": fs.S3FileSystem,
        "gs": fs.GcsFileSystem,
        "abfs": getattr(fs, "AzureFileSystem", _not_built),
    }
    try:
        return made[kind](**settings)
    except (OSError, TypeError, ValueError) as error:
        raise KraflaError(f"these settings make no access: {_reason(error)}",
                          printable(uri)) from None  # fmt: skip


def _not_built(**_settings: Any) -> Any:
    raise ValueError("this pyarrow was built without Azure's storage")


@contextmanager
def _told(uri: str) -> Iterator[None]:
    """Raise an error of the storage as a sentence about the URI."""
    try:
        yield
    except OSError as error:
        raise KraflaError(f"the storage does not answer the request: {_reason(error)}",
                          printable(uri)) from None  # fmt: skip


def _local_path(uri: str) -> str:
    return re.sub(r"^file:(//)?(?=/)", "", uri)


def _reason(error: Exception) -> str:
    text = printable(str(getattr(error, "strerror", None) or error))
    return text[:1].lower() + text[1:]
