"""The jars of a place, each verified against a lock and cached, as `krafla.record.jars` does it."""

from __future__ import annotations

import os
from pathlib import Path

from krafla.record import jars
from krafla.record.jars import Jar
from krafla.tlc.jar import cache_directory


def locked_jars(place: str) -> list[Jar]:
    """Return the jars that ``PLACE.lock`` names."""
    found = []
    for line in Path(__file__).with_name(f"{place}.lock").read_text().splitlines():
        if not line.startswith("#"):
            sha256, coordinates = line.split()
            found.append(Jar(*coordinates.split(":"), sha256=sha256))
    return found


def paths(place: str) -> list[Path]:
    """Return the files of the locked jars; a first run fetches them from Maven Central."""
    folder = cache_directory() / f"spark-{place}"
    wanted = locked_jars(place)
    for jar in wanted:
        if not jars._is_there(folder / jar.name, jar):
            jars._fetch(jar, folder)
    return [folder / jar.name for jar in wanted]


def class_path(place: str) -> str:
    """Return the class path of the locked jars."""
    return os.pathsep.join(map(str, paths(place)))
