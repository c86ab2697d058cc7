"""A Python of its own, with krafla's wheel in it: what a stranger's project has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
SECONDS_MAX = 600
# What would let krafla be found elsewhere, or change what it does.
_OURS = ("KRAFLA_", "PYTEST_", "PYTHON", "VIRTUAL_ENV", "COVERAGE_")
# Plugins of this project's tests that a stranger does not have.
_PYTEST_OPTIONS = "-p no:randomly -p no:xdist"


@dataclass(frozen=True)
class Environment:
    """A virtual environment; ``bin`` is the folder of its commands."""

    bin: Path

    def run(self, command: str, folder: Path, *, quick: bool) -> subprocess.CompletedProcess[str]:
        """Run a line of a shell in a folder; its errors are among its output.

        ``quick`` tests draw fewer examples.
        """
        return subprocess.run(
            ["bash", "-c", command], cwd=folder, env=self._variables(quick=quick), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=SECONDS_MAX,
        )  # fmt: skip

    def _variables(self, *, quick: bool) -> dict[str, str]:
        kept = {
            name: one
            for name, one in os.environ.items()
            if not name.startswith(_OURS) or name in {"KRAFLA_TLA2TOOLS", "PYTHONHASHSEED"}
        }
        options = f"{_PYTEST_OPTIONS} --hypothesis-profile=quick" if quick else _PYTEST_OPTIONS
        return kept | {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTEST_ADDOPTS": options,
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "COLUMNS": "120",
        }


def build_wheel(folder: Path) -> Path:
    """Return krafla's wheel, built from this checkout into a folder."""
    build = [UV, "build", "-q", "--offline", "--wheel", "--no-build-isolation"]
    _run(*build, "--python", sys.executable, "-o", folder, ROOT)
    (wheel,) = folder.glob("krafla-*.whl")
    return wheel


def environment_beside_ours(folder: Path, wheel: Path) -> Environment:
    """Return an environment that has the wheel, and everything else from this environment."""
    made = _new_environment(folder, sys.executable)
    install = [UV, "pip", "install", "-q", "--offline", "--no-deps"]
    _run(*install, "--python", made.bin / "python", wheel)
    (own,) = folder.glob("lib/python*/site-packages")
    others = [one for one in sys.path if Path(one).name in {"site-packages", "dist-packages"}]
    (own / "beside.pth").write_text("".join(f"{one}\n" for one in others))
    _write_command(made, "pytest", "pytest", "console_main")
    _write_command(made, "pip", "pip._internal.cli.main", "main")
    return made


def _write_command(environment: Environment, name: str, module: str, function: str) -> None:
    script = environment.bin / name
    script.write_text(
        f"#!{environment.bin / 'python'}\n"
        f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n"
    )
    script.chmod(0o755)


def environment_from_registry(
    folder: Path, wheel: Path, python: str, locks: list[Path]
) -> Environment:
    """Return an environment of a Python, with the wheel, what it needs, and what locks name."""
    made = _new_environment(folder, python)
    install = [UV, "pip", "install", "-q", "--python", made.bin / "python"]
    _run(*install, wheel, "pytest", "pip")
    for lock in locks:
        _run(*install, "--require-hashes", "-r", lock)
    return made


def installed_pythons() -> list[str]:
    """Return the interpreters of Python 3.11 and newer on this machine, one of each version."""
    found = {}
    names = [f"python3.{minor}" for minor in range(11, 20)]
    folders = [Path(one) for one in os.environ["PATH"].split(os.pathsep)]
    folders += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    for name in names:
        for folder in folders:
            program = shutil.which(name, path=folder)
            # A shim is there for versions that are not chosen, too.
            if program and _answers(program):
                found.setdefault(name, program)
    return list(found.values())


def _answers(program: str) -> bool:
    return subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode == 0


def _new_environment(folder: Path, python: str) -> Environment:
    _run(UV, "venv", "-q", "--offline", "--python", python, folder)
    return Environment(folder / "bin")


def _run(*words: object) -> None:
    ended = subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, timeout=SECONDS_MAX
    )
    assert ended.returncode == 0, f"{' '.join(map(str, words))}\n{ended.stdout}{ended.stderr}"
