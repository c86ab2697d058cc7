"""What many runs covered together, as numbers, as sentences, and what they did not reach."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from krafla.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["TALLIES", "Seen"]

TALLIES: Final = ("actions", "witnesses", "faults", "hazards", "liveness", "totals")
"""What can be counted in a run, each by name; see ``docs/internals/pipeline.md``."""
_SECOND: Final = 1_000_000_000


@dataclass(slots=True)
class Seen:
    """The sum of many runs: how many, their steps, the distinct states, and all tallies.

    ``states`` is an estimate where ``is_estimate`` says so. ``first_reached`` has for each witness
    the judged step of the campaign that reached it first; it is None if only runs are counted.
    """

    runs: int = 0
    steps: int = 0
    states: int = 0
    is_estimate: bool = False
    first_reached: dict[str, int] | None = None
    tallies: dict[str, Counter[str]] = field(
        default_factory=lambda: {name: Counter() for name in TALLIES}
    )

    def add(self, steps: int, tallies: Mapping[str, Mapping[str, int]]) -> None:
        """Add a run."""
        self.runs += 1
        self.steps += steps
        for name, counts in tallies.items():
            self.tallies[name].update(counts)

    def counts(self, tally: str) -> Mapping[str, int]:
        """Return the counts of one tally, by name."""
        found = self.tallies[tally]
        if tally != "witnesses" or not self.first_reached:
            return found
        return {name: count or int(name in self.first_reached) for name, count in found.items()}

    @property
    def totals(self) -> dict[str, int]:
        """Return the numbers that tell how much was played, by name."""
        totals = dict(self.counts("totals"))
        found = {"steps": self.steps, "judged": totals.pop("judged", 0)}
        if self._on_machines:
            return found | {
                "unpromised": totals.get("unpromised", 0),
                "simulated_seconds": totals.get("simulated_ns", 0) // _SECOND,
                "acknowledged": totals.get("acknowledged", 0),
            }
        return found | {"refused": totals.get("refused", 0), "states": self.states}

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why the runs show nothing; they do if any step was judged."""
        if not self.steps:
            return ("no step was taken",)
        if not self._on_machines and not self.totals["judged"]:
            return ("no step was judged",)
        # Only a judge of the specs counts actions.
        actions = self.counts("actions")
        if self._on_machines and actions and not any(actions.values()):
            return ("no step was judged by the spec",)
        return ()

    @property
    def missed(self) -> tuple[str, ...]:
        """Return what the runs did not come by, though they could have."""
        found = []
        if self.steps and self._on_machines:
            if not self.counts("totals")["acknowledged"]:
                found.append("no value was ever acknowledged")
            ends = self.counts("liveness")
            progress = ends.get("progress", 0)
            if not progress:
                found.append("no run came to its end and made progress there")
            elif 2 * progress < sum(ends.values()):
                found.append(f"only {progress:,} of {sum(ends.values()):,} runs made progress")
        for tally, what in (("actions", "taken"), ("witnesses", "reached")):
            names = _uncounted(self.counts(tally))
            if names:
                found.append(f"{tally} never {what}: {', '.join(names)}")
        return tuple(found)

    def lines(self) -> Iterator[str]:
        """Yield how often each action was taken, where witnesses were reached, what faults did."""
        for name, count in _most_first(self.counts("actions")):
            yield f"  {count:>11,}  {name}"
        for name, count in self.counts("witnesses").items():
            first = (self.first_reached or {}).get(name)
            where = counted(count, "seed") if self.first_reached is None else f"step {first or 0:,}"
            yield f"  {where if count else 'never':>11}  {name}"
        if self.counts("faults"):
            yield "effects of faults, by kind:"
        for name, count in _most_first(self.counts("faults")):
            yield f"  {count:>11,}  {name}"
        unpromised = self.counts("totals").get("unpromised")
        if unpromised:
            yield f"  {unpromised:>11,}  steps that promise less: a disk was damaged, or a"
            yield f"  {'':>11}  sole voter lost what only it had"
        for name, count in sorted(self.counts("hazards").items()):
            yield f"  {count:>11,}  times {name} broke where it was promised no more"

    def summary(self, seconds: float | None = None) -> str:
        """Return in a line how much was played and covered, with rates if ``seconds`` are given."""

        def rate(count: int) -> str:
            return "" if seconds is None else f" ({count / seconds:,.0f}/s)"

        totals, ends = self.totals, sorted(self.counts("liveness").items())
        parts = [f"{counted(totals['judged'], 'step')} judged by the spec{rate(totals['judged'])}"]
        if self._on_machines:
            judged = parts if totals["judged"] else []
            parts = [f"{counted(self.steps, 'step')}{rate(self.steps)}", *judged]
        if self.states:
            parts.append(f"{'about ' * self.is_estimate}{counted(self.states, 'distinct state')}")
        parts += [
            f"{tally} {len(counts) - len(_uncounted(counts))}/{len(counts)}"
            for tally in ("actions", "witnesses")
            if (counts := self.counts(tally))
        ]
        if self._on_machines:
            simulated = totals["simulated_seconds"]
            parts += [
                f"{simulated:,} simulated s{rate(simulated)}",
                f"{counted(sum(self.counts('faults').values()), 'effect')} of faults",
                f"{counted(totals['acknowledged'], 'value')} acknowledged",
            ]
        told = ", ".join(parts)
        return told + (f"; at the end {_listed(ends)}" if ends else "")

    @property
    def evidence(self) -> tuple[str, ...]:
        """Return what a verdict on these runs rests on, one fact a line."""
        totals = self.totals
        if self._on_machines:
            faults = self.counts("faults")
            kinds = counted(len(faults), "kind of fault", "kinds of faults")
            promised = self.steps - totals["unpromised"]
            return (
                f"{counted(promised, 'step')}, the properties asked after each",
                f"{counted(sum(faults.values()), 'effect')} of {kinds}",
                f"{counted(totals['acknowledged'], 'value')} acknowledged",
                f"{counted(totals['simulated_seconds'], 'simulated second')}",
            )
        actions, witnesses = self.counts("actions"), self.counts("witnesses")
        missed = bool(_uncounted(actions) or _uncounted(witnesses))
        excuse = " (a short search need not reach all)" if missed else ""
        return (
            f"{counted(totals['judged'], 'step')} judged",
            f"{len(actions) - len(_uncounted(actions))} of {len(actions)} actions taken",
            f"{len(witnesses) - len(_uncounted(witnesses))} of {len(witnesses)} witnesses reached"
            f"{excuse}",
            f"{counted(self.states, 'distinct state')} of the spec",
        )

    @property
    def _on_machines(self) -> bool:
        return "acknowledged" in self.counts("totals")


def _uncounted(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the names that were never counted."""
    return tuple(name for name, count in counts.items() if not count)


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _listed(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts)
