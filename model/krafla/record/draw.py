"""A scenario drawn from a seed: the text of its file, the same for the same seed, for ever."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from krafla.record.scenario import Scenario, parse

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RANDOM", "draw"]

RANDOM = "random"
_ROUNDS = 9
_LEVELS = ("3.7", "3.9", "4.0")
_BROKERS = 3
_PARTITIONS_MAX = 4
# Two of three voters go on without the third.
_VOTERS_FOR_FAILOVER = 3


def draw(seed: int) -> Scenario:
    """Return a scenario of about twenty-five steps: blocks of one fault or a few requests each."""
    drawing = _Drawing(Random(f"krafla record {seed}"))  # noqa: S311 - a plan, no secret
    return parse(drawing.text(seed), RANDOM, f"{RANDOM}, seed {seed}")


class _Drawing:
    """What has been drawn so far. Between two blocks every node is running."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lines: list[str] = []
        self._topics: dict[str, int] = {}
        self._made = 0
        self._combined = random.random() < 0.2
        self._dynamic = not self._combined and random.random() < 0.3
        self._level = None if self._dynamic else random.choice((None, *_LEVELS))
        self._voters = 3 if self._combined or self._dynamic else random.choice((1, 3, 3))
        first = 1 if self._combined else 0
        self._brokers = range(first, first + _BROKERS)

    def text(self, seed: int) -> str:
        """Return the file."""
        head = [f"sentence: Faults and requests as seed {seed} draws them."]
        if self._combined:
            head.append(f"combined: {_BROKERS}")
        else:
            head += [f"controllers: {self._voters}", f"brokers: {_BROKERS}"]
        if self._dynamic:
            head.append("quorum: dynamic")
        if self._level is not None:
            head.append(f"metadata-version: {self._level}")
        if self._dynamic:
            self._lines += ["add-voter 3001", "add-voter 3002"]
        self._create(_BROKERS)
        self._create(2)
        blocks: list[Callable[[], None]] = [
            self._broker_down,
            self._broker_down,
            self._broker_paused,
            self._move,
            self._move,
            self._requests,
            self._requests,
        ]
        if self._voters == _VOTERS_FOR_FAILOVER:
            blocks += [self._leader_down, self._leader_down, self._leader_paused]
        upgrade_at = self._random.randrange(_ROUNDS)
        for number in range(_ROUNDS):
            if number == upgrade_at and self._level is not None:
                self._lines.append("upgrade 4.1")
            self._random.choice(blocks)()
        return "\n".join([*head, "", *self._lines]) + "\n"

    def _topic(self) -> str:
        return self._random.choice(list(self._topics))

    def _create(self, replicas_max: int) -> None:
        self._made += 1
        name = f"t{self._made}"
        partitions = self._random.randint(1, _PARTITIONS_MAX)
        replicas = self._random.randint(1, replicas_max)
        minimum = self._random.randint(1, replicas)
        configs = f" min.insync.replicas={minimum}" if minimum > 1 else ""
        self._topics[name] = partitions
        self._lines.append(f"create-topic {name} {partitions} replicas={replicas}{configs}")

    def _broker_down(self) -> None:
        broker = self._random.choice(self._brokers)
        self._lines.append(f"{self._random.choice(('kill', 'stop'))} {broker}")
        if self._random.random() < 0.75:
            self._lines.append(f"wait fenced {broker}")
            self._meanwhile()
        self._lines.append(f"start {broker}")
        if self._random.random() < 0.5:
            self._lines.append(f"try elect preferred {self._topic()}")

    def _meanwhile(self) -> None:
        """Something that two brokers can do."""
        kind = self._random.randrange(3)
        if kind == 0:
            self._create(2)
        elif kind == 1:
            self._lines.append(f"alter-config topic {self._topic()} retention.ms=60000")
        else:
            self._lines.append(f"try elect unclean {self._topic()}")

    def _broker_paused(self) -> None:
        broker = self._random.choice(self._brokers)
        back = [f"resume {broker}", f"wait unfenced {broker}"]
        self._lines += [f"pause {broker}", f"wait fenced {broker}", *back]

    def _leader_down(self) -> None:
        self._lines += [f"{self._random.choice(('kill', 'stop'))} active", "wait leader"]
        self._lines.append("start all")

    def _leader_paused(self) -> None:
        self._lines += ["pause active", "wait leader", "resume all"]

    def _move(self) -> None:
        name = self._topic()
        count = self._topics[name]
        chosen = sorted(self._random.sample(range(count), self._random.randint(1, count)))
        moves = []
        for partition in chosen:
            replicas = self._random.sample(self._brokers, self._random.randint(1, _BROKERS))
            moves.append(f"{partition}={','.join(map(str, replicas))}")
        self._lines.append(f"reassign {name} {' '.join(moves)}")
        if self._random.random() < 0.3:
            self._lines.append(f"try cancel {name}")
        self._lines.append(f"wait reassigned {name}")

    def _requests(self) -> None:
        name = self._topic()
        self._topics[name] += 1
        self._lines.append(f"add-partitions {name} {self._topics[name]}")
        user = self._random.choice(("alice", "bob"))
        choices = [
            f"allow {user} Read {name}",
            f"quota {user} {self._random.randint(1, 9)}000",
            f"scram {user}",
            f"alter-config broker default message.max.bytes={self._random.randint(1, 9)}000000",
            f"produce {name} 200",
        ]
        self._lines += self._random.sample(choices, 2)
        if len(self._topics) > 2:
            gone = self._topic()
            del self._topics[gone]
            self._lines.append(f"delete-topic {gone}")
        self._create(_BROKERS)
