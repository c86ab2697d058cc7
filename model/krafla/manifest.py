"""Read ``specs/manifest.toml``, and ``models.toml`` and ``witnesses.toml`` of the rooms it lists.

They have every model, its expected answer, and what makes that answer credible.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    *("EXPECTATIONS", "KINDS", "TIERS", "Manifest", "Model"),
    *("find_specs", "installed_specs", "load", "meant", "on_these_specs", "read_toml"),
    *("rooms_of", "witnesses_file"),
]

MANIFEST_NAME = "manifest.toml"
ROOM_NAME = "models.toml"
_WITNESSES_NAME = "witnesses.toml"
ENVIRONMENT_VARIABLE = "KRAFLA_SPECS"
TIERS = ("smoke", "full", "nightly")
EXPECTATIONS = ("holds", "violates")
KINDS = ("safety", "liveness", "refinement", "witness", "simulation")
# Folders that belong to no search path but their own: their modules break rules on purpose.
_APART = frozenset({"broken"})
_HEAD = re.compile(r"\s*\[\[\s*model\s*\]\]")
# An error lists all names if there are not more than this.
_NAMES_TOLD = 30


@dataclass(frozen=True, slots=True)
class Model:
    """One model: a module and a cfg, and the expected answer.

    ``property`` is the one that must fail if ``expect`` is ``violates``. ``distinct`` and
    ``generated`` are exact counts of states, ``properties`` is the number of properties in the cfg.
    ``untaken`` has, with its reason, each action that need not be taken. ``witnesses`` are state
    predicates that must be reached; ``witness_count`` is their number as ``witnesses.toml`` pins
    it. ``behaviours`` and ``depth`` bound a simulation. ``room`` is the folder whose
    ``models.toml`` lists the model, empty for the manifest's own.
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


def meant(name: str, known: Iterable[str]) -> str:
    """Return, for an error about a name, the known names like it; all of them if none is."""
    names = sorted(known)
    whole = {one.lower(): one for one in names}
    close = difflib.get_close_matches(name.lower(), whole, n=4, cutoff=0.6)
    part = [one for low, one in whole.items() if low not in close and name.lower() in low][:4]
    if name and (close or part):
        return f"; like it: {', '.join([whole[one] for one in close] + part)}"
    if len(names) > _NAMES_TOLD:
        return f"; there are {len(names)}, from {names[0]} to {names[-1]}: none is like it"
    return f"; there are: {', '.join(names) or 'none'}"


def find_specs() -> Path:
    """Return the folder of the specs: ``KRAFLA_SPECS``, the repository's, or the wheel's.

    ``KraflaError`` if none of them holds a manifest.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        if not (Path(chosen) / MANIFEST_NAME).is_file():
            raise KraflaError(f"{ENVIRONMENT_VARIABLE} holds no {MANIFEST_NAME}", chosen)
        return Path(chosen).resolve()
    found = installed_specs()
    if found is not None:
        return found
    raise KraflaError(
        f"no specs/{MANIFEST_NAME} beside this installation; set it with KRAFLA_SPECS"
    )


def installed_specs() -> Path | None:
    """Return the folder of the specs of the repository or the wheel; ``None`` if there is none."""
    package = Path(str(resources.files("krafla")))
    for folder in (package / "specs", package.parent.parent / "specs"):
        if (folder / MANIFEST_NAME).is_file():
            return folder.resolve()
    return None


def on_these_specs(command: str) -> str:
    """Return a command for the shell that reads the same specs as this process does."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    return f"{ENVIRONMENT_VARIABLE}={shlex.quote(chosen)} {command}" if chosen else command


def load(specs: Path | None = None) -> Manifest:
    """Return the manifest of a folder of specs (by default the one ``find_specs`` finds).

    ``KraflaError`` names the line, the model and the key at fault.
    """
    folder = specs.resolve() if specs is not None else find_specs()
    path = folder / MANIFEST_NAME
    text, data = read_toml(path)
    unknown = sorted(data.keys() - {"rooms", "model"})
    rooms = data.get("rooms", [])
    if unknown or not isinstance(rooms, list) or not all(isinstance(one, str) for one in rooms):
        raise KraflaError("a manifest consists of rooms and [[model]] tables", str(path))
    _refuse_forgotten(folder, path, rooms)
    tree = _Tree(folder, _folders_of_modules(folder))
    models = _models(tree, path, text, data, "")
    for room in rooms:
        listing = folder / room / ROOM_NAME
        text, data = read_toml(listing)
        models += _models(tree, listing, text, data, room)
    _refuse_duplicates(models)
    listed = {model.config for model in models}
    configs = sorted(config.resolve() for config in folder.rglob("*.cfg"))
    return Manifest(path, models, tuple(config for config in configs if config not in listed))


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
        raise KraflaError(error.strerror or str(error), str(path)) from error


