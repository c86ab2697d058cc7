"""A small room of specs, laid out like the real ones, in which every answer is known."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from krafla.cli import application

LAMP = Path(__file__).with_name("lamp")
KRAFLA = (sys.executable, "-c", "from krafla.cli import main; main()")


def lay_out(folder: Path) -> Path:
    """Return a folder of specs with the room in it; the model that must fail stands apart."""
    specs = folder / "specs"
    shutil.copytree(LAMP, specs / "lamp")
    broken = specs / "broken" / "lamp"
    broken.mkdir(parents=True)
    (specs / "lamp" / "LampOn.cfg").rename(broken / "LampOn.cfg")
    (specs / "manifest.toml").write_text('rooms = ["lamp"]\n')
    return specs


def edit(path: Path, old: str, new: str) -> None:
    """Replace the only place where a text stands in a file."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new))


def environment(specs: Path, **more: str) -> dict[str, str]:
    """Return the environment in which krafla sees these specs."""
    return {**os.environ, "KRAFLA_SPECS": str(specs), "NO_COLOR": "1", "COLUMNS": "120", **more}


def krafla(specs: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run krafla on the specs, and return what it said: in this process, unless there are options.

    ``options`` are those of `subprocess.run`.
    """
    if not options:
        with mock.patch.dict(os.environ, environment(specs)):
            result = CliRunner().invoke(application(arguments[0]), [*map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return subprocess.CompletedProcess(
            [*KRAFLA, *arguments], int(result.exit_code), result.stdout, result.stderr
        )
    return subprocess.run(
        [*KRAFLA, *arguments], capture_output=True, text=True, env=environment(specs),
        check=False, timeout=300, **options,
    )  # fmt: skip
