"""PlusCal: an algorithm that was not translated into TLA+, or was changed since.

TLC reads the translation alone, and says nothing of either.
"""

from __future__ import annotations

import re
import shlex
import shutil
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.scratch import scratch_folder
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.process import run_process

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["stale", "untranslated"]

_ALGORITHM: Final = re.compile(r"--(?:fair\s+)?algorithm\b")
_TRANSLATION: Final = re.compile(r"^\\\*+ *BEGIN TRANSLATION", re.MULTILINE)
_CHECKSUM: Final = re.compile(r'BEGIN TRANSLATION.*chksum\(pcal\) = "(\w+)"')
_SECONDS: Final = 30.0


def untranslated(modules: Iterable[Path]) -> tuple[str, Path, int] | None:
    """Return a sentence, the file and the line of the first algorithm without a translation."""
    for path in modules:
        text = _text(path)
        algorithm = _ALGORITHM.search(text)
        if algorithm is not None and _TRANSLATION.search(text) is None:
            line = text.count("\n", 0, algorithm.start()) + 1
            return f"the PlusCal algorithm is not translated: {_remedy(path)}", path, line
    return None


def stale(modules: Iterable[Path]) -> tuple[str, ...]:
    """Return a sentence for each module whose algorithm was changed after its translation.

    Only translations with a checksum tell, as translators since 2020 write it.
    """
    found = []
    for path in modules:
        checksum = _CHECKSUM.search(_text(path))
        if checksum is not None and _checksum_now(path, _text(path)) not in {None, checksum[1]}:
            found.append(
                f"{path}: the PlusCal algorithm was changed after its translation, and TLC checks "
                f"the translation: {_remedy(path)}"
            )
    return tuple(found)


def _remedy(path: Path) -> str:
    command = [str(find_jre().java), "-cp", str(find_jar().path), "pcal.trans", "-nocfg", str(path)]
    return f"{shlex.join(command)} translates it, as the editors' TLA+ extensions do"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        # Whoever reads the module for its own sake says so.
        return ""


@lru_cache(maxsize=64)
def _checksum_now(path: Path, _content: str) -> str | None:
    """Return the checksum that a translation made now would get; None if there can be none."""
    with scratch_folder("pluscal") as folder:
        copy = folder / path.name
        shutil.copyfile(path, copy)
        command = [str(find_jre().java), "-cp", str(find_jar().path), "pcal.trans", "-nocfg"]
        run_process([*command, copy.name], folder, lambda _: None, _SECONDS)
        checksum = _CHECKSUM.search(_text(copy))
        # The translator keeps the old file of a faulty algorithm, and its checksum.
        is_new = (folder / f"{path.stem}.old").is_file()
        return checksum[1] if checksum is not None and is_new else None
