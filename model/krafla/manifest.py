"""The specs and models of the project at hand, as most rooms ask for them.

`krafla.project` says which project that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.project.asked import asked_models
from krafla.project.at_hand import at_hand, installed_specs, is_given, on_this_project, project_at
from krafla.project.model_tables import witnesses_file
from krafla.project.models import EXPECTATIONS, KINDS, TIERS, Manifest, Model, meant, read_toml

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "EXPECTATIONS",
    "KINDS",
    "TIERS",
    "Manifest",
    "Model",
    "find_specs",
    "installed_specs",
    "load",
    "meant",
    "on_these_specs",
    "read_toml",
    "search_path",
    "witnesses_file",
]


def find_specs() -> Path:
    """Return the folder of the project at hand; ``KraflaError`` if there is none."""
    return at_hand().folder


def load(specs: Path | None = None) -> Manifest:
    """Return the models of a folder of specs, by default of the project at hand.

    ``KraflaError`` names the line, the model and the key at fault.
    """
    if specs is not None:
        return project_at((specs,)).manifest()
    return asked_models(at_hand().manifest(), by_path=is_given())


def search_path(folder: Path, module: Path) -> tuple[Path, ...]:
    """Return where modules that a module of a folder of specs may use are looked for."""
    return project_at((folder,)).search_path(module)


on_these_specs = on_this_project
