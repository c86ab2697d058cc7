"""Runs in Python workers, without krafla: lays out what `krafla.pipeline.shipping` has sent.

A package in a zip has no files, and specs, schemas and templates are files. So the zip has a
package of each name that puts the real one, laid out beside the zip, in its own place. Spark
removes that folder together with the zip.
"""

import importlib
import os
import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

PAYLOAD = "payload/"
"""What the names begin with of the files that are laid out."""
JAR = "tla2tools.jar"
"""The jar of TLC, in the payload."""


def become_real(name: str) -> None:
    """Put the package of this name that was laid out in the place of the one of the zip.

    The specs and the jar of TLC are those that were sent, whatever this machine's environment says.
    """
    # Spark may name it relative to the folder that a worker starts in.
    archive = Path(__file__).parent.absolute()
    folder = lay_out(archive)
    if str(folder) not in sys.path:
        # Spark has put the zip before all that is installed here.
        place = [Path(entry).absolute() for entry in sys.path].index(archive)
        sys.path.insert(place, str(folder))
    os.environ.pop("KRAFLA_SPECS", None)
    os.environ["KRAFLA_TLA2TOOLS"] = str(folder / JAR)
    importlib.invalidate_caches()
    del sys.modules[name]
    importlib.import_module(name)


def lay_out(archive: Path) -> Path:
    """Return the folder beside a zip with its payload.

    Any number of processes may lay it out at once: it appears under its name when it is whole.
    """
    folder = archive.with_suffix("")
    if folder.is_dir():
        return folder
    draft = archive.with_name(f"{folder.name}.{os.getpid()}")
    with ZipFile(archive) as zipped:
        for name in zipped.namelist():
            if name.startswith(PAYLOAD):
                path = draft / name.removeprefix(PAYLOAD)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(zipped.read(name))
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        # Another process was faster.
        shutil.rmtree(draft)
    return folder
