"""The models that the arguments of a command ask for: by name, or by a path."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.project.at_hand import (
    at_hand,
    is_given,
    listing_above,
    project_at,
    projects_about,
    put_at_hand,
)
from krafla.project.models import Listing, argument_of, meant
from krafla.project.pairs import pair_for
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.project.models import Manifest, Model

__all__ = [
    *("asked_models", "is_path", "names_asked", "put_spec_at_hand", "put_spec_of_trace_at_hand"),
    "the_name",
]

# Farther away than this a whole path is easier to read.
_FAR: Final = str(Path("..", ".."))
# An error lists so many models.
_TOLD: Final = 30
_ENDINGS: Final = (".tla", ".cfg", ".toml")


def is_path(word: str) -> bool:
    """Return whether an argument is a path of specs, and no name of a model."""
    return word.endswith(_ENDINGS) or os.sep in word or Path(word).is_dir()


def names_asked(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the models that arguments ask for; none of them: all of the project.

    If there are paths among the arguments, their project becomes the one at hand. A path that a
    ``krafla.toml`` or ``manifest.toml`` above it lists asks for the models that are listed with
    it. ``KraflaError`` if a path is not there, or if they are of several projects.
    """
    paths = [Path(word) for word in words if is_path(word)]
    names = tuple(word for word in words if not is_path(word))
    if not paths:
        return names
    for path in paths:
        _refuse_missing(path)
    listings = {path: _listing_of(path) for path in paths}
    found = [listing for listing in listings.values() if listing is not None]
    is_whole = any(path.is_dir() or path.suffix == ".toml" for path in paths)
    if not found:
        project = put_at_hand(tuple(paths))
        return names if is_whole else (*names, *(one.name for one in project.manifest().models))
    first = found[0]
    other = next((path for path, one in listings.items() if one != first), None)
    if other is not None:
        raise KraflaError(
            f"is not in the project of {first}: one command asks about one", str(other)
        )
    _put_listing_at_hand(first)
    models = at_hand().manifest().models
    chosen = dict.fromkeys(one.name for path in paths for one in _under(models, path))
    if is_whole and len(chosen) == len(models):
        return names
    return (*names, *chosen)


def put_spec_at_hand(word: str) -> None:
    """Make the project of ``--spec`` the one at hand; ``KraflaError`` if that names none."""
    path = Path(word)
    _refuse_missing(path)
    put_at_hand((_listing_of(path) or path,), f" --spec {shlex.quote(word)}")


def put_spec_of_trace_at_hand(spec: str, path: Path) -> None:
    """Make the spec of a trace in a file the project at hand, if it is not known.

    It is looked for in the project of the file, beside the file, and in the working directory.
    """
    if is_given() or _is_known(spec):
        return
    listing = listing_above(path)
    beside = [folder / f"{spec}.tla" for folder in (path.parent, Path())]
    for one in filter(None, (listing, *beside)):
        if one.is_file() and project_at((one,)).named(spec):
            put_at_hand((one,))
            return


def _is_known(spec: str) -> bool:
    try:
        return any(project.named(spec) for project in projects_about(spec))
    except KraflaError:
        return False


def the_name(names: Sequence[str], known: Sequence[Model]) -> str:
    """Return the name of the one model that is asked for; ``KraflaError`` tells which there are.

    No name is enough where the project has one model.
    """
    found = names or [one.name for one in known]
    if not known:
        raise KraflaError("there is no model here: a .cfg beside its .tla makes one")
    if len(found) != 1 and len(known) > _TOLD:
        raise KraflaError("name one model; `krafla check --list` shows them")
    if len(found) != 1:
        raise KraflaError(f"name one model; there are: {', '.join(map(argument_of, known))}")
    return found[0]


def asked_models(manifest: Manifest, *, by_path: bool) -> Manifest:
    """Return the models of a project, each with the argument that selects it from this folder."""
    if not by_path:
        return manifest
    models = tuple(replace(one, asked_by=_argument(one)) for one in manifest.models)
    return replace(manifest, models=models)


def _argument(model: Model) -> str:
    config, module = model.config, model.module
    is_own = config.with_suffix(".tla") == module and model.listing is Listing.PATH
    path = module if is_own else config
    near = os.path.relpath(path)
    return str(path) if near.startswith(_FAR) else near


def _refuse_missing(path: Path) -> None:
    if path.exists():
        return
    folder = path.parent
    there = sorted(one.name for one in folder.glob(f"*{path.suffix}")) if folder.is_dir() else []
    raise KraflaError(f"there is no such file{meant(path.name, there) if there else ''}", str(path))


def _listing_of(path: Path) -> Path | None:
    """Return the file that lists what a path asks for; ``None`` if none does."""
    listing = listing_above(path)
    if listing is None or path.resolve() in {listing, listing.parent}:
        return listing
    models = project_at((listing,)).manifest().models
    return listing if any(_under(models, path)) else None


def _put_listing_at_hand(listing: Path) -> None:
    try:
        is_at_hand = at_hand().listing == listing
    except KraflaError:
        is_at_hand = False
    if not is_at_hand:
        put_at_hand((listing,))


def _under(models: Sequence[Model], path: Path) -> Iterator[Model]:
    """Yield the models that a path asks for: of a cfg, of a module with its cfg, of a folder."""
    whole = path.resolve()
    if whole.is_dir():
        yield from (one for one in models if one.config.is_relative_to(whole))
    elif whole.suffix == ".cfg":
        yield from (one for one in models if one.config == whole)
    elif whole.suffix == ".toml":
        yield from models
    else:
        of_module = [one for one in models if one.module == whole]
        if len(of_module) > 1:
            config = pair_for(whole).config
            of_module = [one for one in of_module if one.config == config]
        yield from of_module
