"""What an account of a failure gives an entry: the rule, the places, the steps, the story."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krafla.report.entries import EntryStep, FilePlace, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from krafla.report.explain.account import Account

__all__ = ["SpecFiles", "told_by"]

_PLACE = re.compile(r"(?P<module>\w+)(\.tla)?:(?P<line>\d+)")
_WIDTH = 100


class SpecFiles:
    """The files of modules, by the name of each: those in ``folders``, then those of the specs."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._others: dict[str, Path] | None = None

    def place(self, text: str) -> FilePlace | None:
        """Return the place that a text names, as ``Module:12``; None if it is in no file here."""
        found = _PLACE.fullmatch(text)
        path = None if found is None else self._file(found["module"])
        return None if found is None or path is None else FilePlace(path, int(found["line"]))

    def _file(self, module: str) -> Path | None:
        for folder in self._folders:
            path = folder / f"{module}.tla"
            if path.is_file():
                return path
        if self._others is None:
            from krafla.manifest import find_specs
            from krafla.verdict import KraflaError

            try:
                self._others = {path.stem: path for path in sorted(find_specs().rglob("*.tla"))}
            except KraflaError:
                self._others = {}
        return self._others.get(module)


def told_by(
    account: Account | None, files: SpecFiles, spec: str = "", beside: Iterable[FilePlace] = ()
) -> dict[str, Any]:
    """Return the fields of an ``Entry`` that an account fills.

    ``spec`` is the module whose name precedes that of the broken rule. ``beside`` are further
    places, which come after the false conjunct's.
    """
    if account is None:
        return {"places": tuple(beside)}
    from krafla.report.explain.account import account_lines

    found: dict[str, Any] = {"story": tuple(text for text, _ in account_lines(account, _WIDTH))}
    outcome, places = account.outcome, list(beside)
    if outcome is not None:
        found["headline"] = outcome.sentences[0]
        if outcome.name:
            name = f"{spec}!{outcome.name}" if spec else outcome.name
            found["broken"] = Rule(name, outcome.meaning)
        # The last is the formula that is false; those before it lead there.
        at = [files.place(one.place) for one in reversed(outcome.falsehoods)]
        places = [*(one for one in at if one is not None), *places]
    if account.view is not None:
        last = len(account.view.steps) - 1 if outcome is None else outcome.step
        found["steps"] = tuple(_steps(account.view.steps[: last + 1], files))
    return found | {"places": tuple(dict.fromkeys(places))}


def _steps(steps: Iterable[Any], files: SpecFiles) -> Iterator[EntryStep]:
    for step in steps:
        yield EntryStep(f"{step.label} {step.whole_call}", files.place(step.location))
