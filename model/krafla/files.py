"""Output files that are there whole or not at all; whether and why a file cannot be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = [
    *("check_writable", "is_there", "made_folder", "unread", "why_unread", "write_bytes"),
    "write_text",
]


def is_there(path: Path) -> bool:
    """Return whether this user can see such a file; a folder that is closed to them has none."""
    try:
        return path.is_file()
    except OSError:
        return False


def why_unread(error: OSError) -> str:
    """Return why a file cannot be read, in the words of all commands."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return error.strerror or str(error)


def unread(path: Path, error: OSError) -> KraflaError:
    """Return the error that a file cannot be read."""
    return KraflaError(why_unread(error), str(path))


def check_writable(path: Path | None) -> None:
    """Raise ``KraflaError`` if a file cannot be written there; for asking before long work.

    None is no file, and is no error.
    """
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise KraflaError("this is a folder; name a file", str(path))
    if not folder.is_dir():
        raise KraflaError("there is no such folder", str(folder))
    if not os.access(folder, os.W_OK):
        raise KraflaError("this folder cannot be written to", str(folder))


def made_folder(folder: Path, option: str) -> Path:
    """Make a folder, if need be, and return it; ``KraflaError`` if no file can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise KraflaError(f"{option}: {folder} is not a folder: a file stands there") from None
    except OSError as error:
        raise KraflaError(f"{option}: {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise KraflaError(f"{option}: {folder} cannot be written to")
    return folder


def write_text(path: Path, parts: Iterable[str]) -> int:
    """Write the parts of a text, or one string, as ``write_bytes`` does; return its size."""
    return write_bytes(path, (part.encode("utf-8") for part in parts))


def write_bytes(path: Path, parts: Iterable[bytes]) -> int:
    """Write the parts to a file under another name, then rename it; return its size in bytes.

    ``KraflaError`` if that fails; what stood there before is still there then.
    """
    check_writable(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            file.writelines(parts)
        size = draft.stat().st_size
        draft.replace(path)
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path)) from error
    finally:
        draft.unlink(missing_ok=True)
    return size
