"""The simulated network: the fate of each message, link by link.

The seed, the link, and the number of earlier messages on that link determine the fate of a message.
So removing a fault from a plan does not shift the delays of other messages. Links join machines,
not node ids: two machines may claim the same node id.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

from kraft.chance import derive, exponential, mix
from kraft.raft.configuration import MILLISECOND

MICROSECOND: Final = 1000
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A network fault while it lasts: its links, and what it does to messages.

    `cut` are ordered pairs of machines between which no message passes from `since` on. `held` are
    machines whose messages from then on wait until `until`. The other fields apply to `link`, or to
    every link without one: `loss`, `duplication` and `delay` are per million messages, and a delay
    adds `extra` nanoseconds on average. `salt` is the fault's own chance.
    """

    kind: str
    cut: frozenset[tuple[int, int]] = frozenset()
    held: frozenset[int] = frozenset()
    since: int = 0
    until: int = 0
    loss: int = 0
    duplication: int = 0
    delay: int = 0
    extra: int = 0
    salt: int = 0
    link: tuple[int, int] | None = None


class Fate(NamedTuple):
    """When a message arrives (None if lost), when its copy does (None without one), and why."""

    arrival: int | None
    copy: int | None = None
    lost_by: str = ""


@dataclass(frozen=True, slots=True)
class Latency:
    """The duration of messages without faults: at least `least`, on average `mean` nanoseconds.

    `shape` is "steady" (nearly `mean`), "exponential", or "heavy": exponential, with one message in
    64 twenty times as slow.
    """

    least: int = 100 * MICROSECOND
    mean: int = MILLISECOND
    shape: str = "exponential"


class Network:
    """The links of a run. `counts` are the messages that faults affected, by kind of fault."""

    __slots__ = (
        "_core",
        "_core_hears",
        "_delays",
        "_is_heavy",
        "_rules",
        "_seed",
        "_sent",
        "counts",
    )

    def __init__(self, seed: int, latency: Latency) -> None:
        self._seed = derive(seed, "network")
        self._sent: dict[tuple[int, int], int] = {}
        self._rules: dict[tuple[int, int], Rule] = {}
        self._core: frozenset[int] | None = None
        self._core_hears = False
        spread = latency.mean - latency.least
        if latency.shape == "steady":
            extra = [spread * 7 // 8 + (spread * cell >> 12) for cell in range(1024)]
        else:
            extra = [exponential(cell, spread) for cell in range(1024)]
        self._delays = tuple(latency.least + each for each in extra)
        self._is_heavy = latency.shape == "heavy"
        self.counts: Counter[str] = Counter()

    def add(self, number: tuple[int, int], rule: Rule) -> None:
        """Begin a rule; `number` identifies its fault and the rule."""
        self._rules[number] = rule

    def end(self, number: tuple[int, int]) -> None:
        """End this rule."""
        self._rules.pop(number, None)

    def heal_core(self, core: frozenset[int], *, hears: bool) -> None:
        """Heal all links between these machines, and cut all links from them to others.

        With `hears`, messages of the others still arrive at them.
        """
        self._core, self._core_hears = core, hears

    def fate(self, now: int, source: int, destination: int) -> Fate | int:
        """Return the fate of a message sent now."""
        link = (source, destination)
        count = self._sent.get(link, 0)
        self._sent[link] = count + 1
        word = mix(self._seed ^ (source << 56) ^ (destination << 48) ^ count)
        arrival = now + self._delays[word & 1023]
        if self._is_heavy and (word >> 10) & 63 == 0:
            arrival += 19 * (arrival - now)
        core = self._core
        if core is not None:
            return self._fate_by_core(core, link, arrival)
        if not self._rules:
            return arrival
        return self._fate_by_rules(now, link, word, arrival)

    def _fate_by_core(self, core: frozenset[int], link: tuple[int, int], arrival: int) -> Fate:
        source_is_in, destination_is_in = link[0] in core, link[1] in core
        if source_is_in == destination_is_in or (destination_is_in and self._core_hears):
            return Fate(arrival)
        return Fate(None, None, "outside the core")

    def _fate_by_rules(self, now: int, link: tuple[int, int], word: int, arrival: int) -> Fate:
        copy = None
        for rule in self._rules.values():
            kind = rule.kind
            if rule.cut:
                if link in rule.cut and rule.since <= now:
                    self.counts[kind] += 1
                    return Fate(None, None, kind)
                continue
            if rule.held:
                holds = rule.since <= now and arrival < rule.until
                if holds and (link[0] in rule.held or link[1] in rule.held):
                    self.counts[kind] += 1
                    arrival = rule.until + (arrival & 0xFFFFF)
                continue
            if rule.link is not None and rule.link != link:
                continue
            luck = mix(word ^ rule.salt)
            if (luck & 0xFFFFF) * _MILLION >> 20 < rule.loss:
                self.counts[kind] += 1
                return Fate(None, None, kind)
            if (luck >> 20 & 0xFFFFF) * _MILLION >> 20 < rule.duplication:
                self.counts[kind] += 1
                copy = arrival + exponential(luck >> 40, rule.extra)
            if (luck >> 20 & 0xFFFFF) * _MILLION >> 20 < rule.delay:
                self.counts[kind] += 1
                arrival += exponential(luck >> 40, rule.extra)
        return Fate(arrival, copy)
