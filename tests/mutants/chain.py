"""The way of a bug: found, shrunk, explained, replayed on the other side, kept, red from then on.

`python -m tests.mutants.chain` takes ten seeded bugs along it, five of the spec and five of the
code, each station one command of krafla, and prints a table. `python -m tests.mutants.chain BUG`
takes one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from krafla.scratch import scratch_folder

ROOT = Path(__file__).resolve().parents[2]
# Bugs of the spec, by the mutants of specs/broken, and where to look for them: in all behaviours
# of the model, the shortest first, or in random ones, which then have something to shrink.
OF_THE_SPEC = {
    "unfence-before-catching-up": "in all",
    "amend-fences": "in all",
    "displace-live-incarnation": "in all",
    "fence-keeps-leading": "in all",
    "exit-keeps-epoch": "at random",
}
# Bugs of the code: seeded bugs of the lease.
OF_THE_CODE = (
    "amending-takes-new-epoch", "newcomer-displaces-live-session", "fencing-leaves-leaderships",
    "failover-starts-no-sessions", "two-requests-in-flight",
)  # fmt: skip
BEHAVIOURS = 2_000


@dataclass(frozen=True)
class Station:
    """One command on the way: what it was, how it ended, what it said."""

    command: str
    status: int
    output: str


@dataclass(frozen=True)
class Way:
    """What became of a bug; lengths are in steps."""

    bug: str
    side: str
    found: int
    shrunk: int
    conjunct: str
    replayed: Station
    kept: str
    red: Station
    green: Station


def mutated_specs(bug: str, folder: Path) -> Path:
    """Return a copy of the specs with one mutant in it."""
    import shutil

    specs = folder / "specs"
    shutil.copytree(ROOT / "specs", specs)
    mutants = tomllib.loads((ROOT / "specs/broken/lease/mutants.toml").read_text())["mutant"]
    mutant = next(one for one in mutants if one["id"] == bug)
    file = specs / mutant["file"]
    text = file.read_text()
    assert text.count(mutant["text"]) == 1, bug
    file.write_text(text.replace(mutant["text"], mutant["replacement"]))
    return specs


def model_of(bug: str) -> str:
    """Return the model in which a mutant of the spec shows."""
    mutants = tomllib.loads((ROOT / "specs/broken/lease/mutants.toml").read_text())["mutant"]
    return next(one["model"] for one in mutants if one["id"] == bug)


class Walker:
    """Runs commands in a scratch folder, with or without the bug."""

    def __init__(self, bug: str, folder: Path) -> None:
        self.bug, self.folder = bug, folder
        self.is_of_spec = bug in OF_THE_SPEC
        self.specs = mutated_specs(bug, folder) if self.is_of_spec else None

    def run(self, *words: str, bug: bool = True, module: str = "krafla") -> Station:
        """Return how `krafla words...` (or pytest) ends; with the bug in place unless told not."""
        # The code of this checkout, whatever the environment has installed.
        rooms = os.pathsep.join(str(ROOT / room) for room in (".", "impl", "model"))
        environment = dict(os.environ, PYTHONPATH=rooms, COLUMNS="200")
        environment.pop("KRAFLA_SPECS", None)
        here = [sys.executable, "-m", "tests.mutants.chain", "--run", module]
        if bug and self.specs is not None:
            environment["KRAFLA_SPECS"] = str(self.specs)
        elif bug:
            here += ["--bug", self.bug]
        done = subprocess.run(
            [*here, "--", *words], cwd=self.folder, env=environment, check=False,
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        return Station(f"{module} {' '.join(words)}", done.returncode, done.stdout + done.stderr)


def walk(bug: str, folder: Path) -> Way:
    """Take one bug along the whole way; an `AssertionError` says at which command it ended."""
    walker = Walker(bug, folder)
    found = _found_in_spec(walker) if walker.is_of_spec else _found_in_code(walker)
    small = folder / "small.ndjson"
    shrunk = expect(walker.run("shrink", str(found), "--output", str(small)), 0)
    explained = expect(walker.run("explain", str(small), "--html", str(folder / "page.html")), 0)
    assert (folder / "page.html").stat().st_size > 10_000, explained
    text = expect(walker.run("explain", str(small)), 0).output
    other = ("--impl",) if walker.is_of_spec else ()
    replayed = walker.run("replay", str(small), *other, bug=False)
    assert replayed.status in {1, 3}, replayed
    corpus = folder / "corpus"
    corpus.mkdir()
    reason = f"A seeded bug: {bug}."
    kept = expect(
        walker.run("keep", str(small), "--as", "rejected", "--reason", reason,
                   "--tag", "seeded", "--into", str(corpus), bug=False), 0,
    )  # fmt: skip
    red = expect(walker.run("-q", str(corpus / "index.toml"), module="pytest"), 1)
    green = expect(walker.run("-q", str(corpus / "index.toml"), module="pytest", bug=False), 0)
    return Way(
        bug, "spec" if walker.is_of_spec else "code",
        _steps(shrunk, "before"), _steps(shrunk, "after"),
        _conjunct(shrunk.output + text), replayed, kept.output, red, green,
    )  # fmt: skip


def _found_in_spec(walker: Walker) -> Path:
    path = walker.folder / "found.ndjson"
    model, random = model_of(walker.bug), ("--simulate", str(BEHAVIOURS), "--depth", "200")
    where = random if OF_THE_SPEC[walker.bug] == "at random" else ()
    expect(walker.run("check", model, *where, "--trace", str(path)), 1)
    return path


def _found_in_code(walker: Walker) -> Path:
    folder = walker.folder / "found"
    expect(
        walker.run("fuzz", "lease", "--profile", "restless", "--steps", "300",
                   "--examples", "400", "--save", str(folder), "--no-shrink"), 1,
    )  # fmt: skip
    (path,) = folder.glob("*.ndjson")
    return path


def expect(station: Station, status: int) -> Station:
    """Return a station that ended as it should."""
    assert station.status == status, f"{station.command}: {station.status}\n{station.output}"
    return station


def _steps(station: Station, word: str) -> int:
    found = re.search(rf"^ *{word} +([\d,]+) step", station.output, re.MULTILINE)
    assert found, station
    return int(found[1].replace(",", ""))


def _conjunct(text: str) -> str:
    found = re.search(r"^ *shows +(.*)$", text, re.MULTILINE)
    return found[1] if found else "?"


def _run(module: str, bug: str | None, words: list[str]) -> None:
    """Be `krafla` or `pytest`, with a bug of the code in place."""
    with ExitStack() as stack:
        if bug is not None:
            from krafla.fuzz.engine.mutant import find_mutant
            from krafla.fuzz.engine.system import find_system

            stack.enter_context(find_mutant(bug, find_system("lease")).applied())
        sys.argv = [module, *words]
        if module == "pytest":
            import pytest

            sys.exit(pytest.main(["-p", "no:randomly", "-p", "no:cacheprovider", *words]))
        from krafla.cli import main

        main()


def table(bugs: list[str]) -> int:
    """Print the way of each bug as a row, and return 0 if none strayed."""
    print(f"{'bug':38} {'side':5} {'found':>5} {'shrunk':>6}  shows")
    strayed = 0
    for bug in bugs:
        with scratch_folder("chain") as folder:
            try:
                way = walk(bug, folder)
            except AssertionError as error:
                strayed += 1
                print(f"{bug:38} strayed: {error}", flush=True)
                continue
        last = way.replayed.output.strip().splitlines()
        print(f"{bug:38} {way.side:5} {way.found:5} {way.shrunk:6}  {way.conjunct}", flush=True)
        print(f"{'':38} other side: {last[-2].strip() if len(last) > 1 else last}", flush=True)
    return min(1, strayed)


if __name__ == "__main__":
    if "--run" in sys.argv[1:2]:
        given = sys.argv[2:]
        named = given[2] if given[1] == "--bug" else None
        _run(given[0], named, given[given.index("--") + 1 :])
    else:
        sys.exit(table(sys.argv[1:] or [*OF_THE_SPEC, *OF_THE_CODE]))
