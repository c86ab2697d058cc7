"""The runs of simulated machines as pieces of a campaign: of Raft, or of a whole cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine import machine_replay, machine_report
from krafla.fuzz.engine.campaign import BRIEF_STEPS
from krafla.fuzz.engine.machine_campaign import Campaign, Report, case_of, play_example, player_of
from krafla.fuzz.engine.machine_shrink import shrink
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.fuzz.engine.run_source import SEED, Kept, SeedResult, judging_digest
from krafla.oracle.jvm import settle, start
from krafla.refinement.raft import spec as raft_spec
from krafla.refinement.stack import spec as stack_spec
from kraft.sim.raft.kinds import DEFAULT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krafla.fuzz.engine.run_source import Seen

__all__ = ["MachineRuns"]

_CHUNK: Final = 5
_IN_LOCKSTEP: Final = {
    "raft": (raft_spec.MODULE,),
    "stack": (raft_spec.MODULE, stack_spec.MODULE),
}
_SECOND: Final = 1_000_000_000
# As many events a run has about.
_EVENTS: Final = 4_000


@dataclass(frozen=True, slots=True)
class MachineRuns:
    """What runs over machines have in common: `krafla.fuzz.engine.run_source.RunSource`.

    Its fields are those of `krafla.fuzz.engine.machine_campaign.Campaign`.
    """

    system: str = "raft"
    kinds: tuple[str, ...] = DEFAULT_KINDS
    lockstep: bool = False
    chaos: float | None = None

    @property
    def campaign(self) -> Campaign:
        """Return the campaign whose examples these are."""
        return Campaign(
            SEED,
            kinds=self.kinds,
            lockstep=self.lockstep,
            system=self.system,
            chaos=self.chaos,
        )

    @property
    def protocol(self) -> str:
        """Return the name of what is simulated."""
        return self.system

    @property
    def plan(self) -> dict[str, Any]:
        """Return the kinds of faults, the seconds of chaos, and whether the spec judges."""
        return {"faults": list(self.kinds), "chaos": self.chaos, "lockstep": self.lockstep}

    @property
    def options(self) -> str:
        """Return the options of the command, each after a blank."""
        return machine_report.options(self.campaign)

    @property
    def chunk(self) -> int:
        """Return how many runs are worth a task of their own."""
        return _CHUNK

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the specs that are asked."""
        in_lockstep = _IN_LOCKSTEP[self.system] if self.lockstep else ()
        return SYSTEMS[self.system].modules + in_lockstep

    def judged_by(self) -> str:
        """Return the digest of the code, and of the specs that are asked."""
        return judging_digest(self.modules)

    def names(self) -> dict[str, tuple[str, ...]]:
        """Return the actions that a run can take, if the spec judges."""
        if not self.lockstep:
            return {}
        from krafla.fuzz.raft.lockstep_judge import action_names

        return {"actions": action_names(SYSTEMS[self.system])}

    def profile_of(self, number: int) -> str:
        """Return the sizes that run ``number`` draws."""
        sizes = case_of(self.campaign, number).configuration
        return f"{sizes.voters} voters, {sizes.observers} observers"

    def prepare(self, count: int) -> None:
        """Have a JVM in this process, if a spec is asked."""
        if self.modules:
            start(brief=count * _EVENTS < BRIEF_STEPS)
            settle()

    def play(self, number: int) -> SeedResult:
        """Return what run ``number`` comes to."""
        played = play_example(self.campaign, number)
        violation = played.violation
        tallies = {
            "actions": dict(played.actions),
            "faults": dict(played.faults),
            "hazards": dict(played.hazards),
            "liveness": {played.liveness: 1},
            "totals": {
                "judged": played.judged,
                "unpromised": played.unpromised,
                "simulated_ns": played.simulated,
                "acknowledged": played.acknowledged,
            },
        }
        return SeedResult(
            seed=number,
            profile=self.profile_of(number),
            steps=played.events,
            finding=() if violation is None else ("property", violation.property),
            detail="" if violation is None else str(violation),
            run=played.digest,
            tallies=tallies,
        )

    def keep(self, number: int, folder: Path) -> Kept:
        """Keep run ``number`` with as few faults as show its finding, as `krafla fuzz` does."""
        played = play_example(self.campaign, number)
        shrunk = shrink(played, player_of(self.campaign))
        assert played.violation is not None, f"run {number} has no finding"
        name = machine_replay.kept_name(self.system, SEED, number)
        machine_replay.write(machine_replay.record(shrunk, lockstep=self.lockstep), folder / name)
        return Kept(
            number,
            self.profile_of(number),
            played.violation.step,
            str(shrunk.violation),
            (name,),
            (f"krafla fuzz {self.system} --replay",),
            faults=len(played.case.plan or ()),
            faults_left=len(shrunk.case.plan or ()),
        )

    def doubts(self, seen: Seen) -> tuple[str, ...]:
        """Return whether no value was acknowledged, no run made progress, or actions missed."""
        return self._report(seen).doubts

    def coverage_lines(self, seen: Seen) -> Iterator[str]:
        """Yield how often actions were taken, faults had effects, and unpromised things broke."""
        return machine_report.coverage_lines(self._report(seen))

    def counts(self, seen: Seen) -> dict[str, int]:
        """Return events, seconds, values, and how many properties were asked after each event."""
        totals = Counter(seen.tallies["totals"])
        judged = {"judged": totals["judged"]} if self.lockstep else {}
        return {
            "events": seen.steps,
            **judged,
            "unpromised": totals["unpromised"],
            "simulated_seconds": totals["simulated_ns"] // _SECOND,
            "acknowledged": totals["acknowledged"],
            "properties": len(SYSTEMS[self.system].properties),
        }

    def summary(self, seen: Seen) -> str:
        """Return in a line how much was played and asked, and how the runs came to their ends."""
        return machine_report.summary(self._report(seen))

    def _report(self, seen: Seen) -> Report:
        """Return the report of `krafla fuzz` on these runs."""
        tallies = seen.tallies
        totals = Counter(tallies["totals"])
        return Report(
            self.campaign,
            examples=seen.seeds,
            events=seen.steps,
            judged=totals["judged"],
            unpromised=totals["unpromised"],
            simulated=totals["simulated_ns"],
            acknowledged=totals["acknowledged"],
            faults=Counter(tallies["faults"]),
            hazards=Counter(tallies["hazards"]),
            liveness=Counter(tallies["liveness"]),
            actions=Counter(tallies["actions"]),
            all_actions=tuple(tallies["actions"]) if self.lockstep else (),
        )
