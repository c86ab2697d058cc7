"""A Python that another user can run, with chosen packages: what a worker's machine has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]
# What Spark's Python workers import to judge, besides krafla: docs/internals/places.md.
WORKER_PACKAGES = (
    "pyspark", "pyarrow", "pandas", "cramjam", "google-crc32c", "immutables", "jpype1", "lz4",
    "msgspec", "zstandard",
)  # fmt: skip
# What a Connect server needs in addition.
CONNECT_PACKAGES = ("grpcio", "grpcio-status", "googleapis-common-protos")


@dataclass(frozen=True)
class Environment:
    """A Python of its own, in a folder that every user can read."""

    python: Path
    packages: Path

    @property
    def spark_home(self) -> Path:
        """Return where its Spark is."""
        return self.packages / "pyspark"


@contextmanager
def public_folder() -> Iterator[Path]:
    """Make a folder that every user can read."""
    with scratch_folder("places") as folder:
        folder.chmod(0o755)
        yield folder


def make_environment(folder: Path, packages: tuple[str, ...]) -> Environment:
    """Make a Python in a folder, from this one and from what is installed in it.

    Its files are hard links where that can be.
    """
    base = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    home = folder / "home"
    _link_tree(base / "lib" / version, home / "lib" / version)
    for library in (base / "lib").glob("libpython*.so*"):
        _link(library, home / "lib" / library.name)
    _link(Path(os.path.realpath(sys.executable)), home / "bin" / version)
    site = home / "lib" / version / "site-packages"
    site.mkdir()
    for package in _with_their_needs(packages):
        _link_package(package, site)
    python = folder / "python"
    # The program has the path of its library in it, and would look for modules beside that; that
    # of Debian does not look into site-packages.
    python.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{home}/lib" PYTHONHOME="{home}" PYTHONDONTWRITEBYTECODE=1 '
        f'PYTHONPATH="{site}" exec "{home}/bin/{version}" -s "$@"\n'
    )
    python.chmod(0o755)
    return Environment(python, site)


def install_wheel(environment: Environment, scratch: Path) -> None:
    """Build krafla's wheel from this checkout, and install it without its dependencies."""
    uv = Path(sys.executable).with_name("uv")
    build = [uv, "build", "-q", "--offline", "--wheel", "--no-build-isolation"]
    this = ["--python", sys.executable]
    subprocess.run([*build, *this, "-o", scratch, ROOT], check=True, capture_output=True)
    (wheel,) = scratch.glob("krafla-*.whl")
    install = [uv, "pip", "install", "-q", "--offline", "--no-deps", *this]
    words = [*install, "--target", environment.packages, wheel]
    subprocess.run(words, check=True, capture_output=True)


def _with_their_needs(packages: tuple[str, ...]) -> list[str]:
    """Return packages, and those that they require here."""
    found: list[str] = []
    left = list(packages)
    while left:
        package = left.pop()
        if package not in found:
            found.append(package)
            for line in metadata.requires(package) or ():
                named, _, marker = line.partition(";")
                name = re.split(r"[^\w.-]", named.strip())[0]
                if "extra" not in marker and _is_installed(name):
                    left.append(name)
    return found


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _link_package(name: str, site: Path) -> None:
    distribution = metadata.distribution(name)
    if distribution.read_text("RECORD") is None:
        # A pip that has no `wheel`, like Debian's, lists the files of the source instead.
        folder = Path(str(distribution.locate_file(name)))
        shutil.copytree(folder, site / name, copy_function=_link)
        return
    for file in distribution.files or ():
        source = Path(str(distribution.locate_file(file)))
        if ".." not in file.parts and source.is_file():
            _link(source, site / file)


def _link_tree(source: Path, target: Path) -> None:
    def apart(folder: str, names: list[str]) -> set[str]:
        unused = {"site-packages", "test", "idlelib", "tkinter", "ensurepip"}
        return unused.intersection(names) if Path(folder) == source else set()

    shutil.copytree(source, target, ignore=apart, copy_function=_link)


def _link(source: Path | str, target: Path | str) -> None:
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
