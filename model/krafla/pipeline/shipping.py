"""krafla's own code and specs, sent to the Python workers of a session.

Workers need the packages that krafla depends on, and not krafla itself.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

from krafla.pipeline import unpack
from krafla.project.at_hand import known_projects
from krafla.scratch import lasting_folder
from krafla.tlc.jar import find_oracle_jar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql import SparkSession

__all__ = ["digest_here", "ship", "write_zip"]

_PACKAGES: Final = ("kraft", "krafla")
# Folders that the wheel adds to the package: the specs are sent from where they are found.
_OF_THE_WHEEL: Final = ("specs", "traces_recorded")
_UNPACK: Final = "krafla_unpack"
_STAND_IN: Final = f"""\
\"\"\"Stands in a zip for the package that is laid out beside the zip.\"\"\"
import {_UNPACK}
{_UNPACK}.{unpack.become_real.__name__}(__name__)
"""
# Zip files begin their count of years here; a fixed time makes equal files equal zips.
_TIME: Final = (1980, 1, 1, 0, 0, 0)

# The digest of what the workers of a session have.
_sent: Final[WeakKeyDictionary[SparkSession, str]] = WeakKeyDictionary()


def ship(spark: SparkSession) -> None:
    """Send kraft, krafla, the specs and the jar of TLC to the Python workers of a session.

    They come before what is installed there. Nothing is sent if the master is local and its
    workers import this very krafla with these very specs: one small job asks them. Call it once
    for a session, before the first job that needs krafla; again does no harm.
    """
    digest = digest_here()
    if _sent.get(spark) == digest:
        return
    _sent[spark] = digest
    if _is_local(spark) and _digest_there(spark) == digest:
        return
    known = list(sys.path)
    try:
        spark.addArtifacts(str(_zip_here(digest)), pyfile=True)
    finally:
        # Spark lets this process import from the zip, too.
        sys.path[:] = [entry for entry in sys.path if entry in known]


@cache
def _zip_here(digest: str) -> Path:
    """Return a zip that lasts as long as this process: a new executor takes it from here."""
    path = lasting_folder("ship") / f"krafla-{digest[:16]}.zip"
    write_zip(path)
    return path


def write_zip(path: Path) -> None:
    """Write the zip that Python workers import kraft and krafla from: equal for equal contents.

    ``KraflaError`` if there are no specs, or no jar of TLC to be had.
    """
    unpacking = (resources.files("krafla.pipeline") / "unpack.py").read_bytes()
    with zipfile.ZipFile(path, "w") as zipped:
        _add(zipped, f"{_UNPACK}.py", unpacking)
        for package in _PACKAGES:
            _add(zipped, f"{package}/__init__.py", _STAND_IN.encode())
        for name, file in _contents():
            _add(zipped, unpack.PAYLOAD + name, file.read_bytes())
        _add(zipped, unpack.PAYLOAD + unpack.JAR, find_oracle_jar().path.read_bytes())


def digest_here() -> str:
    """Return the SHA-256 of kraft's and krafla's code and of the specs, as this process has them.

    ``KraflaError`` if there are no specs.
    """
    digest = hashlib.sha256()
    for name, file in _contents():
        of_file = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{name} {of_file}\n".encode())
    return digest.hexdigest()


def _contents() -> Iterator[tuple[str, Path]]:
    """Yield each file that is sent, in the order of its name in the wheel."""
    found: dict[str, Path] = {}
    for package in _PACKAGES:
        folder = Path(str(resources.files(package)))
        found |= _files(folder, package, apart=_OF_THE_WHEEL if package == "krafla" else ())
    found |= _files(_specs_sent(), "krafla/specs")
    yield from sorted(found.items())


def _specs_sent() -> Path:
    """Return the tree of specs at hand; for any other project the shipped ones.

    What is searched for such a project carries its own text.
    """
    return known_projects()[-1].folder


def _files(folder: Path, named: str, apart: tuple[str, ...] = ()) -> dict[str, Path]:
    found = {}
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        if path.is_file() and "__pycache__" not in parts and parts[0] not in apart:
            found["/".join((named, *parts))] = path
    return found


def _add(zipped: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.external_attr = 0o644 << 16
    zipped.writestr(entry, content, zipfile.ZIP_DEFLATED)


def _is_local(spark: SparkSession) -> bool:
    """Return whether a master runs tasks in its own process: then all workers are equal."""
    master = cast("str", spark.conf.get("spark.master", ""))
    return master == "local" or master.startswith("local[")


def _digest_there(spark: SparkSession) -> str:
    """Return `digest_here` as a Python worker has it; empty if it cannot import it."""
    answers = spark.range(1).mapInArrow(_asking(), "digest string").collect()
    return str(answers[0].digest)


def _asking() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    # Made in a function, it goes to the workers by value: they may have no krafla to import.
    def ask(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        for _ in batches:
            pass
        try:
            from krafla.pipeline.shipping import digest_here

            found = digest_here()
        except Exception:  # noqa: BLE001 - whatever is wrong with that krafla, ours is sent instead
            found = ""
        yield pyarrow.RecordBatch.from_pydict({"digest": [found]})

    return ask
