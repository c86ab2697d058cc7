"""The options by which a verb is given the spec that judges a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from krafla.values import Value

__all__ = ["Cfg", "Constants", "read_constants"]

Cfg = Annotated[
    Path | None, typer.Option(metavar="FILE.cfg", help="Its cfg; default: the one beside it.")
]
Constants = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="Its constants, instead of a cfg.")
]


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
