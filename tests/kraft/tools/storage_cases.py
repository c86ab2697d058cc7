"""What Kafka 4.1.0's storage tool answered: a request, the directories before it, its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
FIRST: Final = "JEXY6aqzQY-32P5TStzaFg"
SECOND: Final = "MvDxzVmcRsaTz33bUuRU6A"
OURS: Final = f"version=1\nnode.id=1\ncluster.id={CLUSTER}\ndirectory.id={FIRST}\n"
LEGACY: Final = f"version=0\nbroker.id=1\ncluster.id={CLUSTER}\n"
FILE: Final = "a file"
EMPTY: Final = "an empty directory"


@dataclass(frozen=True)
class Case:
    """A request, and what Kafka's tool answered: its status and what it printed on stdout.

    Each of `directories` is FILE, EMPTY, None if it is absent, or the text of a meta.properties.
    `{d}` in `printed` is the folder that they are in. `node` and `log_directories` are the lines
    of the configuration about either; the latter is None where it names the `directories`.
    """

    name: str
    options: tuple[str, ...]
    status: int
    printed: str = ""
    directories: tuple[str | None, ...] = (None,)
    is_static: bool = False
    node: str = "node.id=1"
    log_directories: str | None = None

    def arguments(self, folder: Path) -> list[str]:
        """Prepare the folder, and return the arguments of either tool."""
        names = [f"d{number}" for number, _ in enumerate(self.directories, 1)]
        for name, content in zip(names, self.directories, strict=True):
            place = folder / name
            if content == FILE:
                place.write_text("x")
            elif content is not None:
                place.mkdir()
                if content != EMPTY:
                    (place / "meta.properties").write_bytes(content.encode("latin-1"))
        quorum = "voters=1@localhost" if self.is_static else "bootstrap.servers=localhost"
        named = f"log.dirs={','.join(str(folder / name) for name in names)}"
        config = folder / "server.properties"
        config.write_text(
            f"process.roles=controller\n{self.node}\ncontroller.listener.names=CONTROLLER\n"
            "listeners=CONTROLLER://localhost:9093\n"
            f"controller.quorum.{quorum}:9093\n"
            f"{named if self.log_directories is None else self.log_directories}\n"
        )
        verb, *options = self.options
        cluster = ["-t", CLUSTER] if verb == "format" else []
        return [verb, *cluster, "-c", str(config), *options]


def _formatted(*kinds: str, version: str = "4.1-IV1") -> str:
    return "".join(
        f"Formatting {kind} {{d}}/d{number} with metadata.version {version}.\n"
        for kind, number in (one.rsplit(" ", 1) for one in kinds)
    )


_BAD: Final = "I/O error trying to read log directory {{d}}/d{0}. Ignoring...\n"
_MODE: Final = (
    "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories"
    " are formatted for legacy mode."
)


def _told(directories: int, metadata: str | None, *problems: str) -> str:
    names = "".join(f"\n  {{d}}/d{number}" for number in range(1, directories + 1))
    text = f"Found log director{'y' if directories == 1 else 'ies'}:{names}\n\n"
    text += f"Found metadata: {{{{{metadata}}}}}\n\n" if metadata else ""
    lines = "".join(f"\n  {one}" for one in problems)
    return text + (f"Found problem{'s'[: len(problems) > 1]}:{lines}\n\n" if problems else "")


_OWNER: Final = f"cluster.id={CLUSTER}, directory.id={FIRST}, node.id=1, version=1"


def _format(name: str, *options: str, status: int = 1, printed: str = "", **more: object) -> Case:
    return Case(name, ("format", *options), status, printed, **more)  # type: ignore[arg-type]  # fields of Case


def _levels() -> list[Case]:
    voter, plain = "dynamic metadata voter directory 1", "metadata directory 1"
    elr = "eligible.leader.replicas.version=1"
    return [
        _format("a quorum that can change needs level 21", "-s", "-r", "3.8"),
        _format("so does a controller that will learn the voters", "-N", "-r", "3.8"),
        _format(
            "and one with its voters named", "-I", f"1@localhost:9093:{FIRST}", "-r", "3.7-IV4"
        ),
        _format(
            "level 21 is enough",
            *("-s", "-r", "3.9-IV0"),
            status=0,
            printed=_formatted(voter, version="3.9-IV0"),
        ),
        _format(
            "a fixed quorum needs none",
            *("-r", "3.3"),
            status=0,
            printed=_formatted(plain, version="3.3-IV3"),
            is_static=True,
        ),
        _format("eligible leader replicas need level 23", "-s", "-r", "3.9", "-f", elr),
        _format("also with a fixed quorum", "-r", "4.0-IV0", "-f", elr, is_static=True),
        _format(
            "level 23 is enough for them",
            *("-r", "4.0-IV1", "-f", elr),
            status=0,
            printed=_formatted(plain, version="4.0-IV1"),
            is_static=True,
        ),
        _format(
            "other features need none",
            *("-r", "3.3", "-f", "transaction.version=2", "-f", "group.version=1"),
            *("-f", "share.version=1"),
            status=0,
            printed=_formatted(plain, version="3.3-IV3"),
            is_static=True,
        ),
        _format(
            "a fixed quorum does not have version 1", "-f", "kraft.version=1", is_static=True
        ),
        _format("a level is not negative", "-f", "group.version=-1", is_static=True),
        _format("a level may have a sign", "-f", "group.version=+1", status=0,
                printed=_formatted(plain), is_static=True),
        _format("a level is a number of 16 bits", "-f", "group.version=70000", is_static=True),
        _format("metadata.version is the release", "-f", "metadata.version=20", status=0,
                printed=_formatted(plain, version="3.8-IV0"), is_static=True),
        _format("not besides a release", "-f", "metadata.version=20", "-r", "3.8", is_static=True),
        _format("nor for a level that is unknown", "-f", "metadata.version=6", is_static=True),
        _format("nor for one that is not stable", "-f", "metadata.version=28", is_static=True),
        _format("it counts for what depends on it", "-s", "-f", "metadata.version=20"),
    ]  # fmt: skip


def _directories() -> list[Case]:
    other, data = OURS.replace(FIRST, SECOND), "data directory 2"
    return [
        _format("the first directory is a file", "-s", status=0,
                printed=_BAD.format(1) + _formatted(data), directories=(FILE, EMPTY)),
        _format("the second directory is a file", "-s", status=0,
                printed=_BAD.format(2) + _formatted("dynamic metadata voter directory 1"),
                directories=(None, FILE)),
        _format("a directory has an unknown version", "-N", status=0,
                printed=_BAD.format(1) + _formatted(data),
                directories=(OURS.replace("version=1", "version=2"), None)),
        _format("no directory can be had", "-s", printed=_BAD.format(1), directories=(FILE,)),
        _format("nothing is left to format", "-s", "-g", status=0,
                printed=_BAD.format(2) + "All of the log directories are already formatted.\n",
                directories=(OURS, FILE)),
        _format("one is formatted already", "-s", directories=(OURS, None)),
        _format("a legacy directory is formatted", "-s", "-g", status=0,
                printed=_formatted(data), directories=(LEGACY, None)),
        _format("another node", "-s", "-g", directories=(OURS.replace("id=1", "id=2"), None)),
        _format("another cluster", "-s", "-g", directories=(OURS.replace(CLUSTER, FIRST), None)),
        _format("one id twice", "-s", "-g", directories=(OURS, OURS)),
        _format("a reserved id", "-s", "-g", directories=(OURS.replace(FIRST, CLUSTER), None)),
        Case("two of one node", ("info",), 0, _told(2, _OWNER), (OURS, other)),
        Case("escapes and colons", ("info",), 0, _told(1, _OWNER),
             (f"\\u0076ersion: 1\n! no\nnode.id 2\nnode.id=\\\n  1\ncluster.id={CLUSTER}\n"
              f"directory.id={FIRST}\n",)),
    ]  # fmt: skip


def _configurations() -> list[Case]:
    def refused(name: str, **lines: str) -> Case:
        return _format(name, is_static=True, **lines)

    return [
        refused("log.dirs is empty", log_directories="log.dirs="),
        refused("log.dirs is only commas", log_directories="log.dirs= , "),
        refused("an empty log.dirs outweighs log.dir", log_directories="log.dirs=\nlog.dir=d1"),
        refused("log.dir is empty", log_directories="log.dir="),
        refused("node.id is not set", node="# no id"),
        refused("node.id is empty", node="node.id="),
        refused("node.id is negative", node="node.id=-1"),
    ]


def _infos() -> list[Case]:
    other = OURS.replace(FIRST, SECOND)
    legacy = f"broker.id=1, cluster.id={CLUSTER}, version=0"
    unversioned = f"cluster.id={CLUSTER}, directory.id={FIRST}, version=0"
    return [
        Case("a legacy directory", ("info",), 1, _told(1, legacy, _MODE), (LEGACY,)),
        Case("legacy besides today's", ("info",), 1, _told(2, legacy, _MODE), (LEGACY, other)),
        Case("no version is legacy", ("info",), 1, _told(1, unversioned, _MODE),
             (OURS.removeprefix("version=1\n"),)),
        Case("nothing in it is legacy", ("info",), 1, _told(1, "version=0", _MODE), ("\xff\x00",)),
        Case("two nodes", ("info",), 1,
             _told(2, _OWNER, "Mismatched node IDs between storage directories."),
             (OURS, other.replace("id=1", "id=2"))),
        Case("two clusters", ("info",), 1,
             _told(2, _OWNER, "Mismatched cluster IDs between storage directories."),
             (OURS, other.replace(CLUSTER, FIRST))),
        Case("a broken directory", ("info",), 1,
             _told(2, _OWNER, "Error loading {d}/d2/meta.properties: Failed to find node.id"),
             (OURS, other.replace("node.id=1\n", ""))),
    ]  # fmt: skip


CASES: Final = (*_levels(), *_directories(), *_configurations(), *_infos())
"""All requests. Nothing here is guessed: a test by night asks Kafka's tool again."""
