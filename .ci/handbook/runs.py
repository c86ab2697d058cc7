"""The blocks of a page, run in their order in a folder of the page's own.

A block with a title is a file there. Shell blocks share the folder and where they went in it, and
a copy of `traces` is there. What was run is kept by a digest of the page and of all that it can
depend on; a page is run again when one of these changes.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from handbook.blocks import DATA, SHELLS, Block, BlockError, Command, blocks_of, commands_of

from krafla.child_processes import ChildGroup
from krafla.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parents[2]
# What the output of a command can depend on.
SOURCES = (
    ".ci/handbook/blocks.py",
    ".ci/handbook/runs.py",
    "examples",
    "impl",
    "model",
    "specs",
    "traces",
)
AT_HAND = ("traces",)
LIMIT_SECONDS = 300
WIDTH = 100
# The cursor and the title of a terminal; colours stay, for pictures.
_CONTROL = re.compile(r"\x1b\[\?25[lh]|\x1b\[\d*[KG]|\x1b\][^\x07]*\x07")
# An environment's own Python.
_PYTHON = re.compile(r"/\S*/bin/python\b")


@dataclass(frozen=True, slots=True)
class Output:
    """What one command of a block printed; ``line`` is that of its block, from 1."""

    line: int
    words: str
    text: str


class Shelf:
    """Outputs of pages that were run before, in a folder; by digest, so that none is stale."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def outputs(self, page: str, text: str, run: Callable[[], list[Output]]) -> list[Output]:
        """Return the outputs of a page: those that are kept, or those of ``run``, then kept."""
        digest = hashlib.sha256(f"{_sources()}\n{page}\n{text}".encode()).hexdigest()
        place = self._folder / f"{page.replace('/', '-')}.json"
        if place.is_file():
            kept = json.loads(place.read_text("utf-8"))
            if kept["digest"] == digest:
                return [Output(**one) for one in kept["outputs"]]
        found = run()
        self._folder.mkdir(parents=True, exist_ok=True)
        data = {"digest": digest, "outputs": [asdict(one) for one in found]}
        beside = place.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(data, indent=1), "utf-8")
        beside.replace(place)
        return found


