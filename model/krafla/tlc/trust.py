"""Which Java of a spec's library the user lets TLC run.

The jar of the CommunityModules has Java that overrides operators, and some of it reads and writes
files or starts programs (IOExec). So it runs only after the user has said once that this very jar,
by its digest, may.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.files import write_text
from krafla.tlc.community import find_community
from krafla.tlc.jar import sha256_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.tlc.capabilities import Capabilities

__all__ = ["trust", "trusted_jar"]

# A jar with the Java of the CommunityModules needs a TLC that has this operator's module.
_NEWER = "TLCExt"


def trusted_jar(capabilities: Capabilities) -> Path | None:
    """Return the jar of the CommunityModules, if the user trusts it and this TLC can load it."""
    community = find_community()
    if community is None or community.jar is None or _NEWER not in capabilities.modules:
        return None
    return community.jar if sha256_of(community.jar) in _digests() else None


def trust() -> Path:
    """Remember that the Java in the jar of the CommunityModules may run; return the jar.

    ``KraflaError`` if there is no such jar, or the memory cannot be written.
    """
    community = find_community()
    if community is None or community.jar is None:
        raise KraflaError(
            "there is no jar of CommunityModules to trust: KRAFLA_COMMUNITY_MODULES can name a "
            "CommunityModules-deps.jar"
        )
    digests = _digests() | {sha256_of(community.jar)}
    path = _memory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path.parent)) from error
    write_text(path, "".join(f"{digest}\n" for digest in sorted(digests)))
    return community.jar


def _memory() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "krafla" / "trusted-java"


def _digests() -> frozenset[str]:
    try:
        return frozenset(_memory().read_text(encoding="utf-8").split())
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise KraflaError(f"cannot be read: {error}", str(_memory())) from error
