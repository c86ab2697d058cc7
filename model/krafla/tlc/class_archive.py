"""Let Java map TLC's classes from an archive, instead of reading and verifying them at each start.

The archive is a file of Java's (class data sharing), made once for each jar and Java, in the cache.
Without it TLC starts as ever: whatever stands in its way, no run fails for it.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from krafla.scratch import scratch_folder
from krafla.tlc.jar import TlcJar, cache_directory
from krafla.verdict import KraflaError

try:
    import fcntl
except ImportError:  # pragma: no cover  # without locks there is no archive
    fcntl = None  # type: ignore[assignment]  # asked for before its use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.tlc.jre import JavaRuntime

__all__ = ["archive_options"]

# Java can make an archive of an application's classes as it ends.
_SINCE: Final = 13
_SECONDS: Final = 60.0
# Noted in the place of a digest.
_NONE: Final = "none"
_MODULE: Final = "Rehearsal"
# It makes TLC load what a search needs: the parser, each kind of value, a property of steps.
_REHEARSAL: Final = f"""---- MODULE {_MODULE} ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES number, sent
vars == <<number, sent>>
Init == number = [n \\in {{"a", "b"}} |-> 0] /\\ sent = {{}}
Send(n) ==
  LET message == [from |-> n, log |-> <<number[n], TRUE>>]
  IN  /\\ number[n] < 2
      /\\ number' = [number EXCEPT ![n] = @ + 1]
      /\\ sent' = sent \\union {{message}}
Next == \\E n \\in DOMAIN number : Send(n)
Spec == Init /\\ [][Next]_vars
TypeOK ==
  /\\ number \\in [{{"a", "b"}} -> 0..2]
  /\\ \\A m \\in sent : IF Len(m.log) = 2 THEN m.from \\in DOMAIN number ELSE FALSE
  /\\ Cardinality(sent) <= 4
  /\\ (CHOOSE n \\in DOMAIN number : number[n] >= 0) \\in STRING
OnlyGrowsProp == [][\\A n \\in DOMAIN number : number'[n] >= number[n]]_vars
====
"""
_CONFIG: Final = (
    "SPECIFICATION Spec\nINVARIANT TypeOK\nPROPERTY OnlyGrowsProp\nCHECK_DEADLOCK FALSE\n"
)


def archive_options(jar: TlcJar, jre: JavaRuntime, *, make: bool = True) -> tuple[str, ...]:
    """Return Java's options to use the archive, or nothing; `make` makes one if there is none.

    Java takes the archive if the jar is the first of its class path.
    """
    if jre.feature < _SINCE:
        return ()
    with suppress(OSError, KraflaError):
        archive = _archive(jar, jre)
        note = archive.with_suffix(".sha256")
        if not _is_settled(archive, note):
            if not make:
                return ()
            # While one process makes it, the others go without.
            _make(archive, note, jar, jre)
        if note.read_text(encoding="ascii") != _NONE:
            # Java would print that an archive does not fit, among TLC's lines.
            return (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable")
    return ()


def _archive(jar: TlcJar, jre: JavaRuntime) -> Path:
    """Return where the archive is; Java refuses one of another jar, or of one written since."""
    made_of = jre.home, jre.version, jar.path, jar.path.stat().st_mtime_ns, jar.sha256
    key = hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]
    return cache_directory() / f"tlc-classes-{key}.jsa"


def _is_settled(archive: Path, note: Path) -> bool:
    """Return whether the archive is the one that was made: Java crashes on one cut short."""
    if not note.is_file():
        return False
    digest = note.read_text(encoding="ascii")
    return digest == _NONE or (archive.is_file() and _sha256(archive) == digest)


def _make(archive: Path, note: Path, jar: TlcJar, jre: JavaRuntime) -> None:
    # Most runs find an archive.
    from krafla.tlc.process import run_process

    archive.parent.mkdir(parents=True, exist_ok=True)
    with _locked(archive.with_suffix(".lock")), scratch_folder("archive", archive.parent) as folder:
        draft = folder / archive.name
        (folder / f"{_MODULE}.tla").write_text(_REHEARSAL, encoding="utf-8")
        (folder / "model.cfg").write_text(_CONFIG, encoding="utf-8")
        command = [
            str(jre.java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-XX:ArchiveClassesAtExit={draft}", f"-Djava.io.tmpdir={folder}",
            *("-cp", str(jar.path), "tlc2.TLC", "-tool", "-metadir", str(folder / "states")),
            *("-workers", "1", "-config", "model.cfg", f"{_MODULE}.tla"),
        ]  # fmt: skip
        status, is_late, _ = run_process(command, folder, lambda _: None, _SECONDS)
        if is_late:
            # The machine is busy; the next run may make it.
            return
        is_made = status == 0 and draft.is_file()
        # Where Java makes none it is not asked again.
        draft_note = folder / note.name
        draft_note.write_text(_sha256(draft) if is_made else _NONE, encoding="ascii")
        if is_made:
            draft.replace(archive)
        draft_note.replace(note)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(lock: Path) -> Iterator[None]:
    """Hold a lock; ``OSError`` if another process holds it, or there are no locks."""
    if fcntl is None:
        raise OSError("no locks")
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
