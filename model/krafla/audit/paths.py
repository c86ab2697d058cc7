"""The check of the paths of an audit, before its larger modules are imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def check_paths(paths: Iterable[Path]) -> None:
    """Raise KraflaError for a path that is not there: it is mistyped."""
    for path in paths:
        if not path.exists():
            raise KraflaError("there is no such file or folder", printable(str(path)))
