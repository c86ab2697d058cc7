"""A model of a spec, and the list of them that a project has."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from krafla.files import unread
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = [
    *("EXPECTATIONS", "KINDS", "TIERS", "Listing", "Manifest", "Model", "argument_of", "meant"),
    *("is_like", "read_toml"),
]

TIERS = ("smoke", "full", "nightly")
EXPECTATIONS = ("holds", "violates")
KINDS = ("safety", "liveness", "refinement", "witness", "simulation")
# An error lists all names if there are not more than this.
_NAMES_TOLD = 30


class Listing(Enum):
    """What lists a model; it decides what a run of the model must show to be believed."""

    MANIFEST = "manifest"
    PROJECT = "project"
    PATH = "path"

    @property
    def needs_pins(self) -> bool:
        """Return whether a number that is not pinned is a doubt, and not only a note."""
        return self is Listing.MANIFEST

    @property
    def needs_actions(self) -> bool:
        """Return whether an action that was never taken is a doubt, and not only a note."""
        return self is not Listing.PATH


@dataclass(frozen=True, slots=True)
class Model:
    """One model: a module and a cfg, and the expected answer.

    ``property`` is the one that must fail if ``expect`` is ``violates``. ``distinct`` and
    ``generated`` are exact counts of states, ``properties`` is the number of properties in the cfg.
    ``untaken`` has, with its reason, each action that need not be taken. ``witnesses`` are state
    predicates that must be reached; ``witness_count`` is their number as ``witnesses.toml`` pins
    it. ``behaviours`` and ``depth`` bound a simulation. ``room`` is the folder whose
    ``models.toml`` lists the model, empty for the manifest's own. ``place`` is the line that lists
    it, empty for a model of a bare path. ``asked_by`` is the argument of a command that selects it
    from the working directory, if its name does not.
    """

    name: str
    module: Path
    config: Path
    search_path: tuple[Path, ...]
    spec: str
    tier: str = "smoke"
    expect: str = "holds"
    property: str | None = None
    kind: str = "safety"
    distinct: int | None = None
    generated: int | None = None
    properties: int | None = None
    untaken: tuple[tuple[str, str], ...] = ()
    witnesses: tuple[str, ...] = ()
    witness_count: int | None = None
    bounds: str = ""
    workers: int | None = None
    behaviours: int | None = None
    depth: int = 100
    room: str = ""
    tags: tuple[str, ...] = ()
    place: str = ""
    listing: Listing = Listing.MANIFEST
    asked_by: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The models in the order of the files, and the cfg files that no model names."""

    path: Path
    models: tuple[Model, ...]
    unlisted: tuple[Path, ...]

    def select(self, names: tuple[str, ...] = (), tier: str | None = None) -> tuple[Model, ...]:
        """Return the named models, or all of a tier, or all; ``KraflaError`` for a name unknown."""
        by_name = {model.name: model for model in self.models}
        unknown = [name for name in names if name not in by_name]
        if unknown:
            raise KraflaError(
                f"no model {unknown[0]!r}{meant(unknown[0], by_name)}", str(self.path)
            )
        chosen = [by_name[name] for name in dict.fromkeys(names)] if names else list(self.models)
        return tuple(model for model in chosen if tier is None or model.tier == tier)


def argument_of(model: Model) -> str:
    """Return the argument of a command that selects a model from the working directory."""
    return model.asked_by or model.name


def meant(name: str, known: Iterable[str]) -> str:
    """Return, for an error about a name, which known names may be meant; all if none is like it."""
    names = sorted(known)
    whole = {one.lower(): one for one in names}
    close = difflib.get_close_matches(name.lower(), whole, n=4, cutoff=0.6)
    part = [one for low, one in whole.items() if low not in close and name.lower() in low][:4]
    if name and (close or part):
        return f"; did you mean {' or '.join([whole[one] for one in close] + part)}?"
    if len(names) > _NAMES_TOLD:
        return f"; there are {len(names)}, from {names[0]} to {names[-1]}: none is like it"
    return f"; there are: {', '.join(names) or 'none'}"


def is_like(name: str, known: str) -> bool:
    """Return whether a name may be a misspelling of a known one, as ``meant`` has it."""
    low, other = name.lower(), known.lower()
    return low in other or bool(difflib.get_close_matches(low, [other], cutoff=0.6))


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and its content; ``KraflaError`` has the place."""
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KraflaError(f"not TOML: {error}", str(path)) from error
    except UnicodeDecodeError as error:
        raise KraflaError("not UTF-8 text", f"{path}, byte {error.start}") from error
    except OSError as error:
        raise unread(path, error) from error
