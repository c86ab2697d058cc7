"""The game of ``Table.tla`` once more, as sets of states, and what was seen of runs of it.

It shares nothing with the judges: no search, no order of candidates and no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from krafla.testing import Observation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from krafla.traces.partial import ObservedKind

PLAYERS = ("ann", "bob")
# The values of the parameters of each action, and one that Next gives it in few states.
ACTIONS = {
    "Advance": (),
    "Sit": (PLAYERS,),
    "Leave": (PLAYERS,),
    "Play": (PLAYERS, (0, 1, 2)),
    "Restart": (),
}


class Table(NamedTuple):
    """A state of the game."""

    round: int
    score: int
    seated: frozenset[str]


BEGINNINGS = frozenset(Table(number, 0, frozenset()) for number in (0, 1))

Step = tuple[str, tuple[object, ...], Table]


def steps(table: Table) -> Iterator[Step]:
    """Yield every step that the game has from a state."""
    if table.round < 2:
        yield "Advance", (), table._replace(round=table.round + 1)
    for one in PLAYERS:
        if one in table.seated:
            yield "Leave", (one,), table._replace(seated=table.seated - {one})
            for points in range(table.round + 1):
                yield "Play", (one, points), table._replace(score=points)
        else:
            for score in (table.score, (table.score + 1) % 3):
                yield "Sit", (one,), table._replace(score=score, seated=table.seated | {one})
    if table.score == 2:
        yield "Restart", (), table._replace(round=0)


def keeps(before: Table, after: Table) -> bool:
    """Return whether a step keeps the properties."""
    is_over = after.round == after.score == 2
    return not is_over and (before == after or after.round >= before.round or not before.seated)


def sound_steps(table: Table) -> list[Step]:
    """Return the steps that keep the properties."""
    return [one for one in steps(table) if keeps(table, one[2])]


@dataclass(frozen=True)
class Look:
    """What was seen at once; a parameter that was not seen is ``None``."""

    kind: ObservedKind
    action: str | None
    given: tuple[object, ...] | None = None
    seen: dict[str, object] = field(default_factory=dict)

    def names(self, step: Step) -> bool:
        """Return whether a step is of the action and the parameters that were seen."""
        action, parameters, _ = step
        if self.action is None:
            return True
        pairs = zip(self.given or (), parameters, strict=True)
        return self.action == action and all(one in {None, other} for one, other in pairs)

    def fits(self, table: Table) -> bool:
        """Return whether a state is as was seen."""
        return all(getattr(table, name) == value for name, value in self.seen.items())

    def is_shown_by(self, table: Table) -> bool:
        """Return whether a state shows it without a step."""
        is_allowed = self.kind == "refusal" and any(map(self.names, steps(table)))
        return self.fits(table) and not is_allowed

    def observation(self) -> Observation:
        """Return it as krafla reads it."""
        seen = tuple(((name,), value) for name, value in self.seen.items())
        return Observation(self.action, self.given, seen, kind=self.kind)  # type: ignore[arg-type]  # its values are TLA+ values


def with_hidden(tables: Iterable[Table], hidden: Iterable[str]) -> set[Table]:
    """Return the states with all that hidden steps lead to."""
    found, new = set(tables), set(tables)
    while new:
        new = {step[2] for one in new for step in sound_steps(one) if step[0] in hidden} - found
        found |= new
    return found


def ends(looks: Iterable[Look], hidden: Iterable[str]) -> list[set[Table]]:
    """Return the states in which the game can be after each look, as long as there are any."""
    first, *others = looks
    found = [{one for one in BEGINNINGS if first.fits(one)}]
    for look in others:
        if not found[-1]:
            break
        before = with_hidden(found[-1], hidden)
        if look.kind == "step":
            taken = (step for one in before for step in sound_steps(one) if look.names(step))
            found.append({step[2] for step in taken if look.fits(step[2])})
        else:
            found.append({one for one in before if look.is_shown_by(one)})
    return found


def looks_at_a_run(random: Random, hidden: Iterable[str]) -> list[Look]:
    """Return what was seen of a run of the game; now and then it is seen wrongly."""
    table = random.choice(sorted(BEGINNINGS))
    found = [Look("step", "Init", seen=_seen(random, table))]
    for _ in range(random.randint(1, 8)):
        while random.random() < 0.5:
            unseen = [step[2] for step in sound_steps(table) if step[0] in hidden]
            if not unseen:
                break
            table = random.choice(unseen)
        kind = random.choice(("step", "step", "step", "stay", "refusal"))
        action: str | None = random.choice(sorted(ACTIONS))
        parameters = tuple(map(random.choice, ACTIONS[str(action)]))
        if kind == "step" and random.random() < 0.9:
            action, parameters, table = random.choice(sound_steps(table))
        given = tuple(None if random.random() < 0.3 else one for one in parameters)
        if kind == "stay" or (kind == "step" and random.random() < 0.2):
            action = None
        seen = {} if kind == "refusal" else _seen(random, table)
        found.append(Look(kind, action, None if action is None else given, seen))
    return found


def _seen(random: Random, table: Table) -> dict[str, object]:
    share = random.choice((0.2, 0.5, 1.0, 1.0))
    seen: dict[str, object] = {
        name: value for name, value in table._asdict().items() if random.random() < share
    }
    if seen and random.random() < 0.1:
        name = random.choice(sorted(seen))
        other = Table(random.randint(0, 2), random.randint(0, 2), frozenset({"ann"}))
        seen[name] = getattr(other, name)
    return seen
