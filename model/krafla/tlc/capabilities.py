"""The options of a TLC jar, read from the constants of its classes without starting a JVM."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["EXTRA_KEYWORDS", "Capabilities", "inspect"]

_OPTIONS = frozenset(
    {"-continue", "-coverage", "-dump", "-dumpTrace", "-generateSpecTE", "-noTE", "-simulate"}
)
# What a search reaches does not depend on these, so a jar that lacks one can do without.
EXTRA_KEYWORDS = ("ALIAS", "POSTCONDITION", "_PERIODIC", "_POSSIBLE", "_RL_REWARD")
_KEYWORDS = frozenset({"CHECK_DEADLOCK", "VIEW", *EXTRA_KEYWORDS})
_MODEL_CONFIG = ("tlc2/tool/impl/ModelConfig.class", "tlc2/tool/ModelConfig.class")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The version a jar states, the options its TLC takes and the words its cfg may hold."""

    version: str
    options: frozenset[str]
    keywords: frozenset[str]
    modules: frozenset[str]

    def has(self, name: str) -> bool:
        """Return whether the jar has an option (``-dumpTrace``) or a cfg keyword (``ALIAS``)."""
        return name in self.options or name in self.keywords

    def names(self) -> list[str]:
        """Return every option and keyword found, sorted, for a report."""
        return sorted(self.options | self.keywords)


def inspect(path: Path) -> Capabilities:
    """Return the capabilities of a jar; ``KraflaError`` if it is no jar with TLC in it."""
    try:
        with zipfile.ZipFile(path) as jar:
            names = frozenset(jar.namelist())
            if "tlc2/TLC.class" not in names:
                raise KraflaError("there is no TLC in this jar (tlc2.TLC)", str(path))
            options = set(_strings(jar.read("tlc2/TLC.class")))
            config = next((name for name in _MODEL_CONFIG if name in names), None)
            keywords = set(_strings(jar.read(config))) if config else set()
            globals_ = "tlc2/TLCGlobals.class"
            versions = list(_strings(jar.read(globals_))) if globals_ in names else []
    except (OSError, zipfile.BadZipFile) as error:
        raise KraflaError("not a readable jar", str(path)) from error
    except (IndexError, ValueError) as error:
        raise KraflaError(f"a class of this jar cannot be read: {error}", str(path)) from error
    version = next((text for text in versions if text.startswith("Version ")), "unknown version")
    modules = frozenset(
        name.rpartition("/")[2].removesuffix(".tla") for name in names if name.endswith(".tla")
    )
    return Capabilities(
        version.removeprefix("Version "),
        frozenset(_OPTIONS & options),
        frozenset(_KEYWORDS & keywords),
        modules,
    )


# Sizes of a constant pool's entries by tag, without the tag itself (JVM specification 4.4).
_ENTRY_BYTES = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4,
    15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip
_UTF8 = 1
# A long or double takes two numbers of the pool.
_DOUBLE_SLOT = frozenset({5, 6})


def _strings(class_file: bytes) -> Iterator[str]:
    """Yield every string constant of a class file."""
    count = int.from_bytes(class_file[8:10], "big")
    offset, index = 10, 1
    while index < count:
        tag = class_file[offset]
        offset += 1
        if tag == _UTF8:
            length = int.from_bytes(class_file[offset : offset + 2], "big")
            offset += 2
            yield class_file[offset : offset + length].decode("utf-8", errors="replace")
            offset += length
        elif tag in _ENTRY_BYTES:
            offset += _ENTRY_BYTES[tag]
        else:
            raise ValueError(f"constant pool tag {tag}")
        index += 2 if tag in _DOUBLE_SLOT else 1
