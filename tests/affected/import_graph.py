"""What each test can reach: by imports, and by the names through which modules load modules.

`krafla` loads some modules by name: those of commands and of protocols. If a test reaches such a
loader, it reaches each module whose name stands in a string of the test, or of a helper that it
imports; if none does, it reaches all modules of that loader.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import grimp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGES = {"kraft": "impl", "krafla": "model"}
# Folders whose programs tests import by the path from there, or start by their names.
PROGRAMS = (".ci", "bench")
# A module that loads others by name, with the pattern of what it loads.
LOADERS = {
    "krafla.cli": re.compile(r"krafla\.cli\.(\w+)"),
    "krafla.fuzz.engine.system": re.compile(r"krafla\.fuzz\.(\w+)\.(?:system|mutants)"),
}
SPEC_FACTS = "krafla.traces.spec_facts"
DOTTED = re.compile(r"\b(?:kraft|krafla|tests)(?:\.\w+)+")


@dataclass(frozen=True, slots=True)
class Source:
    """What one file imports, and every word in its texts, docstrings left out."""

    imports: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def words(self) -> set[str]:
        """Return the words, with and without what surrounds them in a path."""
        return {word for text in self.texts for word in re.findall(r"\w+", text)}


@dataclass
class ImportGraph:
    """The modules of both packages and the files of `tests`, with what each needs."""

    root: Path
    modules: dict[str, set[str]]
    sources: dict[str, Source] = field(default_factory=dict)
    _needed: dict[str, list[str]] = field(default_factory=dict)
    _chains: dict[str, dict[str, str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path) -> ImportGraph:
        """Return the graph of a checkout, whose packages must be importable."""
        built = grimp.build_graph(
            *PACKAGES,
            exclude_type_checking_imports=True,
            cache_dir=str(root / ".import_linter_cache"),
        )
        modules = {
            name: set(built.find_modules_directly_imported_by(name)) for name in built.modules
        }
        # Importing a module runs the packages that it is in.
        for name, needs in modules.items():
            needs |= {name.rsplit(".", 1)[0]} if "." in name else set()
        # What specs/*/traces.toml names is loaded with the facts of any spec.
        for path in sorted((root / "specs").glob("*/traces.toml")):
            found = {*DOTTED.findall(path.read_text(encoding="utf-8"))}
            modules[SPEC_FACTS] |= found & {*modules}
        graph = cls(root, modules)
        for folder in ("tests", *PROGRAMS):
            for path in sorted((root / folder).rglob("*.py")):
                graph.sources[path.relative_to(root).as_posix()] = read_source(path)
        return graph

    def module_of(self, path: str) -> str | None:
        """Return the name of the module in a file; None if it is in neither package."""
        for package, folder in PACKAGES.items():
            if path.startswith(f"{folder}/{package}") and path.endswith(".py"):
                dotted = path.removeprefix(f"{folder}/").removesuffix(".py").replace("/", ".")
                return dotted.removesuffix(".__init__")
        return None

    @cached_property
    def tests(self) -> list[str]:
        """Return the files that have tests."""
        return [path for path in self.sources if path.rsplit("/", 1)[-1].startswith("test_")]

    def chains(self, test: str) -> dict[str, str | None]:
        """Return all that a test reaches, each with that through which it is first reached."""
        if test not in self._chains:
            self._chains[test] = self._followed(test)
        return self._chains[test]

    def _followed(self, test: str) -> dict[str, str | None]:
        reached: dict[str, str | None] = {test: None}
        queue = deque([test])
        loaders = set(LOADERS)
        while queue:
            here = queue.popleft()
            _add(reached, queue, self.needs(here), here)
            if not queue:
                # The words are complete once all imports have been followed.
                words = self._words(reached)
                for loader in sorted(one for one in loaders if self._is_used(one, reached)):
                    loaders.remove(loader)
                    _add(reached, queue, self._loaded(loader, words), loader)
        return reached

    def _words(self, reached: Iterable[str]) -> set[str]:
        """Return the words of the files of tests among what is reached."""
        found: set[str] = set()
        for name in reached:
            if name in self.sources:
                found |= self.sources[name].words
        return found

    def _is_used(self, loader: str, reached: Iterable[str]) -> bool:
        """Return whether something loads by a loader: a child of a package only runs it."""
        return any(loader in self.needs(one) for one in reached if not one.startswith(loader))

    def needs(self, name: str) -> list[str]:
        """Return what a module or a file of tests needs itself."""
        if name not in self._needed:
            found = self._needs_of_file(name) if name in self.sources else self.modules[name]
            self._needed[name] = sorted(set(found))
        return self._needed[name]

    def _needs_of_file(self, path: str) -> Iterator[str]:
        """Yield the modules and files of tests that a file needs."""
        source = self.sources[path]
        named = [name for text in source.texts for name in DOTTED.findall(text)]
        for name in (*source.imports, *named):
            yield from self._resolved(name)
        # A test that names a folder of programs, as in a path, starts them.
        is_test = path.rpartition("/")[2].startswith("test_")
        started = {folder for folder in PROGRAMS if is_test and folder in source.texts}
        yield from (one for one in self.sources if one.partition("/")[0] in started)
        # A folder of tests that is named in a text is one whose helpers are loaded by name.
        folders = {name.replace(".", "/") for name in named}
        for helper in self.sources:
            folder, _, file = helper.rpartition("/")
            if folder in folders and not file.startswith("test_"):
                yield helper
        for folder in Path(path).parents:
            conftest = (folder / "conftest.py").as_posix()
            if conftest in self.sources and conftest != path:
                yield conftest

    def _resolved(self, name: str) -> Iterator[str]:
        """Yield the longest beginning of a dotted name that is a module or a file of tests."""
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            dotted = ".".join(parts[:length])
            if dotted in self.modules:
                yield dotted
                return
            file = f"{dotted.replace('.', '/')}.py"
            paths = (file, *(f"{folder}/{file}" for folder in PROGRAMS))
            found = [path for path in paths if path in self.sources]
            if found:
                yield from found
                return

    def _loaded(self, loader: str, words: set[str]) -> list[str]:
        """Return what a loader loads for a test that has these words."""
        every = {
            name: match[1] for name in self.modules if (match := LOADERS[loader].fullmatch(name))
        }
        named = sorted(name for name, word in every.items() if word in words)
        return named or sorted(every)


def _add(
    reached: dict[str, str | None], queue: deque[str], names: Iterable[str], through: str
) -> None:
    for name in names:
        if name not in reached:
            reached[name] = through
            queue.append(name)


def read_source(path: Path) -> Source:
    """Return what a Python file imports when it runs, and its texts."""
    imports: list[str] = []
    texts: list[str] = []
    queue: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"), str(path))]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            queue += node.orelse
            continue
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        queue += ast.iter_child_nodes(node)
    return Source(tuple(imports), tuple(texts))
