"""``specs/MODELS.md``: every model of the manifest, as a page of tables."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.manifest import Model

__all__ = ["COMMAND", "models_page"]

COMMAND = "krafla check --list --tier all --markdown > specs/MODELS.md"
_HEAD = """# The models

Made from the `models.toml` of the rooms by `{command}`.
A model that holds has exactly so many distinct states, takes every action but those it names with
a reason, and reaches its witnesses. A model that must fail breaks the property that stands here.
"""
_COLUMNS = (
    "| model | tier | kind | answer | distinct states | bounds |\n|---|---|---|---|---:|---|\n"
)


def models_page(models: Iterable[Model]) -> str:
    """Return the page: one table for each room, in the order of the manifest."""
    parts = [_HEAD.format(command=COMMAND)]
    for room, members in groupby(models, key=lambda model: model.room):
        parts.append(f"\n## {room or 'Others'}\n\n{_COLUMNS}" + "".join(map(_row, members)))
    return "".join(parts)


def _row(model: Model) -> str:
    answer = "holds" if model.expect == "holds" else f"`{model.property}` fails"
    distinct = "-" if model.distinct is None else f"{model.distinct:,}"
    bounds = model.bounds.replace("|", "\\|")
    return f"| `{model.name}` | {model.tier} | {model.kind} | {answer} | {distinct} | {bounds} |\n"
