"""What every kind of project can be asked, whatever lists its models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.project.models import Manifest

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

    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that it names."""
        return ()

    def views(self) -> tuple[dict[str, Any], ...]:
        """Return the tables ``[[view]]`` of its own file; those of the rooms are in theirs."""
        return ()
