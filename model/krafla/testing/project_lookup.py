"""The spec and the machine of a trace file: beside it, or in the project around it."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.interrupted import interruption_in
from krafla.match.validation import spec_of as carried_spec
from krafla.project.at_hand import at_hand, listing_above, project_at
from krafla.project.models import meant
from krafla.testing.machine_judge import loaded, spec_name_of
from krafla.traces import PartialTrace
from krafla.values import same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import ModuleType

    from krafla.oracle import Spec
    from krafla.project import Machine, Project
    from krafla.traces import Trace
    from krafla.traces.spec_text import SpecText

__all__ = [
    "Surroundings",
    "import_module_of",
    "imported",
    "listed_name",
    "project_around",
    "surroundings_of",
]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folder of a trace file, and the project whose ``krafla.toml`` is nearest upward."""

    folder: Path
    project: Project | None = None

    def spec_for(self, trace: Trace | PartialTrace) -> Spec:
        """Return the spec of a trace: that of its model, or its module under its constants.

        The module's cfg configures it if it gives the same constants. Without a module here the
        text that the trace carries judges it. ``KraflaError`` if there is neither.
        """
        project = self.project
        if trace.text is not None and trace.text.root != trace.spec:
            return carried_spec(self._of_today(trace, trace.text))
        if trace.model is not None and project is not None:
            (model,) = project.manifest().select((trace.model,))
            return loaded(model.module, None, model.config)
        module = self._module(trace.spec)
        if module is not None:
            return self._under(module, trace)
        if trace.text is not None:
            return carried_spec(trace)
        where = "" if project is None else f" or in the project of {project.listing}"
        raise KraflaError(
            f"there is no module {trace.spec} beside it{where}, and it carries none",
            str(self.folder),
        )

    def _module(self, name: str) -> Path | None:
        named = () if self.project is None else self.project.named(name)
        files = (self.folder / f"{name}.tla", *named)
        return next((one for one in files if one.is_file()), None)

    def _of_today(self, trace: Trace | PartialTrace, text: SpecText) -> Trace | PartialTrace:
        """Return a trace of a module around its spec, with the modules here in the text of both.

        ``krafla check --invariant`` writes such a module: it has the predicate that was tried.
        """
        found = tuple((name, self._module(name), old) for name, old in text.modules)
        modules = tuple(
            (name, old if file is None else file.read_text(encoding="utf-8"))
            for name, file, old in found
        )
        today = replace(text, modules=modules)
        if isinstance(trace, PartialTrace):
            return replace(trace, text=today, digest=today.digest)
        origin = trace.origin
        changed = None if origin is None else replace(origin, digest=today.digest)
        return replace(trace, text=today, origin=changed)

    def _under(self, module: Path, trace: Trace | PartialTrace) -> Spec:
        model = None if self.project is None else self.project.default_model(module.stem)
        config = model.config if model is not None and model.module == module else None
        spec = loaded(module, None, config)
        own = dict(spec.constants_of(spec.name))
        given = dict(trace.constants)
        if all(name in own and same(own[name], value) for name, value in given.items()):
            return spec
        return loaded(module, given, None)

    def machine_for(self, trace: Trace | PartialTrace) -> type | None:
        """Return the class that a trace is driven on; ``None`` if the project names none for it.

        It is the one that the trace names, or else the only one with the trace's spec.
        ``KraflaError`` if it names none of several, or if none fits and one cannot be imported.
        """
        machines = self._machines()
        if trace.machine is not None:
            if trace.machine not in machines:
                what = f"no machine {trace.machine!r}{meant(trace.machine, machines)}"
                listing = self.folder if self.project is None else self.project.listing
                raise KraflaError(what, str(listing))
            return self._imported(machines[trace.machine])
        found, failed = self._fitting(machines, trace.spec)
        if len(found) > 1:
            what = f"{len(found)} machines of {trace.spec}: {_choices(found)}"
            raise KraflaError(what, None if self.project is None else str(self.project.listing))
        if failed and not found:
            # It may be the one that is wanted.
            raise failed[0]
        return next(iter(found.values()), None)

    def how_to_ask_code(self, trace: Trace | PartialTrace) -> str:
        """Return what to do with a trace that names no machine, so that code is asked."""
        found, _ = self._fitting(self._machines(), trace.spec)
        if found:
            return _choices(found)
        return f"list a machine of {trace.spec} in krafla.toml, and name it in the trace's header"

    def _machines(self) -> dict[str, Machine]:
        named = () if self.project is None else self.project.machines()
        return {one.name: one for one in named}

    def _fitting(
        self, machines: Mapping[str, Machine], spec: str
    ) -> tuple[dict[str, type], list[KraflaError]]:
        """Return the machines of a spec, and what is wrong with those that cannot be imported."""
        found: dict[str, type] = {}
        failed: list[KraflaError] = []
        for name, machine in machines.items():
            try:
                imported = self._imported(machine)
                if spec_name_of(imported) == spec:
                    found[name] = imported
            except KraflaError as error:
                failed.append(error)
        return found, failed

    def _imported(self, machine: Machine) -> type:
        folder = self.folder if self.project is None else self.project.folder
        module = import_module_of(machine, folder)
        found: Any = getattr(module, machine.target.partition(":")[2], None)
        if not isinstance(found, type):
            raise KraflaError(f"{machine.target} is no class", machine.place)
        return found


