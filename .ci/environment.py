"""Prepares the virtual environment for the Makefile: `environment.py VENV runtime|dev`.

Standard library only, since it runs before anything is installed. Packages come from the lock
file and must match its hashes; the project itself is then installed in place, with the build
backend of the same lock.
"""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
import venv
from pathlib import Path

LOCKS = {"runtime": "requirements.lock", "dev": "requirements-dev.lock"}
# The folder cannot be written, because of its owner or because all of its file system cannot.
NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS)
USABLE = "import pip, sys; sys.exit(sys.version_info < (3, 11))"


class SetupError(Exception):
    """Says in one message why the environment could not be prepared."""


def main(arguments: list[str]) -> int:
    """Return 0 when the environment matches its lock, else print why not and return 2."""
    folder, kind = Path(arguments[0]), arguments[1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".setup-lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # A second make waits here and finds it done.
            prepare(folder, kind)
    except (SetupError, OSError) as error:
        print(f"krafla: cannot prepare {folder}: {error}", file=sys.stderr)
        if isinstance(error, OSError) and error.errno in NO_PLACE:
            print("    another place for it: make VENV=/elsewhere ...", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nkrafla: interrupted; the next make carries on from here", file=sys.stderr)
        return 130
    return 0


def prepare(folder: Path, kind: str) -> None:
    """Bring `folder` to the state of the lock, and stamp it last of all.

    Raises `SetupError` when pip could not install.
    """
    stamp = folder / f".installed-{kind}"
    lock = Path(LOCKS[kind])
    wanted = f"{lock.read_text()}\n{Path('pyproject.toml').read_text()}"
    python = folder / "bin" / "python"
    usable = python.exists() and not subprocess.run([python, "-c", USABLE], check=False).returncode
    if usable and stamp.exists() and stamp.read_text() == wanted:
        stamp.touch()
        return
    if not usable:
        version = ".".join(map(str, sys.version_info[:3]))
        print(f"krafla: making {folder} with Python {version}", flush=True)
        # Not --clear: the lock held above lives in this folder.
        venv.EnvBuilder(clear=False, with_pip=True, upgrade_deps=False, symlinks=True).create(
            folder
        )
    print(f"krafla: installing {lock}", end="", flush=True)
    pip(folder, "--require-hashes", "--requirement", str(lock))
    pip(folder, "--no-deps", "--no-build-isolation", "--editable", ".")
    print(" done", flush=True)
    stamp.write_text(wanted)


def pip(folder: Path, *arguments: str) -> None:
    """Run `pip install`, one dot every two seconds. Raises `SetupError` with pip's last lines."""
    command = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"]
    log = folder / "install.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [*command, *arguments], stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            while True:
                try:
                    process.wait(timeout=2)
                    break
                except subprocess.TimeoutExpired:
                    print(".", end="", flush=True)
        except KeyboardInterrupt:
            process.terminate()
            raise
    if process.returncode:
        print(flush=True)
        last_lines = "\n    ".join(log.read_text(errors="replace").splitlines()[-8:])
        raise SetupError(
            f"pip failed (the first run needs the network). Its last lines, of {log}:\n"
            f"    {last_lines}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
