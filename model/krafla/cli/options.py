"""The options that many commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Json", "Quiet", "SpecPath", "use_spec"]

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
SpecPath = Annotated[
    str | None,
    typer.Option(
        "--spec",
        metavar="PATH",
        help="The spec that judges: a .tla, a .cfg, a krafla.toml. A trace may carry its own.",
    ),
]


def use_spec(path: str | None) -> None:
    """Make the project of ``--spec`` the one at hand; ``KraflaError`` if that names none."""
    if path is not None:
        from krafla.project.asked import put_spec_at_hand

        put_spec_at_hand(path)
