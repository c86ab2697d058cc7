"""The options by which a verb is given the spec that judges a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from krafla.match.spec_source import SpecSource
    from krafla.values import Value

__all__ = ["Cfg", "Constants", "read_constants", "source_given"]

Cfg = Annotated[
    Path | None, typer.Option(metavar="FILE.cfg", help="Its cfg; default: the one beside it.")
]
Constants = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="Its constants, instead of a cfg.")
]


def source_given(spec: str, cfg: Path | None, *, has_constants: bool) -> SpecSource:
    """Return the spec that ``--spec`` names, and make its project the one at hand.

    It is a module, or a cfg or a project that has one model. ``KraflaError`` if it is not there.
    """
    from krafla.match.log_check import given_source
    from krafla.match.spec_source import SpecSource
    from krafla.project.asked import put_spec_at_hand, the_name
    from krafla.project.at_hand import at_hand

    path = Path(spec)
    is_project = path.is_dir() or path.suffix in {".cfg", ".toml"}
    source = None if is_project else given_source(path, cfg, has_constants=has_constants)
    put_spec_at_hand(spec)
    if source is not None:
        return source
    manifest = at_hand().manifest()
    (model,) = manifest.select((the_name((), manifest.models),))
    return SpecSource(model.module, model.config, model.search_path)


def read_constants(path: Path) -> tuple[tuple[str, Value], ...]:
    """Return the constants in a file: a JSON object of values as in a trace.

    ``TraceFormatError`` says what is wrong in it.
    """
    from krafla.traces import TraceFormatError
    from krafla.traces.files import read_text
    from krafla.traces.from_lines import constants_of
    from krafla.traces.limits import MAX_LINE
    from krafla.traces.reader import strict_json

    text, _ = read_text(path, MAX_LINE)
    data = strict_json(text, str(path))
    if not isinstance(data, dict):
        raise TraceFormatError("expected an object of constants, by their names", str(path))
    try:
        return constants_of(data)
    except ValueError as error:
        raise TraceFormatError(str(error), str(path)) from error
