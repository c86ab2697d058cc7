"""The options that many commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Json", "Quiet", "SpecPath", "names_in", "use_spec"]

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
SpecPath = Annotated[
    str | None,
    typer.Option(
        "--spec",
        metavar="PATH",
        help="The spec: a .tla, a .cfg, a krafla.toml; by default the text of it that the trace "
        "carries, else that of the project.",
    ),
]


def names_in(given: Sequence[str] | None) -> list[str]:
    """Return the names of an option that can be repeated and takes commas, too."""
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]


def use_spec(path: str | None) -> None:
    """Make the project of ``--spec`` the one at hand; ``KraflaError`` if that names none."""
    if path is not None:
        from krafla.project.asked import put_spec_at_hand

        put_spec_at_hand(path)
