"""The check of a scenario before anything is booted: which nodes run, what exists at each step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krafla.record.verbs import ENTITIES, VERBS, ArgumentKind, Needs
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.record.scenario import Scenario, ScenarioStep, Shape

__all__ = ["ACTIVE", "ALL", "check"]

# The names of nodes that are no numbers: the active controller; all that are down, or paused.
ACTIVE = "active"
ALL = "all"
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,100}")


def check(scenario: Scenario) -> None:
    """Raise ``KraflaError``, with file and line, at the first step that makes no sense."""
    expected = _Expected(scenario.shape)
    for step in scenario.steps:
        expected.take(step)


class _Expected:
    """The expected state of the cluster before each step."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._up = set(shape.node_ids)
        self._paused: set[int] = set()
        # Controllers that are down or paused without it being known which.
        self._lost = self._hung = 0
        self._voters = set(shape.first_voters)
        self._topics: dict[str, int] = {}
        self._moved: set[str] = set()

    def take(self, step: ScenarioStep) -> None:
        """Check one step, and update the expected state."""
        verb = VERBS.get(step.verb)
        if verb is None:
            raise KraflaError(f"no step {step.verb!r}; there are: {', '.join(VERBS)}", step.place)
        least = len(verb.kinds) - verb.optional
        if not least <= len(step.arguments) <= len(verb.kinds):
            raise KraflaError(f"the form is: {step.verb} {verb.usage}", step.place)
        for kind, word in zip(verb.kinds, step.arguments, strict=False):
            self._argument(kind, word, step)
        odd = [o for o in step.options if o not in verb.options and not verb.free]
        if odd:
            raise KraflaError(f"{step.verb} has no option {odd[0]!r}", step.place)
        for number in ("replicas", "rate", "throttle"):
            if number in verb.options and number in step.options:
                self._number(step.options[number], number, step)
        if verb.needs is Needs.BROKER:
            self._answering(step)
        change = getattr(self, f"_{step.verb.replace('-', '_')}", None)
        if change is not None:
            change(step)

    def _argument(self, kind: ArgumentKind, word: str, step: ScenarioStep) -> None:
        if kind is ArgumentKind.NEW_TOPIC:
            if not _TOPIC.fullmatch(word):
                raise KraflaError(f"{word!r} is no name of a topic", step.place)
            if word in self._topics:
                raise KraflaError(f"topic {word!r} exists already", step.place)
        elif kind is ArgumentKind.TOPIC:
            self._topic(word, step)
        elif kind is ArgumentKind.COUNT:
            self._number(word, "a count", step)
        elif kind is ArgumentKind.ENTITY and word not in ENTITIES:
            raise KraflaError(f"configs hang on {', '.join(ENTITIES)}, not {word!r}", step.place)
        elif kind in {ArgumentKind.ELECTION, ArgumentKind.FOR} and word not in kind.value.split(
            "|"
        ):
            raise KraflaError(f"one of {kind.value}, not {word!r}", step.place)
        elif kind is ArgumentKind.BROKER:
            self._one_of(word, self._shape.broker_ids, "broker", step)
        elif kind is ArgumentKind.CONTROLLER:
            self._one_of(word, self._shape.controller_ids, "controller", step)
        elif kind is ArgumentKind.NODE and not self._is_name(word, step):
            self._one_of(word, self._shape.node_ids, "node", step)

    @staticmethod
    def _is_name(word: str, step: ScenarioStep) -> bool:
        names = {ALL} if step.verb in {"start", "resume"} else {ACTIVE}
        return word in names and step.verb != "wipe"

    @staticmethod
    def _number(word: str, what: str, step: ScenarioStep) -> None:
        if not word.isdecimal() or len(word) > len("1000000"):
            raise KraflaError(f"{what} is a number up to 9999999, not {word!r}", step.place)

    @staticmethod
    def _one_of(word: str, ids: tuple[int, ...], what: str, step: ScenarioStep) -> int:
        if not word.isdecimal() or int(word) not in ids:
            known = ", ".join(map(str, ids))
            raise KraflaError(f"no {what} {word!r}; there are: {known}", step.place)
        return int(word)

    def _topic(self, word: str, step: ScenarioStep) -> None:
        if word not in self._topics:
            raise KraflaError(f"there is no topic {word!r} by then", step.place)

    def _answering(self, step: ScenarioStep) -> None:
        if not any(b in self._up - self._paused for b in self._shape.broker_ids):
            raise KraflaError(
                f"no broker is running by then that {step.verb} could ask", step.place
            )
        if not self._has_majority():
            raise KraflaError(f"no majority of voters is running by then: {step.text}", step.place)

    def _has_majority(self) -> bool:
        answering = len(self._voters & (self._up - self._paused)) - self._lost - self._hung
        return answering * 2 > len(self._voters)

    # The rest: what each verb asks and changes beyond that.

    def _create_topic(self, step: ScenarioStep) -> None:
        name, partitions = step.arguments
        replicas = int(step.options.get("replicas", "1"))
        if not 1 <= replicas <= len(self._shape.broker_ids) or int(partitions) < 1:
            known = len(self._shape.broker_ids)
            raise KraflaError(f"1 to {known} replicas, of at least 1 partition", step.place)
        self._topics[name] = int(partitions)

    def _delete_topic(self, step: ScenarioStep) -> None:
        del self._topics[step.arguments[0]]
        self._moved.discard(step.arguments[0])

    def _add_partitions(self, step: ScenarioStep) -> None:
        name, partitions = step.arguments
        if int(partitions) <= self._topics[name]:
            raise KraflaError(f"{name!r} has {self._topics[name]} partitions already", step.place)
        self._topics[name] = int(partitions)

    def _reassign(self, step: ScenarioStep) -> None:
        name = step.arguments[0]
        moved = {key: value for key, value in step.options.items() if key != "throttle"}
        if not moved:
            raise KraflaError("say which partition goes where, as 0=1,2", step.place)
        for partition, replicas in moved.items():
            if not partition.isdecimal() or int(partition) >= self._topics[name]:
                raise KraflaError(f"{name!r} has no partition {partition!r}", step.place)
            listed = [
                self._one_of(one, self._shape.broker_ids, "broker", step)
                for one in replicas.split(",")
            ]
            if len(set(listed)) < len(listed):
                raise KraflaError(f"a broker is named twice in {replicas!r}", step.place)
        self._moved.add(name)

    def _cancel(self, step: ScenarioStep) -> None:
        if step.arguments[0] not in self._moved:
            raise KraflaError(f"{step.arguments[0]!r} was not reassigned by then", step.place)

    def _kill(self, step: ScenarioStep) -> None:
        word = step.arguments[0]
        if word == ACTIVE:
            self._active(step)
            self._lost += 1
        else:
            self._running(int(word), step)
            self._up.discard(int(word))
            self._paused.discard(int(word))

    _stop = _kill

    def _pause(self, step: ScenarioStep) -> None:
        word = step.arguments[0]
        if word == ACTIVE:
            self._active(step)
            self._hung += 1
        else:
            self._running(int(word), step)
            self._paused.add(int(word))

    def _active(self, step: ScenarioStep) -> None:
        if not self._has_majority():
            raise KraflaError(
                "no majority of voters is running by then to have a leader", step.place
            )

    def _running(self, node: int, step: ScenarioStep) -> None:
        self._certain(node, step)
        if node not in self._up:
            raise KraflaError(f"node {node} is down by then", step.place)
        if node in self._paused and step.verb != "kill":
            raise KraflaError(f"node {node} is paused by then", step.place)

    def _certain(self, node: int, step: ScenarioStep) -> None:
        if (self._lost or self._hung) and node in self._shape.controller_ids:
            raise KraflaError(
                f"whether {node} was the active controller is not known by then: "
                "start or resume `all` first",
                step.place,
            )

    def _start(self, step: ScenarioStep) -> None:
        word = step.arguments[0]
        if word == ALL:
            self._up, self._lost = set(self._shape.node_ids), 0
            return
        self._certain(int(word), step)
        if int(word) in self._up:
            raise KraflaError(f"node {word} is running by then", step.place)
        self._up.add(int(word))

    def _resume(self, step: ScenarioStep) -> None:
        word = step.arguments[0]
        if word == ALL:
            self._paused, self._hung = set(), 0
            return
        if int(word) not in self._paused:
            raise KraflaError(f"node {word} is not paused by then", step.place)
        self._paused.discard(int(word))

    def _wipe(self, step: ScenarioStep) -> None:
        node = int(step.arguments[0])
        self._certain(node, step)
        if node in self._up:
            raise KraflaError(f"node {node} is running by then: stop it first", step.place)

    def _unregister(self, step: ScenarioStep) -> None:
        if int(step.arguments[0]) in self._up:
            raise KraflaError(f"broker {step.arguments[0]} is running by then", step.place)

    def _wait(self, step: ScenarioStep) -> None:
        what, *about = step.arguments
        if (what == "leader") == bool(about):
            raise KraflaError(
                "wait leader, or wait fenced, unfenced, reassigned and whom", step.place
            )
        if not self._has_majority():
            raise KraflaError("no majority of voters is running by then", step.place)
        if what == "reassigned":
            self._topic(about[0], step)
            self._answering(step)
        elif what != "leader":
            broker = self._one_of(about[0], self._shape.broker_ids, "broker", step)
            if (what == "unfenced") != (broker in self._up - self._paused):
                raise KraflaError(f"broker {broker} will never be {what} here", step.place)

    def _add_voter(self, step: ScenarioStep) -> None:
        node = int(step.arguments[0])
        if not self._shape.dynamic:
            raise KraflaError("the voters of a static quorum do not change", step.place)
        if node in self._voters or node not in self._up:
            raise KraflaError(f"{node} is a voter or down by then", step.place)
        self._voters.add(node)

    def _remove_voter(self, step: ScenarioStep) -> None:
        node = int(step.arguments[0])
        if not self._shape.dynamic:
            raise KraflaError("the voters of a static quorum do not change", step.place)
        if node not in self._voters or len(self._voters) == 1:
            raise KraflaError(f"{node} is no voter by then, or the only one", step.place)
        self._voters.discard(node)
