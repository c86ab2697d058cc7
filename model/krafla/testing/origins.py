"""The engines of ``krafla.testing``, as the origin of a trace names the one that made it."""

from __future__ import annotations

from typing import Final

__all__ = ["MACHINE", "SESSION"]

MACHINE: Final = "krafla.testing"
SESSION: Final = "krafla judge"
"""It has judged the steps of another program, which krafla cannot run."""
