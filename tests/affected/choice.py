"""Which tests a change can break, and why each was chosen."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.affected.import_graph import PACKAGES, ImportGraph, Source, read_source
from tests.tidy.spec_rules import EXTENDS

# What pytest collects besides the files of tests: the kept traces, by the plugin.
TRACES = "traces"
# The folders of pages, which include each other.
TEMPLATES = "templates"
INSTANCE = re.compile(r"\bINSTANCE\s+(\w+)")


@dataclass
class Choice:
    """The tests that a change can break, each with the way to what changed."""

    tests: dict[str, str] = field(default_factory=dict)
    unreached: list[str] = field(default_factory=list)


@dataclass
class Chooser:
    """Chooses the tests of a checkout for changed files."""

    graph: ImportGraph

    def __post_init__(self) -> None:
        self.graph.sources[TRACES] = Source(("krafla.pytest_plugin",), ())

    @property
    def root(self) -> Path:
        """Return the folder of the checkout."""
        return self.graph.root

    def choose(self, changed: list[str]) -> Choice:
        """Return the tests that reach what changed: modules, helpers, or a file that they name."""
        touched = {path: self._touched(path) for path in changed}
        choice = Choice()
        reached_files = set()
        for test in [*self.graph.tests, TRACES]:
            chain = self.graph.chains(test)
            for path, names in touched.items():
                found = [name for name in chain if name in names]
                if found:
                    reached_files.add(path)
                    choice.tests.setdefault(test, _way(chain, found[0], path))
        choice.unreached = [path for path in changed if path not in reached_files]
        return choice

    def _touched(self, path: str) -> set[str]:
        """Return the modules and files of tests that a changed file is part of, or is data of."""
        module = self.graph.module_of(path)
        if module is not None:
            return {module}
        if path in self.graph.sources:
            return {path}
        touched = self._naming(self._names_of(path))
        if path.startswith(f"{TRACES}/"):
            touched.add(TRACES)
        if path.startswith("specs/"):
            # Whatever reads the manifest may read this file by it.
            touched |= {
                test for test in self.graph.tests if "krafla.manifest" in self.graph.needs(test)
            }
        return touched | self._beside(path)

    def _names_of(self, path: str) -> set[str]:
        """Return the names by which a file that is no Python is asked for."""
        file = Path(path)
        names = {file.name}
        if file.suffix == ".tla":
            names |= self._models_of(file.stem)
        elif file.suffix == ".cfg":
            names.add(file.stem)
        elif file.parent.name == TEMPLATES:
            beside = (self.root / file.parent).iterdir()
            names |= {one.name for one in beside if file.name in one.read_text(encoding="utf-8")}
        elif path.startswith(f"{TRACES}/"):
            names |= {file.stem, *file.parent.parts[1:2]}
        return names

    def _models_of(self, spec: str) -> set[str]:
        """Return a module of TLA+, those that rest on it, and the models of them all."""
        specs = {spec}
        while more := {name for name, uses in self._uses.items() if uses & specs} - specs:
            specs |= more
        models = set()
        for listing in sorted((self.root / "specs").glob("*/models.toml")):
            for model in tomllib.loads(listing.read_text()).get("model", ()):
                if Path(model["module"]).stem in specs:
                    models.add(model["name"])
        return specs | models

    @cached_property
    def _uses(self) -> dict[str, set[str]]:
        uses = {}
        for path in sorted((self.root / "specs").rglob("*.tla")):
            text = path.read_text(encoding="utf-8")
            extended = re.findall(r"\w+", " ".join(EXTENDS.findall(text)))
            uses[path.stem] = {*extended, *INSTANCE.findall(text)}
        return uses

    def _naming(self, names: set[str]) -> set[str]:
        """Return the modules and files of tests that have one of these names in a text."""
        pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
        everything = {**self._package_sources, **self.graph.sources}
        return {
            name for name, source in everything.items() if any(map(pattern.search, source.texts))
        }

    @cached_property
    def _package_sources(self) -> dict[str, Source]:
        sources = {}
        for package, folder in PACKAGES.items():
            for path in sorted((self.root / folder / package).rglob("*.py")):
                module = self.graph.module_of(path.relative_to(self.root).as_posix())
                if module is not None:
                    sources[module] = read_source(path)
        return sources

    def _beside(self, path: str) -> set[str]:
        """Return the tests in the nearest folder of tests above a file that lies among them."""
        for folder in Path(path).parents if path.startswith("tests/") else ():
            found = {one for one in self.graph.tests if Path(one).parent == folder}
            if found:
                return found
        return set()


def _way(chain: dict[str, str | None], name: str, path: str) -> str:
    """Return how a test reaches what changed: what it imports, and at last a file of data."""
    way = [name]
    while (through := chain[way[0]]) is not None:
        way.insert(0, through)
    named = [] if path.endswith(".py") else [path]
    return " > ".join([*way[1:], *named]) or "itself"
