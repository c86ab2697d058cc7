"""A working skeleton of a project: a spec, code, a test, a file for CI."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

from krafla.files import made_folder, write_text
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_skeleton"]

# Each file of the skeleton, and where its text lies here: nothing here is code of krafla.
_FILES: Final = {
    "Lock.tla": "Lock.tla",
    "Lock.cfg": "Lock.cfg",
    "krafla.toml": "krafla.toml",
    "lock_server.py": "lock_server.py.txt",
    "test_lock.py": "test_lock.py.txt",
    ".github/workflows/krafla.yml": "workflow.yml.txt",
    ".gitignore": "gitignore.txt",
}
# Nearly every project has one before.
_MAY_STAY: Final = ".gitignore"


def write_skeleton(folder: Path) -> tuple[Path, ...]:
    """Write the skeleton into a folder, made if it is not there; return the files.

    ``KraflaError`` if one of them is there already, or cannot be written; then nothing is.
    """
    made_folder(folder, "krafla init")
    paths = {folder / name: source for name, source in _FILES.items()}
    if (folder / _MAY_STAY).exists():
        del paths[folder / _MAY_STAY]
    there = [path for path in paths if path.exists()]
    if there:
        names = ", ".join(path.relative_to(folder).as_posix() for path in there)
        raise KraflaError(f"has {names} already: nothing is overwritten", str(folder))
    texts = resources.files(__name__) / "lock"
    for path, source in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, [(texts / source).read_text(encoding="utf-8")])
    return tuple(paths)
