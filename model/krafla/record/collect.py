"""The files of a recording that are kept: a folder for each node, without traces of the machine."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from krafla.record.layout import Layout, NodePlace

__all__ = ["Scrub", "collect"]

_LOG: Final = "__cluster_metadata-0"
_IDENTITY: Final = ("meta.properties", "bootstrap.checkpoint")
# Indices that an unclean stop leaves are 10 MB of zeros, and nothing reads them.
_INDEX_MAX: Final = 1_000_000
_TEXTS: Final = (".log", ".properties", ".txt")


class Scrub:
    """Takes out of a text what tells of the machine: its folders and its name.

    Longer names first: a folder is looked for before the one that it is in.
    """

    def __init__(self, folders: Mapping[Path, str], host: str | None = None) -> None:
        named = {str(path): name for path, name in folders.items() if len(path.parts) > 1}
        named |= {str(path.resolve()): name for path, name in folders.items() if path.parts[1:]}
        self._folders = sorted(named.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        name = socket.gethostname() if host is None else host
        self._host = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") if name else None

    def __call__(self, text: str) -> str:
        """Return the text without it."""
        for folder, name in self._folders:
            text = text.replace(folder, name)
        return text if self._host is None else self._host.sub("localhost", text)


def collect(
    layout: Layout, journal: Path, to: Path, scrub: Scrub, about: Mapping[str, object]
) -> None:
    """Copy the files for an audit into the new folder `to`, with an inventory.

    Records and checkpoints are copied byte for byte: they only hold what this program chose, the
    address 127.0.0.1 and invented names. Everything that is text is scrubbed.
    """
    to.mkdir()
    for node in layout.nodes:
        _collect_node(node, to / f"n{node.node_id}", scrub)
    _copy_text(journal, to / "harness.log", scrub)
    inventory = {**about, "files": _inventory(to)}
    text = json.dumps(inventory, indent=1) + "\n"
    (to / "inventory.json").write_text(scrub(text), encoding="utf-8")


def _collect_node(node: NodePlace, to: Path, scrub: Scrub) -> None:
    to.mkdir()
    if node.configuration.exists():
        _copy_text(node.configuration, to / node.configuration.name, scrub)
    _collect_disk(node.data, to)
    # A disk that was taken out lies beside, as its own directory.
    for old in sorted(node.folder.glob("old-*")):
        (to / old.name).mkdir()
        _collect_disk(old, to / old.name)
    if node.logs.is_dir():
        (to / "logs").mkdir()
        for path in sorted(node.logs.iterdir()):
            _copy_text(path, to / "logs" / path.name, scrub)


def _collect_disk(disk: Path, to: Path) -> None:
    for name in _IDENTITY:
        if (disk / name).exists():
            shutil.copyfile(disk / name, to / name)
    if (disk / _LOG).is_dir():
        (to / _LOG).mkdir()
        for path in sorted((disk / _LOG).iterdir()):
            if not (path.name.endswith("index") and path.stat().st_size > _INDEX_MAX):
                shutil.copyfile(path, to / _LOG / path.name)


def _copy_text(source: Path, to: Path, scrub: Scrub) -> None:
    assert to.suffix in _TEXTS, "only text is scrubbed"
    text = source.read_text(encoding="utf-8", errors="replace")
    to.write_text(scrub(text), encoding="utf-8")


def _inventory(folder: Path) -> Sequence[Mapping[str, object]]:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.parent.name == _LOG and path.suffix in {".log", ".checkpoint"}:
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            place = path.relative_to(folder).as_posix()
            found.append({"path": place, "bytes": len(content), "sha256": digest})
    return found
