"""The runs of a game as pieces of a campaign: lease, reassignment, registration and the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.collector import gc_paused
from krafla.fuzz.engine.campaign import BRIEF_STEPS, DEFAULT_STEPS, Failure, doubts_of
from krafla.fuzz.engine.coverage import Coverage
from krafla.fuzz.engine.profiles import DEFAULT_PROFILES, PROFILES_OF, find_profile
from krafla.fuzz.engine.report import save
from krafla.fuzz.engine.run import play_seed
from krafla.fuzz.engine.run_source import SEED, Kept, SeedResult, judging_digest
from krafla.fuzz.engine.shrink import shrink
from krafla.fuzz.engine.systems import LEASE
from krafla.oracle.jvm import settle, start
from krafla.refinement.lease.faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from krafla.fuzz.engine.run_source import Seen
    from krafla.fuzz.engine.systems import Game

__all__ = ["GameRuns"]

_CHUNK: Final = 25


@dataclass(frozen=True, slots=True)
class GameRuns:
    """What the runs of a game have in common: `krafla.fuzz.engine.run_source.RunSource`.

    The profiles are all of the game; run ``n`` takes the ``n``-th in turn.
    """

    steps: int = DEFAULT_STEPS
    profiles: tuple[str, ...] = DEFAULT_PROFILES

    @property
    def game(self) -> Game:
        """Return the simulation; ``KraflaError`` for a profile that there is not."""
        return find_profile(self.profiles[0]).game

    @property
    def protocol(self) -> str:
        """Return the name of the game."""
        return self.game.name

    @property
    def plan(self) -> dict[str, Any]:
        """Return steps and profiles."""
        return {"steps": self.steps, "profiles": list(self.profiles)}

    @property
    def options(self) -> str:
        """Return the options of the command, each after a blank."""
        options = "" if self.steps == DEFAULT_STEPS else f" --steps {self.steps}"
        if self.profiles != PROFILES_OF[self.protocol]:
            options += "".join(f" --profile {name}" for name in self.profiles)
        return options

    @property
    def chunk(self) -> int:
        """Return how many runs are worth a task of their own."""
        return _CHUNK

    def judged_by(self) -> str:
        """Return the digest of the code, and of the specs of the game."""
        return judging_digest(self.game.modules)

    def names(self) -> dict[str, tuple[str, ...]]:
        """Return all actions of the spec and all its witnesses; of the lease, which are faults."""
        coverage = Coverage()
        for name in self.profiles:
            profile = find_profile(name)
            coverage.expect(profile.game.judge(profile.configuration, profile.also).judged)
        names = {"actions": coverage.all_actions, "witnesses": coverage.all_witnesses}
        return names | {"faults": tuple(FAULTS.values()) if self.game is LEASE else ()}

    def profile_of(self, number: int) -> str:
        """Return the name of the profile of run ``number``."""
        return self.profiles[number % len(self.profiles)]

    def prepare(self, count: int) -> None:
        """Have a JVM in this process; who plays in it next finds it there."""
        start(brief=count * self.steps < BRIEF_STEPS)
        settle()

    def play(self, number: int) -> SeedResult:
        """Return what run ``number`` comes to."""
        coverage = Coverage()
        profile = find_profile(self.profile_of(number))
        with gc_paused():
            run = play_seed(profile, f"{SEED} {number}", self.steps, coverage.observe)
        tallies = {
            "actions": coverage.actions,
            "witnesses": dict.fromkeys(coverage.witnesses, 1),
            "faults": _faults(coverage.actions) if self.game is LEASE else {},
            "totals": {
                "judged": coverage.steps,
                "refused": coverage.steps - coverage.actions.total(),
            },
        }
        return SeedResult(
            seed=number,
            profile=profile.name,
            steps=run.steps,
            finding=() if run.finding is None else tuple(run.finding.kind),
            detail="" if run.finding is None else str(run.finding),
            run=hashlib.sha256(run.game.to_json(run.recording)).hexdigest(),
            tallies=tallies,
            states=coverage.fingerprints,
        )

    def keep(self, number: int, folder: Path) -> Kept:
        """Keep the shortest run with the finding of run ``number``: a trace and a recording."""
        profile, seed = find_profile(self.profile_of(number)), f"{SEED} {number}"
        with gc_paused():
            run = play_seed(profile, seed, self.steps)
            assert run.finding is not None, f"run {number} has no finding"
            shrunk = shrink(run)
            trace, recording = save(Failure(number, profile.name, run, shrunk, seed), folder)
        game = self.protocol
        played = "krafla replay" if self.game is LEASE else f"krafla fuzz {game} --replay"
        return Kept(
            number,
            profile.name,
            run.steps,
            str(shrunk.finding),
            (trace.name, recording.name),
            ("krafla replay", played),
            shrunk_steps=shrunk.steps,
        )

    def doubts(self, seen: Seen) -> tuple[str, ...]:
        """Return which actions were never taken, and which witnesses never reached."""
        actions, witnesses = seen.tallies["actions"], seen.tallies["witnesses"]
        return doubts_of(_judged(seen), _missed(actions), _missed(witnesses))

    def coverage_lines(self, seen: Seen) -> Iterator[str]:
        """Yield how often each action was taken, and by how many seeds a witness was reached."""
        for name, count in _most_first(seen.tallies["actions"]):
            yield f"  {count:>11,}  {name}"
        for name, count in seen.tallies["witnesses"].items():
            yield f"  {f'{count:,} seeds' if count else 'never':>11}  {name}"

    def counts(self, seen: Seen) -> dict[str, int]:
        """Return how many steps were taken and how many judged, about how many states visited."""
        return {"steps": seen.steps, "judged": _judged(seen), "states": seen.states}

    def summary(self, seen: Seen) -> str:
        """Return in a line how much was judged and covered."""
        actions, witnesses = seen.tallies["actions"], seen.tallies["witnesses"]
        return (
            f"{_judged(seen):,} judged steps, about {seen.states:,} distinct states, actions"
            f" {_share(actions)}, witnesses {_share(witnesses)}"
        )


def _faults(actions: Mapping[str, int]) -> Counter[str]:
    return Counter({fault: actions[name] for name, fault in FAULTS.items() if actions.get(name)})


def _judged(seen: Seen) -> int:
    """Return of how many choices the spec agreed to what came of them, if only that nothing may."""
    return seen.tallies["totals"].get("judged", 0)


def _missed(counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(name for name, count in counts.items() if not count)


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _share(counts: Mapping[str, int]) -> str:
    return f"{len(counts) - len(_missed(counts))}/{len(counts)}"
