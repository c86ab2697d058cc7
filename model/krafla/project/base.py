"""What every kind of project can be asked, whatever lists its models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.project.pairs import extended_by

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.project.models import Manifest, Model

__all__ = ["Machine", "Project"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine of ``krafla.testing`` that a project names: ``package.module:Class``."""

    name: str
    target: str
    place: str


class Project(ABC):
    """The modules that somebody works on, and what is said of them.

    ``folder`` is the folder that the project is about, ``listing`` the file that lists its models,
    or would list them.
    """

    folder: Path
    listing: Path

    @abstractmethod
    def manifest(self) -> Manifest:
        """Return its models; ``KraflaError`` with the place if they are listed wrongly."""

    @abstractmethod
    def rooms(self) -> tuple[Path, ...]:
        """Return the folders whose ``views.toml`` and the like say more of its modules."""

    @abstractmethod
    def modules(self) -> tuple[Path, ...]:
        """Return the files of its modules, sorted."""

    @abstractmethod
    def search_path(self, module: Path) -> tuple[Path, ...]:
        """Return the folders of the modules that a module may use, its own first."""

    def owns(self, module: Path) -> bool:
        """Return whether a module lies in one of its folders."""
        return module.parent in self.rooms()

    def named(self, name: str) -> tuple[Path, ...]:
        """Return the files of the modules of this name."""
        return tuple(path for path in self.modules() if path.stem == name)

    def default_model(self, name: str) -> Model | None:
        """Return the model that configures a module for whoever names only the module, if any.

        It is the only model of it, or the one whose cfg has its name; else the only model of a
        module that extends it.
        """
        models = self.manifest().models
        mine = [one for one in models if one.module.stem == name]
        own = [one for one in mine if one.config.stem == name]
        of_others = [one for one in models if name in extended_by(one.module)]
        return next((found[0] for found in (own, mine, of_others) if len(found) == 1), None)

    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that it names."""
        return ()

    def views(self) -> tuple[dict[str, Any], ...]:
        """Return the tables ``[[view]]`` of its own file; those of the rooms are in theirs."""
        return ()
