"""The table of a night: what is asked, by which commands, and for how long at most."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from night import answers

from krafla.manifest import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from night.answers import Answer

    from krafla.manifest import Model

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = 10_000
MUTANTS = 220
# The least limit of a stage: at any scale Java and Spark start, and specs are read.
MINUTES_LEAST = 10


@dataclass(frozen=True, slots=True)
class Night:
    """What a night is asked with; ``scale`` 1 is a whole one."""

    folder: Path
    seed: int
    scale: float = 1.0
    fuzz_seconds: float = 600
    graph_states: int = 200_000
    pytest_arguments: tuple[str, ...] = ()

    def scaled(self, number: float, least: int = 1) -> int:
        """Return a number of a whole night as this night has it."""
        return max(least, math.ceil(number * self.scale))

    def seeds(self, count: int) -> str:
        """Return this number of seeds, which no other night plays."""
        return f"{self.seed}000..{self.seed * 1000 + self.scaled(count) - 1}"

    def tier(self, models: list[Model]) -> list[str]:
        """Return which models, as arguments: all of a whole night, else some, spread evenly."""
        if self.scale >= 1:
            return ["--tier", "all"]
        count = min(len(models), self.scaled(len(load().models), 4))
        return [models[n * len(models) // count].name for n in range(count)]

    def told(self, tier: list[str]) -> str:
        """Return how many models these arguments name, in words."""
        if self.scale >= 1:
            return "every model"
        return f"{len(tier)} small ones of {len(load().models)} models"


@dataclass(frozen=True, slots=True)
class Command:
    """A process, and how its output is read: `answer` gets its exit status and its output.

    It writes the files `made`, which `answer` reads.
    """

    words: tuple[str, ...]
    answer: Callable[[int, str], Answer]
    environment: dict[str, str] = field(default_factory=dict)
    made: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """Commands that are run one after another until one cannot, within a number of minutes."""

    name: str
    asked: str
    minutes: float
    commands: tuple[Command, ...]


def krafla(
    *words: object, answer: Callable[[int, str], Answer], made: tuple[Path, ...] = ()
) -> Command:
    """Return a command of krafla, of the environment that runs this."""
    program = str(Path(sys.executable).with_name("krafla"))
    return Command((program, *map(str, words)), answer, made=made)


def stages(night: Night) -> list[Stage]:
    """Return every stage of a night, in its order."""
    return [
        models(night),
        graphs(night),
        *(fuzz(night, *words) for words in FUZZED),
        *(campaign(night, name, count) for name, count in CAMPAIGNS.items()),
        tables(night),
        *(recording(night, number) for number in (1, 2, 3)),
        *tests(night),
        mutants(night),
    ]


def models(night: Night) -> Stage:
    """Return the stage that checks models."""
    kept = night.folder / "checked.jsonl"
    small = load().select(tier="smoke")
    tier = night.tier(small)
    words = ("check", *tier, "--measure", "--results", kept, "--json")
    check = krafla(*words, answer=answers.models)
    return Stage("models", f"{night.told(tier)}, each action counted", 300, (check,))


def graphs(night: Night) -> Stage:
    """Return the stage that makes the report on state graphs."""
    page = night.folder / "graphs.html"
    states = night.scaled(night.graph_states, 1000)
    small = [one for one in load().models if one.distinct and one.distinct <= states]
    tier = night.tier(small)
    explore = krafla(
        "explore", *tier, "--report", page, "--max-states", states,
        answer=lambda status, output: answers.graphs(status, output, page.with_suffix(".json")),
        made=(page.with_suffix(".json"),),
    )  # fmt: skip
    asked = f"the state graphs of {night.told(tier)}, of at most {states:,} states"
    return Stage("graphs", asked, 180, (explore,))


# Each system, driven by itself; raft and stack also with every step judged by the specs.
FUZZED = [
    ("lease",),
    ("lease", "--profile", "cut-off"),
    ("reassignment",),
    ("metadata",),
    ("registration",),
    ("cluster",),
    ("raft", "--workers", "2"),
    ("raft", "--workers", "2", "--lockstep"),
    ("stack", "--workers", "2"),
    ("stack", "--workers", "2", "--lockstep"),
]


def fuzz(night: Night, *words: str) -> Stage:
    """Return a stage that fuzzes one system from the seed of the night."""
    seconds = night.fuzz_seconds * night.scale
    found = night.folder / "found"
    given = ("--seconds", f"{seconds:g}", "--seed", night.seed, "--save", found, "--json")
    # So short a part of a night misses much, and that says nothing. Nor does one profile reach all:
    # where brokers have no timeout, no lease is ever void.
    is_whole = night.scale >= 1 and "--profile" not in words
    coverage = ("--require-coverage",) if is_whole else ()
    told = [word for word in words if word not in ("--workers", "2", "--profile")]
    name = "-".join(word.removeprefix("--") for word in ["fuzz", *told])
    asked = f"{words[0]} for {seconds:g} s" + "".join(f", {word}" for word in told[1:])
    # After the last run has begun, a finding is shrunk.
    minutes = night.fuzz_seconds / 60 + 30
    return Stage(
        name, asked, minutes, (krafla("fuzz", *words, *given, *coverage, answer=answers.fuzz),)
    )


# So many runs that no night before has played. Fewer of what takes longer; of cluster as many as
# reach its rarest witness, one run in 25.
CAMPAIGNS = {"lease": 1000, "cluster": 250, "raft": 50, "stack": 50}


def campaign(night: Night, name: str, count: int) -> Stage:
    """Return the stage that plays a campaign of one system, and draws its report."""
    folder = night.folder / f"campaign-{name}"
    run = krafla(
        "campaign", name, "--seeds", night.seeds(count), folder, "--json", answer=answers.campaign
    )
    page = krafla("pipeline", "report", folder, answer=answers.done)
    asked = f"runs of {name} in Spark, {night.scaled(count):,} of them, from new seeds"
    return Stage(f"campaign-{name}", asked, 120, (run, page))


def tables(night: Night) -> Stage:
    """Return the stage that reads the logs of the repository into tables, and audits those."""
    folder = night.folder / "tables"
    ingest = krafla(
        "pipeline", "ingest", ROOT / "traces" / "kafka-4.1", folder, "--json",
        answer=answers.ingest,
    )  # fmt: skip
    audit = krafla("pipeline", "audit", folder, "--json", answer=answers.audit)
    asked = "the recorded logs of the repository, read into tables and audited there"
    return Stage("tables", asked, 60, (ingest, audit))


def recording(night: Night, number: int) -> Stage:
    """Return the stage that records a real Kafka through a random scenario, and audits it."""
    folder = night.folder / f"recorded-{number}"
    seed = f"{night.seed}{number}"
    record = krafla(
        "record", "kafka", "--scenario", "random", "--seed", seed, folder, answer=answers.recording
    )
    # A recording that was cut off is begun again: nothing is overwritten.
    clear = Command(("rm", "-rf", str(folder)), answers.done)
    asked = f"a real Kafka through the random scenario of seed {seed}"
    return Stage(f"recording-{number}", asked, 60, (clear, record))


# Tests that take hours: each of these files is a stage of its own.
LONG = (
    "tests/krafla/fuzz/raft/test_machines.py",
    "tests/krafla/fuzz/test_fuzz_machine.py",
    "tests/mutants/test_machine_bugs.py",
    "tests/mutants/test_machine_mutants.py",
    "tests/mutants/test_spec_mutants.py",
)


def tests(night: Night) -> list[Stage]:
    """Return a stage for the tests of each room; of a scaled night some files, spread evenly."""
    files = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    count = min(len(files), night.scaled(len(files), 3))
    rooms: dict[str, list[str]] = {}
    for n in range(count):
        path = files[n * len(files) // count].as_posix()
        rooms.setdefault(room_of(path), []).append(path)
    # Kept traces are tests too.
    rooms["traces"] = ["traces"]
    return [tests_of(night, room, chosen) for room, chosen in sorted(rooms.items())]


def room_of(path: str) -> str:
    """Return the folder of a file of tests, at most three deep; of a long one, the file."""
    if path in LONG:
        return path.removesuffix(".py")
    return "/".join(path.split("/")[:-1][:3])


def tests_of(night: Night, room: str, files: list[str]) -> Stage:
    """Return the stage that runs the tests of one room."""
    name = room.replace("/", "-")
    results = night.folder / f"{name}.xml"
    examples = night.scaled(EXAMPLES, 100)
    # A kept trace is no property, and the profile is one of tests/conftest.py.
    profile = () if room == "traces" else ("--hypothesis-profile=nightly",)
    words = (
        sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadgroup",
        "--max-worker-restart", "0", *profile, f"--junitxml={results}",
        *night.pytest_arguments, *files,
    )  # fmt: skip
    run = Command(
        words,
        lambda status, output: answers.tests(status, output, results),
        # Under CI a skipped test has failed.
        {"CI": "1", "KRAFLA_NIGHTLY": "1", "KRAFLA_NIGHTLY_EXAMPLES": str(examples)},
        (results,),
    )
    told = f"{len(files)} files of {room}" if len(files) > 1 else files[0]
    # A state machine takes an hour or two.
    return Stage(name, f"{told}, every case, {examples:,} examples a property", 240, (run,))


def mutants(night: Night) -> Stage:
    """Return the stage that puts mistakes into the specs."""
    kept = night.folder / "mutants.jsonl"
    count = night.scaled(MUTANTS, 2)
    size = () if night.scale >= 1 else ("--sample", count)
    mutate = krafla("mutate", "specs", *size, "--results", kept, "--json", answer=answers.mutants)
    asked = f"a sample of {count} mistakes in the specs, by the smoke models"
    return Stage("mutants", asked, 480, (mutate,))


def limit_seconds(stage: Stage, night: Night) -> float:
    """Return how long a stage may take."""
    return 60 * max(MINUTES_LEAST, stage.minutes * min(1.0, night.scale))
