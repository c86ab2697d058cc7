"""All histories that break a property, from every module here called breaking_*."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.krafla.fuzz.raft.breaking import HISTORIES

__all__ = ["HISTORIES"]

for path in sorted(Path(__file__).parent.glob("breaking_*.py")):
    importlib.import_module(f"tests.krafla.fuzz.raft.{path.stem}")