def _models(
    tree: _Tree, path: Path, text: str, data: dict[str, Any], room: str
) -> tuple[Model, ...]:
    entries = data.get("model", [])
    if (room and data.keys() - {"model"}) or not isinstance(entries, list):
        raise KraflaError("a list of models consists of [[model]] tables only", str(path))
    lines = text.splitlines()
    heads = [n for n, line in enumerate(lines) if _HEAD.match(line)]
    parts = list(pairwise([*heads, len(lines)]))
    if len(parts) != len(entries):
        # TOML may be written in other ways; then the place of each is the whole file.
        parts = [(0, len(lines))] * len(entries)
    models = tuple(
        _Entry(path, start, lines[start:end], entry).model(tree, room)
        for (start, end), entry in zip(parts, entries, strict=True)
    )
    counts = _witness_counts(path, {model.name for model in models})
    return tuple(replace(model, witness_count=counts.get(model.name)) for model in models)


def witnesses_file(model: Model) -> Path:
    """Return the file that pins the number of a model's witnesses: beside the list of models.

    In another file than the list, so that an edit that removes a witness does not also lower the
    number.
    """
    return Path(model.place.rpartition(":")[0]).with_name(_WITNESSES_NAME)


def _witness_counts(listing: Path, known: Collection[str]) -> dict[str, int]:
    path = listing.with_name(_WITNESSES_NAME)
    if not path.is_file():
        return {}
    text, data = read_toml(path)
    for name, count in data.items():
        if name not in known or type(count) is not int or count < 0:
            what = f"no model {name!r} in {listing.name}" if name not in known else "no number"
            lines = enumerate(text.splitlines(), 1)
            number = next((n for n, one in lines if one.strip(" \t[\"'").startswith(name)), 1)
            raise KraflaError(f"{name} = {count!r}: {what}", f"{path}:{number}")
    return data


def _refuse_forgotten(folder: Path, manifest: Path, rooms: list[str]) -> None:
    found = sorted(one.parent.relative_to(folder).as_posix() for one in folder.rglob(ROOM_NAME))
    for room in found:
        if room not in rooms:
            raise KraflaError(f"rooms does not list {room}, which has a {ROOM_NAME}", str(manifest))


def rooms_of(folder: Path) -> tuple[Path, ...]:
    """Return the folders of the rooms, in the manifest's order, that are there."""
    rooms = read_toml(folder / MANIFEST_NAME)[1].get("rooms", [])
    return tuple(path for room in rooms if (path := folder / str(room)).is_dir())


def search_path(folder: Path, module: Path) -> tuple[Path, ...]:
    """Return where modules are looked for: beside the module, in ``lib``, in the other rooms."""
    return _Tree(folder, _folders_of_modules(folder)).search_path(module)


class _Tree(NamedTuple):
    """The folder of the specs, and those in it that have modules: looked for once."""

    folder: Path
    rooms: tuple[Path, ...]

    def search_path(self, module: Path) -> tuple[Path, ...]:
        lib = self.folder / "lib"
        others = [room for room in self.rooms if room not in (module.parent, lib)]
        return (module.parent, lib, *others)


def _folders_of_modules(folder: Path) -> tuple[Path, ...]:
    rooms = sorted({one.parent for one in folder.rglob("*.tla")})
    return tuple(one for one in rooms if not _APART.intersection(one.relative_to(folder).parts))


def _refuse_duplicates(models: tuple[Model, ...]) -> None:
    seen: dict[str, Model] = {}
    for model in models:
        first = seen.setdefault(model.name, model)
        if first is not model:
            raise KraflaError(f"model {model.name!r} stands also at {first.place}", model.place)


