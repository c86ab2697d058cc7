"""The coverage of models, measured once and kept beside their pinned counts.

Counting how often each action is taken costs a third of a search, and comes out the same each
time. ``coverage.json`` beside a ``models.toml`` keeps the counts. An entry counts as long as its
digest fits: it covers the modules, the cfg, the witnesses, TLC, and the entry itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.files import write_text
from krafla.tlc.inputs import digest_of, statements_of
from krafla.tlc.run import ActionCoverage
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.manifest import Model
    from krafla.tlc.run import RunResult

__all__ = ["MeasuredCoverage", "coverage_file", "find_coverage", "keep_coverage"]

_NAME: Final = "coverage.json"
# Goes up when TLC's output is read in another way: another name for an action, or another count.
_VERSION: Final = 1
_MEND: Final = "remove it, and krafla check --pin writes it again"


@dataclass(frozen=True, slots=True)
class MeasuredCoverage:
    """How often each action was taken in a search that generated this many states."""

    generated: int
    actions: tuple[ActionCoverage, ...]

    def doubt(self, result: RunResult) -> str | None:
        """Return why these counts are not those of a finished search; None if they may be.

        Where the search counted again, it must have taken the same actions.
        """
        if self.generated != result.generated:
            return (
                f"the kept coverage is of a search that generated {self.generated:,} states; "
                f"this one generated {result.generated:,}"
            )
        if result.coverage is None:
            return None
        kept = {(one.name, one.taken > 0) for one in self.actions}
        differ = kept ^ {(one.name, one.taken > 0) for one in result.coverage}
        if not differ:
            return None
        names = sorted({name for name, _ in differ})
        return f"the kept coverage is wrong about {', '.join(names)}"


def coverage_file(model: Model) -> Path:
    """Return the file that keeps the coverage of a model: beside the list that has the model."""
    return Path(model.place.rpartition(":")[0]).with_name(_NAME)


def find_coverage(model: Model) -> MeasuredCoverage | None:
    """Return the coverage that is kept of a model; None if there is none of these files.

    An entry that is no coverage counts as none. ``KraflaError`` if the file cannot be read.
    """
    if not model.place:
        return None
    entry = _read(coverage_file(model)).get(model.name)
    try:
        if entry is None or entry["digest"] != _digest(model, entry):
            return None
        actions = tuple(
            ActionCoverage(name, taken, distinct, module)
            for name, (taken, distinct, module) in entry["actions"].items()
        )
        return MeasuredCoverage(entry["generated"], actions)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def keep_coverage(measured: Iterable[tuple[Model, RunResult]]) -> tuple[Path, ...]:
    """Keep the coverage of finished searches; return the files that were changed.

    ``KraflaError`` if one cannot be written.
    """
    files: dict[Path, dict[str, Any]] = {}
    for model, result in measured:
        assert result.coverage is not None, "only a measured search has a coverage to keep"
        entry: dict[str, Any] = {
            "generated": result.generated,
            "actions": {
                one.name: [one.taken, one.distinct, one.location.partition(":")[0]]
                for one in result.coverage
            },
        }
        path = coverage_file(model)
        known = files.setdefault(path, dict(_read(path)))
        known[model.name] = {"digest": _digest(model, entry), **entry}
    changed = {path: known for path, known in files.items() if known != _read(path)}
    for path, known in changed.items():
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(known.items())]
        write_text(path, ["{\n", ",\n".join(lines), "\n}\n"])
    return tuple(changed)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path)) from error
    except ValueError as error:
        raise KraflaError(f"is no JSON: {error}; {_MEND}", str(path)) from error
    if not isinstance(data, dict):
        raise KraflaError(f"is no coverage of models; {_MEND}", str(path))
    return data


def _digest(model: Model, entry: dict[str, Any]) -> str:
    counted = json.dumps([_VERSION, entry["generated"], list(entry["actions"].items())])
    return digest_of(statements_of(model).encode(), counted.encode())
