"""Which krafla gave an answer."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from krafla.tlc.inputs import digest_of
from krafla.tlc.jar import SHA256

__all__ = ["version"]

MODEL = Path(__file__).resolve().parents[2] / "model"


@cache
def version() -> str:
    """Return a digest of the sources of krafla, of what asks it here, and of the pinned TLC."""
    files = [one for one in MODEL.rglob("*") if one.is_file() and "__pycache__" not in one.parts]
    files += [Path(__file__).with_name(f"{name}.py") for name in ("traces", "trial")]
    parts = [SHA256.encode()]
    for path in sorted(files):
        parts += [path.name.encode(), path.read_bytes()]
    return digest_of(*parts)
