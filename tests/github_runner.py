"""The runner of GitHub Actions, as far as the steps of this repository need one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from pathlib import Path

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


def load(path: Path) -> dict:
    """Return a file of YAML; the key `on` of a workflow, which YAML reads as true, by its name."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}


@dataclass
class Runner:
    """A run of steps in a folder: the values of contexts by their names, and what the steps said.

    ``values`` has the contexts' values, as ``inputs.command``, and gets the outputs of steps.
    """

    workspace: Path
    temporary: Path
    values: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    said: str = ""

    def run(self, step: dict) -> int:
        """Run the script of a step as ``shell: bash`` does; return its exit status."""
        assert step["shell"] == "bash"
        script = self.temporary / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        outputs = self.temporary / "outputs"
        outputs.write_text("")
        given = {name: self.filled(value) for name, value in step.get("env", {}).items()}
        folder = self.workspace / self.filled(step.get("working-directory", "."))
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=folder, capture_output=True, text=True, check=False, timeout=600,
            env={
                **os.environ, **self.environment, **given, "GITHUB_OUTPUT": str(outputs),
                "RUNNER_TEMP": str(self.temporary), "GITHUB_WORKSPACE": str(self.workspace),
            },
        )  # fmt: skip
        self.said = done.stdout + done.stderr
        for name, value in _outputs(outputs.read_text(encoding="utf-8")):
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        return done.returncode

    def filled(self, text: str) -> str:
        """Return a text with the values of its expressions; KeyError for one that has none."""
        return _EXPRESSION.sub(lambda found: self.values[found[1].strip()], str(text))


def _outputs(text: str) -> list[tuple[str, str]]:
    """Return the outputs in a file of a step: ``name=value``, or a value up to its own mark."""
    found, lines = [], text.splitlines()
    while lines:
        line = lines.pop(0)
        name, mark, rest = re.fullmatch(r"(\w+)(<<|=)(.*)", line).groups()
        if mark == "<<":
            end = lines.index(rest)
            rest = "\n".join(lines[:end])
            del lines[: end + 1]
        found.append((name, rest))
    return found


def this_python(folder: Path) -> str:
    """Return a PATH whose ``python`` is the one of the tests."""
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    return f"{folder}:/usr/bin:/bin"
