"""A campaign in pieces: what each single run comes to, whoever plays it, wherever and when.

Run ``n`` here is run ``n`` of ``krafla fuzz lease --seed 0`` with the same profiles and steps. So
many machines can share a campaign, and their results are those of one.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from krafla.fuzz.campaign import DEFAULT_STEPS, Failure
from krafla.fuzz.coverage import Coverage
from krafla.fuzz.play import play_seed
from krafla.fuzz.profiles import DEFAULT_PROFILES, find_profile
from krafla.fuzz.shrink import shrink
from krafla.oracle.digest import spec_digest
from krafla.refinement.lease_spec import load_lease
from krafla.refinement.properties import MODULE
from krafla.refinement.vocabulary import Vocabulary
from kraft import errors

__all__ = ["Runs", "SeedResult", "judged_by", "play_one", "shrunk_failure", "spec_names"]

_SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Runs:
    """What the runs of a campaign have in common."""

    steps: int = DEFAULT_STEPS
    profiles: tuple[str, ...] = DEFAULT_PROFILES

    def profile_of(self, number: int) -> str:
        """Return the name of the profile of run ``number``."""
        return self.profiles[number % len(self.profiles)]


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one run came to.

    ``finding`` is its kind, empty if the spec agreed to everything, and ``detail`` its text.
    ``refused`` counts choices that were rightly not possible. ``digest`` (SHA-256) is of the
    choices, the actions and the finding: equal digests, equal runs. ``states`` are the
    fingerprints of the states of the spec that were visited.
    """

    seed: int
    profile: str
    steps: int
    refused: int
    actions: tuple[tuple[str, int], ...]
    witnesses: tuple[str, ...]
    finding: tuple[str, ...]
    detail: str
    digest: str
    states: frozenset[int]


def play_one(number: int, runs: Runs) -> SeedResult:
    """Return what run ``number`` comes to; ``KraflaError`` for a profile that there is not."""
    coverage = Coverage()
    profile = find_profile(runs.profile_of(number))
    run = play_seed(profile, f"{_SEED} {number}", runs.steps, coverage.observe)
    actions = tuple(sorted(coverage.actions.items()))
    finding = () if run.finding is None else tuple(run.finding.kind)
    detail = "" if run.finding is None else str(run.finding)
    content = hashlib.sha256(run.game.to_json(run.recording))
    for part in (f"{number} {profile.name}", repr(actions), repr(finding), detail):
        content.update(b"\0" + part.encode())
    return SeedResult(
        seed=number,
        profile=profile.name,
        steps=run.steps,
        refused=coverage.steps - coverage.actions.total(),
        actions=actions,
        witnesses=tuple(sorted(coverage.witnesses)),
        finding=finding,
        detail=detail,
        digest=content.hexdigest(),
        states=coverage.fingerprints,
    )


def shrunk_failure(number: int, runs: Runs) -> Failure:
    """Return run ``number``, which has a finding, and the shortest run with the same one."""
    profile, seed = find_profile(runs.profile_of(number)), f"{_SEED} {number}"
    run = play_seed(profile, seed, runs.steps)
    assert run.finding is not None, f"run {number} has no finding"
    return Failure(number, profile.name, run, shrink(run), seed)


@functools.cache
def judged_by() -> str:
    """Return the SHA-256 of the code that is judged and of all that judges it.

    Results with different numbers here are not of one campaign.
    """
    judged, judge = Path(errors.__file__).parent, Path(__file__).parents[1]
    code = {f"kraft/{path.relative_to(judged)}": path for path in judged.rglob("*.py")}
    rooms = [*judge.glob("*.py")]
    for room in ("fuzz", "match", "oracle", "refinement", "shrink", "traces"):
        rooms += (judge / room).rglob("*.py")
    code |= {f"krafla/{path.relative_to(judge)}": path for path in rooms}
    content = hashlib.sha256(spec_digest(MODULE).encode())
    for name, path in sorted(code.items()):
        content.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return content.hexdigest()


def spec_names(runs: Runs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all actions of the spec and of all its witnesses."""
    actions: dict[str, None] = {}
    witnesses: dict[str, None] = {}
    for name in runs.profiles:
        profile = find_profile(name)
        lease = load_lease(Vocabulary.of(profile.configuration), profile.also)
        actions |= dict.fromkeys(action.name for action in lease.spec.actions)
        witnesses |= dict.fromkeys(lease.properties.witnesses)
    return tuple(actions), tuple(witnesses)
