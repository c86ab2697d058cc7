"""The spec of the lock of the examples in other languages, and logs of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from krafla.cli import application
from krafla.project import at_hand

EXAMPLES = Path(__file__).parents[3] / "examples" / "other-languages"
LOCK = EXAMPLES / "Lock.tla"

INIT = {"action": "Init", "seen": {"holder": "Free", "queue": []}}
ACQUIRE = {"action": "Acquire", "parameters": ["c1"], "seen": {"holder": "c1"}}
ENQUEUE = {"action": "Enqueue", "parameters": ["c2"], "seen": {"queue": ["c2"]}}
RELEASE = {"action": "Release", "parameters": ["c1"], "seen": {"holder": "c2", "queue": []}}
RUN = (INIT, ACQUIRE, ENQUEUE, RELEASE)


def krafla(*arguments, lines=""):
    """Return how a command ends in this process; the project that it is given ends with it."""
    words = list(map(str, arguments))
    with mock.patch.dict(os.environ), mock.patch.object(at_hand, "_given", []):
        return CliRunner().invoke(application(words[0]), words, input=lines)


def live_lock(folder: Path) -> Path:
    """Return a module of the lock in a folder; its cfg lists a property of whole behaviours."""
    module = folder / "Lock.tla"
    live = "Live == (holder = Free) ~> (holder # Free)\nSpec =="
    module.write_text(LOCK.read_text().replace("Spec ==", live))
    config = LOCK.with_suffix(".cfg").read_text() + "PROPERTY Live\n"
    module.with_suffix(".cfg").write_text(config)
    return module


def write_log(path: Path, *lines: object, end: str = "\n") -> Path:
    """Return the file, with each line as JSON; a line of text stands as it is."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("\n".join(texts) + end, encoding="utf-8", newline="")
    return path