def import_module_of(machine: Machine, folder: Path) -> ModuleType:
    """Return the module of a machine that the project of a folder names.

    A module of that folder comes before others of its name. ``KraflaError`` if it cannot be
    imported, or another module of its name was imported before.
    """
    name = machine.target.partition(":")[0]
    with _first_on_the_path(str(folder)):
        module = imported(name, machine.place)
    own, other = _file_of(name, folder), getattr(module, "__file__", None)
    if own is not None and (other is None or Path(other).resolve() != own.resolve()):
        raise KraflaError(
            f"{name} was imported from {other}, not from {own}: give the modules of two projects "
            "different names",
            machine.place,
        )
    return module


def imported(module: str, place: str) -> ModuleType:
    """Return a module; ``KraflaError`` if it cannot be imported, for the one who named it."""
    try:
        return import_module(module)
    except KraflaError:
        raise
    except BaseException as error:  # whatever a stranger's module does when it is imported
        if interruption_in(error) is not None:
            raise
        what = f"{type(error).__name__}: {error}"
        raise KraflaError(f"{module} cannot be imported: {what}", place) from error


@contextmanager
def _first_on_the_path(folder: str) -> Iterator[None]:
    """Look for modules in a folder first; afterwards the folder keeps the place that it had."""
    if folder in sys.path:
        before = [*sys.path]
        sys.path.insert(0, folder)
        try:
            yield
        finally:
            # A module that is imported may have added folders of its own.
            added = [one for one in sys.path[1:] if one not in before]
            sys.path[:] = [*added, *before]
    else:
        sys.path.insert(0, folder)
        yield


def _file_of(module: str, folder: Path) -> Path | None:
    """Return the file of a module below a folder; ``None`` if it has none there."""
    place = folder.resolve().joinpath(*module.split("."))
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((one for one in files if one.is_file()), None)


def listed_name(machine: type) -> str | None:
    """Return the name under which a project lists a machine; ``None`` if none does.

    Asked are the project around the file of the class, and then the one at hand.
    """
    module = sys.modules.get(machine.__module__)
    file = getattr(module, "__file__", None)
    own = None if file is None else Path(file).resolve()
    for asked in (partial(project_around, own or Path.cwd()), at_hand):
        # A project that cannot be read must not hide what was found.
        with suppress(KraflaError):
            project = asked()
            if project is None:
                continue
            for one in project.machines():
                if _is_target(one.target, machine, project.folder, own):
                    return one.name
    return None


def _is_target(target: str, machine: type, folder: Path, file: Path | None) -> bool:
    """Return whether ``package.module:Class`` is a class, under whatever name it was imported."""
    path, _, name = target.partition(":")
    if getattr(sys.modules.get(path), name, None) is machine:
        return True
    return machine.__qualname__ == name and file == folder.resolve().joinpath(
        *path.split(".")
    ).with_suffix(".py")


def _choices(names: Iterable[str]) -> str:
    choices = " or ".join(f'"machine": "{name}"' for name in sorted(names))
    return f"name one in the header of the trace, its first line: {choices}"


def surroundings_of(file: Path) -> Surroundings:
    """Return what lies around a trace file; ``KraflaError`` if its ``krafla.toml`` is wrong."""
    return Surroundings(file.resolve().parent, project_around(file))


def project_around(path: Path) -> Project | None:
    """Return the project of the nearest ``krafla.toml`` in the folder of a path or above."""
    listing = listing_above(path)
    return None if listing is None else project_at((listing,))
