"""The options that many commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Json", "Quiet"]

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