# For each key: its type, and whether it must be there.
_KEYS: dict[str, tuple[type, bool]] = {
    "name": (str, True),
    "module": (str, True),
    "cfg": (str, True),
    "tier": (str, True),
    "expect": (str, True),
    "property": (str, False),
    "kind": (str, True),
    "distinct": (int, False),
    "generated": (int, False),
    "properties": (int, False),
    "actions": (str, False),
    "untaken": (dict, False),
    "witnesses": (list, False),
    "tags": (list, False),
    "bounds": (str, True),
    "spec": (str, True),
    "workers": (int, False),
    "behaviours": (int, False),
    "depth": (int, False),
}
# Those whose value becomes the field of the same name unchanged.
_PLAIN_KEYS = (
    *("name", "spec", "tier", "expect", "property", "kind", "distinct", "generated", "bounds"),
    *("properties", "workers", "behaviours", "depth"),
)
_CHOICES = {"tier": TIERS, "expect": EXPECTATIONS, "kind": KINDS, "actions": ("all",)}


class _Entry:
    """One ``[[model]]`` table, read key by key, with the lines it came from."""

    def __init__(self, path: Path, start: int, lines: list[str], data: dict[str, Any]) -> None:
        self.path, self.start, self.lines, self.data = path, start, lines, data

    def place(self, key: str | None = None) -> str:
        for offset, line in enumerate(self.lines):
            if key is not None and re.match(rf"\s*\[?(?:model\.)?{re.escape(key)}\b", line):
                return f"{self.path}:{self.start + offset + 1}"
        return f"{self.path}:{self.start + 1}"

    def error(self, message: str, key: str | None = None) -> KraflaError:
        name = self.data.get("name")
        who = f"model {name!r}" if isinstance(name, str) else "this model"
        return KraflaError(f"{who}: {message}", self.place(key))

    def check(self) -> None:
        for key in self.data:
            if key not in _KEYS:
                raise self.error(f"there is no key {key!r}; known: {', '.join(_KEYS)}", key)
        for key, (kind, required) in _KEYS.items():
            value = self.data.get(key)
            if value is None:
                if required:
                    raise self.error(f"the key {key!r} is missing")
            elif type(value) is not kind:
                raise self.error(f"{key!r} must be of type {kind.__name__}, found {value!r}", key)
            elif key in _CHOICES and value not in _CHOICES[key]:
                choices = ", ".join(_CHOICES[key])
                raise self.error(f"{key!r} is one of {choices}, found {value!r}", key)
            elif isinstance(value, int) and value < (least := 0 if key == "properties" else 1):
                raise self.error(f"{key!r} must be at least {least}, found {value}", key)
        self.check_sense()

    def check_sense(self) -> None:
        fails = self.data["expect"] == "violates"
        if fails and not self.data.get("property"):
            raise self.error("expect = 'violates' needs the 'property' that must fail", "expect")
        if not fails and "property" in self.data:
            raise self.error("'property' has a meaning only if expect = 'violates'", "property")
        simulated = self.data["kind"] == "simulation"
        if simulated and "behaviours" not in self.data:
            raise self.error("kind = 'simulation' needs the number of 'behaviours'", "kind")
        for action, reason in self.data.get("untaken", {}).items():
            if not isinstance(reason, str) or not reason.strip():
                raise self.error(f"'untaken' gives no reason for {action}", "untaken")
        for witness in self.data.get("witnesses", []):
            if not isinstance(witness, str) or not re.fullmatch(r"\w+", witness):
                raise self.error(f"'witnesses' lists names, found {witness!r}", "witnesses")
        for tag in self.data.get("tags", []):
            if not isinstance(tag, str) or not re.fullmatch(r"[\w-]+", tag):
                raise self.error(f"'tags' lists words, found {tag!r}", "tags")

    def file(self, folder: Path, key: str) -> Path:
        path = (folder / str(self.data[key])).resolve()
        if not path.is_file():
            raise self.error(f"there is no file {self.data[key]}", key)
        return path

    def model(self, tree: _Tree, room: str) -> Model:
        self.check()
        module = self.file(tree.folder, "module")
        return Model(
            module=module,
            config=self.file(tree.folder, "cfg"),
            search_path=tree.search_path(module),
            witnesses=tuple(self.data.get("witnesses", ())),
            untaken=tuple(self.data.get("untaken", {}).items()),
            room=room,
            tags=tuple(self.data.get("tags", ())),
            place=self.place("name"),
            **{key: self.data[key] for key in _PLAIN_KEYS if key in self.data},
        )
