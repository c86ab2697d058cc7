"""A history saved between two batches, and restored: in another process, or another day.

What is saved is all that later judging depends on, and nothing else. So two histories whose saved
states have equal digests are judged alike from there on. The counters of what was judged so far are
a `Tally`, which is saved apart: the tallies of pieces add up.
"""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeVar

from krafla.audit import saved_graph, saved_values
from krafla.audit.history import History
from krafla.audit.saved_graph import Restorer, Saver
from krafla.audit.saved_values import SavedStateError, ValueRestorer, ValueSaver, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.saving import Tree
    from krafla.audit.specs import LoadingSpec

Kind = TypeVar("Kind", bound=History)
_DIGEST_BYTES: Final = 32
_LEVEL: Final = 1
"""Of compression: the numbers of a saved state are small, and speed counts."""


def save(history: History, root: Path | None = None) -> bytes:
    """Return the state of a history between two batches, without its tally.

    Paths below the folder `root` are saved without it: the log may lie elsewhere when the history
    goes on. Raises SavedStateError if a finding has stopped it: nothing may follow.
    """
    if history.stopped:
        raise SavedStateError("a history that a finding has stopped cannot be saved")
    saver = Saver(history.open_changes(), root)
    tree = saver.tree(history)
    return _sealed([tree, saver.tables()])


def restored_as(
    data: bytes,
    loading: LoadingSpec,
    expected: Mapping[int, tuple[Path, ...]],
    kind: type[Kind],
    root: Path | None = None,
) -> Kind:
    """Return a history of a kind as it was saved, with an empty tally.

    `expected` lists the checkpoints that it is to be compared with from there on; `root` is where
    that folder is now. Raises SavedStateError for other bytes than this code has saved.
    """
    tree, tables = _opened(data)
    history: Kind = Restorer(tables, loading, expected, kind, root).value(tree)
    return history


def restore(
    data: bytes,
    loading: LoadingSpec,
    expected: Mapping[int, tuple[Path, ...]],
    root: Path | None = None,
) -> History:
    """Return a history that judges. Else as `restored_as`."""
    return restored_as(data, loading, expected, History, root)


def digest_of(data: bytes) -> str:
    """Return the digest of a saved state: histories with equal ones go on alike."""
    return data[:_DIGEST_BYTES].hex()


def save_values(value: Any, root: Path | None = None) -> bytes:
    """Return a tally, an ending or another value of an audit as bytes, with paths as `save`."""
    return _sealed(ValueSaver(root).tree(value))


def restore_values(data: bytes, root: Path | None = None) -> Any:
    """Return the value that was saved. Raises as `restore`."""
    return ValueRestorer(root).value(_opened(data))


def _signature() -> bytes:
    """Return a digest of the classes that are saved."""
    every = [saved_values.signature(), saved_graph.signature()]
    return sha256(text_of(every).encode()).digest()


def _sealed(tree: Tree) -> bytes:
    """Return a digest of a tree and of the classes in it, then the tree."""
    text = text_of(tree).encode()
    return sha256(_signature() + text).digest() + zlib.compress(text, _LEVEL)


def _opened(data: bytes) -> Tree:
    try:
        text = zlib.decompress(data[_DIGEST_BYTES:])
    except zlib.error as error:
        raise SavedStateError(f"the saved state is damaged: {error}") from None
    if sha256(_signature() + text).digest() != data[:_DIGEST_BYTES]:
        raise SavedStateError("the saved state is damaged, or other code has saved it")
    return json.loads(text)
