"""Values of an audit on their way between tasks, with their places told from a root of one's own.

A task lays files out below a scratch folder, and what it finds names them by their paths there.
Another task has them below another folder. So each path, and each text that names one, travels with
the folder left out, and is made whole again where it arrives.
"""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path, PurePosixPath
from typing import Any, Final

from krafla.verdict import KraflaError
from kraft.errors import printable

__all__ = ["packed", "place_below", "told_path", "unpacked"]

_PATH: Final = "path"
_TEXT: Final = "text"


def place_below(root: Path, path: str) -> Path:
    """Return where a file of a store lies when its storage is laid out below a folder.

    The ``path`` is absolute, or a URI: its scheme and its bucket or host are folders.
    ``KraflaError`` if it is neither, or has ``..`` in it.
    """
    scheme, is_uri, rest = path.partition("://")
    parts = [f"{scheme}:", *rest.split("/")] if is_uri else list(PurePosixPath(path).parts)
    if parts[:1] == ["/"]:
        parts = parts[1:]
    elif not is_uri:
        parts = []
    if not parts or {"", ".", ".."} & set(parts) or (is_uri and "/" in scheme) or "\0" in path:
        raise KraflaError(f"the tables name a file by no absolute path: {printable(path)[:200]}")
    return root.joinpath(*parts)


def told_path(text: str, root: Path) -> str:
    """Return a text in which paths below a folder are told as the store names those files."""
    prefix = str(root)
    if prefix not in text:
        return text
    text = re.sub(re.escape(prefix) + r"/([A-Za-z][A-Za-z0-9+.-]*):/", r"\1://", text)
    return text.replace(f"{prefix}/", "/").replace(prefix, "/")


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, root: Path) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._root, self._prefix = root, str(root)

    def persistent_id(self, value: Any) -> tuple[str, str] | None:
        """Return how a path below the root is told, ``None`` of anything else."""
        if isinstance(value, Path) and value.is_relative_to(self._root):
            return _PATH, str(value.relative_to(self._root))
        if isinstance(value, str) and self._prefix in value:
            return _TEXT, value.replace(self._prefix, "\0")
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, root: Path) -> None:
        super().__init__(file)
        self._root = root

    def persistent_load(self, told: Any) -> Any:
        """Return the path or the text below this root."""
        kind, value = told
        return self._root / value if kind == _PATH else value.replace("\0", str(self._root))


def packed(value: Any, root: Path) -> bytes:
    """Return a value as bytes that another task of the same job unpacks."""
    file = io.BytesIO()
    _Pickler(file, root).dump(value)
    return file.getvalue()


def unpacked(data: bytes, root: Path) -> Any:
    """Return the value that ``packed`` has packed, with its paths below another root.

    The bytes come from a task of the same job, never from a file or a table.
    """
    return _Unpickler(io.BytesIO(data), root).load()