@cache
def _sources() -> str:
    """Return a digest of all files that a command of a page may read or run."""
    found = hashlib.sha256(sys.version.encode())
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                found.update(f"{path.relative_to(ROOT)}\n".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def run_page(text: str, page: str, *, is_night: bool = False) -> list[Output]:
    """Run and check the blocks of a page, and return what its commands printed.

    Blocks that are not to be run are left out; so are those of the night, unless ``is_night``.
    Raises ``BlockError`` for the first block that does not do what the page says.
    """
    chosen = [
        block
        for block in blocks_of(text, page)
        if block.is_run_here and (is_night or not block.orders.is_nightly)
    ]
    outputs: list[Output] = []
    with scratch_folder("handbook") as folder, ChildGroup() as group:
        place = Place(folder, group)
        for number, block in enumerate(chosen):
            outputs += _run(block, chosen[:number], place)
    return outputs


class Place:
    """The folder of a page, and where in it its commands are."""

    def __init__(self, folder: Path, group: ChildGroup) -> None:
        self._group = group
        self.top = folder / "here"
        self.top.mkdir()
        for name in AT_HAND:
            shutil.copytree(ROOT / name, self.top / name)
        self.now = self.top
        self._where = folder / "where"
        self._printed, self._said = folder / "printed", folder / "said"

    def run(self, words: list[str], *, is_coloured: bool) -> subprocess.CompletedProcess[str]:
        """Run a program here and return how it ended, with what it printed."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("KRAFLA_", "PYTEST_")) and name not in ("CI", "COLUMNS")
        }
        environment |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "model"), str(ROOT / "impl")]),
            "COLUMNS": str(WIDTH),
            "WHERE": str(self._where),
        } | ({"FORCE_COLOR": "1", "TERM": "xterm-256color"} if is_coloured else {"NO_COLOR": "1"})
        # Files, not pipes: what a command leaves running would keep a pipe open.
        with (
            self._printed.open("w") as printed,
            self._said.open("w") as said,
            subprocess.Popen(
                words, cwd=self.now, env=environment, stdin=subprocess.DEVNULL, stdout=printed,
                stderr=said, process_group=self._group.id,
            ) as process,
        ):  # fmt: skip
            try:
                status = process.wait(timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                self._group.end()
                raise BlockError(f"it did not end in {LIMIT_SECONDS} s") from None
        texts = [
            self._shown(path.read_text("utf-8", errors="replace"))
            for path in (self._printed, self._said)
        ]
        return subprocess.CompletedProcess(words, status, *texts)

    def shell(self, command: str, *, is_coloured: bool) -> subprocess.CompletedProcess[str]:
        """Run commands of a shell, to the first that fails; the next ones go on where they went."""
        script = f"set -eo pipefail\ntrap 'pwd > $WHERE' EXIT\n{command}"
        ended = self.run(["bash", "-c", script], is_coloured=is_coloured)
        if self._where.exists():
            self.now = Path(self._where.read_text("utf-8").rstrip("\n"))
        return ended

    def _shown(self, text: str) -> str:
        """Return an output without the places of this machine, and without progress."""
        text = _CONTROL.sub("", text).replace(f"{self.top.resolve()}/", "")
        text = _PYTHON.sub("python", text.replace(f"{ROOT}/", ""))
        return "\n".join(line.rstrip().rpartition("\r")[2] for line in text.split("\n"))


def _run(block: Block, before: Sequence[Block], place: Place) -> list[Output]:
    if block.title is not None:
        path = place.now / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{block.text}\n", "utf-8")
    if block.language in SHELLS:
        *first, last = commands_of(block)
        outputs = [_asked(command, block, place, 0) for command in first]
        return [*outputs, _asked(last, block, place, block.orders.status)]
    if block.language == "python" and block.title is None:
        earlier = [one.text for one in before if one.language == "python" and one.title is None]
        script = "\n".join([*earlier, f"print({_MARK!r}, flush=True)", block.text])
        ended = place.run([sys.executable, "-c", script], is_coloured=False)
        _demand(ended, block.orders.status, block)
        printed = ended.stdout.partition(f"{_MARK}\n")[2]
        return [Output(block.line, "", printed)] if printed else []
    _parse(block)
    return []


_MARK = "-- what the block itself prints --"


def _asked(command: Command, block: Block, place: Place, status: int) -> Output:
    try:
        ended = place.shell(command.words, is_coloured=block.orders.picture is not None)
    except BlockError as error:
        raise BlockError(f"{block.place}: {command.words}: {error}") from None
    _demand(ended, status, block, command.words)
    missing = _missing(command.written, ended.stdout)
    if missing is not None:
        raise BlockError(
            f"{block.place}: {command.words}: the page says that it prints\n    {missing}\n"
            f"It printed:\n{ended.stdout}{ended.stderr}"
        )
    # Progress and remarks are of interest only where there is nothing else.
    return Output(block.line, command.words, ended.stdout or ended.stderr)


def _missing(written: Sequence[str], printed: str) -> str | None:
    """Return the first line that a page writes and a command has not printed there.

    The page has the whole output, line by line; `...` stands for any lines.
    """
    lines = [line.rstrip() for line in printed.strip("\n").split("\n")]
    wanted = [line.rstrip() for line in written]
    while wanted and not wanted[-1]:
        wanted.pop()
    at, may_skip = 0, False
    for line in wanted:
        if line.strip() == "...":
            may_skip = True
            continue
        found = next((now for now in range(at, len(lines)) if lines[now] == line), None)
        if found is None or (found > at and not may_skip):
            return line
        at, may_skip = found + 1, False
    return None if not wanted or may_skip or at == len(lines) else "nothing more"


def _demand(
    ended: subprocess.CompletedProcess[str], status: int, block: Block, words: str = "Python"
) -> None:
    if ended.returncode != status:
        raise BlockError(
            f"{block.place}: {words}: exit status {ended.returncode}, not {status}:\n"
            f"{ended.stdout}{ended.stderr}"
        )


def _parse(block: Block) -> None:
    """Demand that data and files can be read, and that a piece of TLA+ is one of the specs."""
    try:
        if block.language == "python":
            ast.parse(block.text)
        elif block.language in DATA:
            _READERS[block.language](block.text)
    except (ValueError, SyntaxError, yaml.YAMLError) as error:
        raise BlockError(f"{block.place}: it is no {block.language}: {error}") from None
    if block.language == "tla" and block.title is None and not _is_in_a_spec(block.text):
        raise BlockError(f"{block.place}: no spec has these lines")


def _json(text: str) -> None:
    """Read one value, or one in each line."""
    try:
        json.loads(text)
    except ValueError:
        for line in text.splitlines():
            json.loads(line)


_READERS: dict[str, Callable[[str], object]] = {
    "toml": tomllib.loads,
    "json": _json,
    "yaml": yaml.safe_load,
}


def _is_in_a_spec(text: str) -> bool:
    wanted = " ".join(text.split())
    return any(wanted in one for one in _specs())


@cache
def _specs() -> tuple[str, ...]:
    paths = sorted((ROOT / "specs").rglob("*.tla"))
    return tuple(" ".join(path.read_text("utf-8").split()) for path in paths)


def shown(output: Output, block: Block) -> str:
    """Return what a page shows of an output: of a long one the lines that its block names."""
    lines = output.text.rstrip("\n").split("\n")
    while lines and not lines[0]:
        lines.pop(0)
    cut = block.orders.cut
    if cut is not None and len(lines) > cut[1]:
        lines = [*lines[: cut[1]], "..."] if cut[0] == "first" else ["...", *lines[-cut[1] :]]
    return "\n".join(lines)
