"""What is in a file that some command has saved: a trace, a run, or something that is neither.

Every verb that takes recordings reads them here, so that each takes all of them. What a verb cannot
take is refused in one sentence that says what to do instead.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Final

from krafla.traces import PartialTrace, Trace, TraceFormatError, loads_any
from krafla.traces.files import read_text
from krafla.traces.itf import loads_itf
from krafla.traces.limits import MAX_DOCUMENT
from krafla.traces.plain_log import is_plain_log
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "any_trace_in", "is_log", "is_run", "is_run_on_machines", "refuse_logs", "trace_in",
]  # fmt: skip

_TRACE: Final = re.compile(r'\s*\{\s*"krafla_trace"')
_RUN: Final = re.compile(r'\s*\{\s*"format"\s*:\s*"krafla fuzz')
_TLC: Final = re.compile(r"@!@!@STARTMSG|^TLC2 Version|^State 1: |^1: <", re.MULTILINE)
# A field that the first line of each kind of recording has.
_OF_RECORDINGS: Final = frozenset(
    {"krafla_trace", "format", "choices", "vars", "counterexample", "exit_status", "exit_code"}
)
_PAGE: Final = re.compile(r"\s*<(?:!doctype|html|svg|\?xml)", re.IGNORECASE)


def is_run(path: Path) -> bool:
    """Return whether a file holds a run of ``krafla fuzz``."""
    text, _ = _read(path)
    return _RUN.match(text) is not None or _is_old_run(_json(text))


def is_run_on_machines(path: Path) -> bool:
    """Return whether a file holds a run that is no trace of a spec; ``KraflaError`` names it."""
    if not is_run(path):
        return False
    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.run_file import read_bytes, system_of

    return not isinstance(system_of(read_bytes(path), str(path)), ChoiceSystem)


def is_log(path: Path, *, for_a_spec: bool) -> bool:
    """Return whether a file holds a plain log.

    With a named spec (``for_a_spec``) a first line of any other JSON object is taken for a line of
    a log, too: its reader says which field is misspelt.
    """
    if path.is_dir():
        return False
    text, _ = read_text(path)
    if is_plain_log(text) or not for_a_spec:
        return is_plain_log(text)
    first = _json(text.partition("\n")[0])
    return isinstance(first, dict) and not first.keys() & _OF_RECORDINGS


def trace_in(path: Path) -> Trace:
    """Return the trace in a file, or that of the run of choices in it, which is played for it.

    ``KraflaError`` with the path says what takes the file instead.
    """
    found = any_trace_in(path)
    if isinstance(found, PartialTrace):
        judges = f"`krafla validate {_quoted(path)}` judges it"
        if path.name.endswith(".trace.ndjson"):
            judges += f", `pytest {_quoted(path)}` asks the machine that krafla.toml lists"
        raise TraceFormatError(f"a partial trace, of observations; {judges}", str(path))
    return found


def any_trace_in(path: Path) -> Trace | PartialTrace:
    """Return the trace in a file, whole or partial; see ``trace_in``."""
    found = _any_in(path)
    if found.text is None:
        from krafla.project.asked import put_spec_of_trace_at_hand

        put_spec_of_trace_at_hand(found.spec, path)
    return found


def _any_in(path: Path) -> Trace | PartialTrace:
    text, cut = _read(path)
    if not _TRACE.match(text):
        data = _json(text)
        if _RUN.match(text) or _is_old_run(data):
            return _played(path, text.encode())
        _refuse(path, text, data)
        if isinstance(data, dict) and {"vars", "states"} <= data.keys():
            return loads_itf(text, str(path))
    return loads_any(text, str(path), cut=cut)


def _played(path: Path, data: bytes) -> Trace:
    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.run_file import header_of, naming_bug, system_of, with_bug

    place = str(path)
    system = system_of(data, place)
    if not isinstance(system, ChoiceSystem):
        raise KraflaError(
            f"a run of `krafla fuzz {system.name}`, on machines, which is no trace of a spec; "
            f"`krafla replay {_quoted(path)}` plays and judges it",
            place,
        )
    header = header_of(data, place)
    with with_bug(system, header, place):
        trace = system.trace(system.play(system.decoded(data, place)))
    return naming_bug(trace, header.mutant)


def _refuse(path: Path, text: str, data: object) -> None:
    """Raise ``KraflaError`` if this is something that krafla knows and that is no recording."""
    converts = f"`krafla convert {_quoted(path)} found.ndjson --model MODEL` makes a trace of it"
    if is_plain_log(text):
        judges = f"`krafla validate {_quoted(path)} --spec FILE.tla`"
        raise KraflaError(f"a plain log, of a program; {judges} judges it", str(path))
    if _TLC.search(text):
        raise KraflaError(f"TLC's output; {converts}", str(path))
    if _PAGE.match(text):
        raise KraflaError("a page or a picture: give the recording that it shows", str(path))
    if path.suffix == ".tla":
        raise KraflaError("a spec, no recording: `--spec` takes it", str(path))
    if text.strip() and data is None and not text.lstrip().startswith("{"):
        raise KraflaError(
            "no recording: neither a trace nor a run of `krafla fuzz`; and no plain log, which has "
            "a JSON object on each line (`krafla judge --schema log`)",
            f"{path}:1",
        )
    keys = data.keys() if isinstance(data, dict) else ()
    if "counterexample" in keys or (isinstance(data, list) and data):
        raise KraflaError(f"TLC's JSON, without types; {converts}", str(path))
    if {"exit_code", "exit_status", "verdict"} & {*keys}:
        raise KraflaError("a report of --json: give the file that the command saved", str(path))


def _json(text: str) -> object:
    try:
        return json.loads(text) if len(text) <= MAX_DOCUMENT else None
    except (ValueError, RecursionError):
        return None


def _is_old_run(data: object) -> bool:
    """Return whether this is a run as it was kept before it said so, in any order of its keys."""
    return isinstance(data, dict) and "choices" in data


def _read(path: Path) -> tuple[str, bool]:
    """Return the text of a file, and whether it was cut; ``KraflaError`` for a folder."""
    if path.is_dir():
        raise KraflaError(_folder(path), str(path))
    return read_text(path)


def refuse_logs(path: Path) -> None:
    """Raise ``KraflaError`` for a folder of logs without a trace, which holds nothing to replay."""
    if not any(path.rglob("*.ndjson")) and any(path.rglob("__cluster_metadata-0")):
        raise KraflaError(_folder(path), str(path))


def _folder(path: Path) -> str:
    """Return what a folder is, and what takes it."""
    name = _quoted(path)
    if (path / "index.toml").is_file():
        return f"a corpus of traces; `krafla replay {name}` judges it: give one of its files"
    if (path / "_manifest.json").is_file():
        return f"made by Spark; `krafla pipeline report {name}` shows it: give a file of its found/"
    if any(path.rglob("__cluster_metadata-0")):
        return f"logs of Kafka; `krafla audit {name}` judges them"
    return "a folder; give a recording"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
