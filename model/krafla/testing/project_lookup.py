"""The spec and the machine of a trace file: found beside it, or through the project around it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krafla.match.validation import spec_of as carried_spec
from krafla.project.at_hand import listing_above, project_at
from krafla.project.file import FILE_NAME
from krafla.testing.machine_judge import judge_of, loaded
from krafla.values import same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.oracle import Spec
    from krafla.traces import PartialTrace, Trace

__all__ = ["Surroundings", "surroundings_of"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folders where specs are looked for, and the machines that the project names."""

    place: Path
    folders: tuple[Path, ...]
    machines: tuple[tuple[str, str], ...] = ()

    def spec_for(self, trace: Trace | PartialTrace) -> Spec:
        """Return the spec of a trace, under the trace's constants.

        Its cfg configures it if it gives the same constants. Without a module here the text that
        the trace carries judges it. ``KraflaError`` if there is neither.
        """
        for folder in self.folders:
            module = folder / f"{trace.spec}.tla"
            if module.is_file():
                return _under(module, trace)
        if trace.text is not None:
            return carried_spec(trace)
        where = " or ".join(str(one) for one in self.folders)
        raise KraflaError(f"there is no module {trace.spec} in {where}, and the trace carries none")

    def machine_for(self, trace: Trace | PartialTrace) -> type | None:
        """Return the class that a trace is driven on; ``None`` if the project names none for it.

        It is the one that the trace names, or else the only one with the trace's spec.
        """
        if trace.machine is not None:
            target = dict(self.machines).get(trace.machine)
            if target is None:
                known = ", ".join(name for name, _ in self.machines) or "none"
                raise KraflaError(
                    f"no machine {trace.machine!r} in {FILE_NAME}; there are: {known}"
                )
            return self._loaded(target)
        found = [self._loaded(target) for _, target in self.machines]
        fitting = [one for one in found if judge_of(one).spec.name == trace.spec]
        return fitting[0] if len(fitting) == 1 else None

    def _loaded(self, target: str) -> type:
        module, _, name = target.partition(":")
        try:
            with _importable(self.place.parent):
                found: Any = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise KraflaError(
                f"class {target!r} cannot be imported: {error}", str(self.place)
            ) from error
        if not isinstance(found, type):
            raise KraflaError(f"{target!r} is no class", str(self.place))
        return found


def surroundings_of(file: Path) -> Surroundings:
    """Return what lies around a trace file: its folder, and the nearest ``krafla.toml`` upward."""
    folder = file.resolve().parent
    listing = listing_above(file)
    if listing is None or listing.name != FILE_NAME:
        return Surroundings(folder, (folder,))
    project = project_at((listing,))
    return Surroundings(
        project.listing,
        tuple(dict.fromkeys((folder, *project.rooms()))),
        tuple((one.name, one.target) for one in project.machines()),
    )


def _under(module: Path, trace: Trace | PartialTrace) -> Spec:
    spec = loaded(module, None, None)
    own = dict(spec.constants_of(spec.name))
    given = dict(trace.constants)
    if all(name in own and same(own[name], value) for name, value in given.items()):
        return spec
    return loaded(module, given, None)


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let modules of a folder be imported, as pytest does for its root."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
