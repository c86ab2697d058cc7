"""The tables ``[[model]]`` of a list of models: every key checked, every error with its line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krafla.project.models import EXPECTATIONS, KINDS, TIERS, Listing, Model, read_toml
from krafla.project.tables import tables_in
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from krafla.project.tables import Table

__all__ = ["Base", "models_in", "refuse_duplicates", "witnesses_file"]

_WITNESSES_NAME = "witnesses.toml"


class Base(NamedTuple):
    """The folders in which the files of a table are looked for, and what its kind of list means.

    ``search_path`` gives the folders of the modules that a module may use.
    """

    folders: tuple[Path, ...]
    search_path: Callable[[Path], tuple[Path, ...]]
    listing: Listing = Listing.MANIFEST


def models_in(base: Base, path: Path, text: str, entries: Any, room: str = "") -> tuple[Model, ...]:
    """Return the models of the tables that a file has, whose text and tables these are.

    ``KraflaError`` names the line, the model and the key at fault.
    """
    models = tuple(
        _Entry(table).model(base, room) for table in tables_in(path, text, "model", entries)
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


def refuse_duplicates(models: tuple[Model, ...]) -> None:
    """Raise ``KraflaError`` with both places if two models have one name."""
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

    def __init__(self, table: Table) -> None:
        self.table, self.data = table, table.data

    def error(self, message: str, key: str | None = None) -> KraflaError:
        name = self.data.get("name")
        subject = f"model {name!r}" if isinstance(name, str) else "this model"
        return KraflaError(f"{subject}: {message}", self.table.place(key))

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

    def file(self, folders: tuple[Path, ...], key: str) -> Path:
        name = str(self.data[key])
        found = next((path for one in folders if (path := one / name).is_file()), None)
        if found is None:
            raise self.error(f"there is no file {name}", key)
        return found.resolve()

    def model(self, base: Base, room: str) -> Model:
        self.check()
        module = self.file(base.folders, "module")
        return Model(
            module=module,
            config=self.file(base.folders, "cfg"),
            search_path=base.search_path(module),
            witnesses=tuple(self.data.get("witnesses", ())),
            untaken=tuple(self.data.get("untaken", {}).items()),
            room=room,
            tags=tuple(self.data.get("tags", ())),
            place=self.table.place("name"),
            listing=base.listing,
            **{key: self.data[key] for key in _PLAIN_KEYS if key in self.data},
        )
