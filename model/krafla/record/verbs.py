"""The verbs of a scenario, each with its arguments, its options and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["ENTITIES", "VERBS", "ArgumentKind", "Needs", "Verb"]

# What configs hang on, as kafka.admin.ConfigCommand names it.
ENTITIES = {
    "topic": "topics",
    "broker": "brokers",
    "user": "users",
    "client": "clients",
    "group": "groups",
    "ip": "ips",
    "metrics": "client-metrics",
}


class ArgumentKind(Enum):
    """The kind of an argument."""

    NEW_TOPIC = "NEW-TOPIC"
    TOPIC = "TOPIC"
    BROKER = "BROKER"
    CONTROLLER = "CONTROLLER"
    NODE = "NODE"
    COUNT = "COUNT"
    ELECTION = "preferred|unclean"
    ENTITY = "ENTITY"
    FOR = "fenced|unfenced|leader|reassigned"
    TEXT = "TEXT"


class Needs(Enum):
    """What must be running for a step to be possible."""

    NOTHING = "nothing"
    BROKER = "a broker and a majority of the voters"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: the kinds of its arguments, the names of its options, its sentence.

    With `free`, any option is allowed beside those: configs, or partitions with their replicas.
    `optional` is how many of the last arguments may be left out.
    """

    kinds: tuple[ArgumentKind, ...]
    sentence: str
    options: tuple[str, ...] = ()
    free: bool = False
    optional: int = 0
    needs: Needs = Needs.BROKER

    @property
    def usage(self) -> str:
        """Return the form of its arguments."""
        count = len(self.kinds) - self.optional
        words = [kind.value for kind in self.kinds[:count]]
        words += [f"[{kind.value}]" for kind in self.kinds[count:]]
        words += [f"[{option}=...]" for option in self.options]
        return " ".join([*words, *(["[NAME=VALUE ...]"] if self.free else [])])


_K = ArgumentKind
VERBS = {
    "create-topic": Verb(
        (_K.NEW_TOPIC, _K.COUNT),
        "Create a topic of so many partitions; other options are its configs.",
        ("replicas",),
        free=True,
    ),
    "delete-topic": Verb((_K.TOPIC,), "Delete a topic."),
    "add-partitions": Verb((_K.TOPIC, _K.COUNT), "Raise a topic to so many partitions."),
    "alter-config": Verb((_K.ENTITY, _K.TEXT), "Set configs; `default` is a name.", free=True),
    "delete-config": Verb((_K.ENTITY, _K.TEXT, _K.TEXT), "Take away a config."),
    "reassign": Verb(
        (_K.TOPIC,),
        "Reassign partitions, as 0=1,2: partition 0 to brokers 1 and 2.",
        ("throttle",),
        free=True,
    ),
    "cancel": Verb((_K.TOPIC,), "Cancel the last reassignment of a topic."),
    "elect": Verb((_K.ELECTION, _K.TOPIC), "Elect leaders of all partitions of a topic."),
    "kill": Verb((_K.NODE,), "Kill a node as SIGKILL does.", needs=Needs.NOTHING),
    "stop": Verb((_K.NODE,), "Stop a node as SIGTERM does.", needs=Needs.NOTHING),
    "start": Verb(
        (_K.NODE,), "Start a node, or `all` that are down, and wait.", needs=Needs.NOTHING
    ),
    "pause": Verb((_K.NODE,), "Pause a node as SIGSTOP does.", needs=Needs.NOTHING),
    "resume": Verb((_K.NODE,), "Resume a node, or `all`.", needs=Needs.NOTHING),
    "wipe": Verb(
        (_K.NODE,), "Put an empty, formatted disk into a stopped node.", needs=Needs.NOTHING
    ),
    "wait": Verb(
        (_K.FOR, _K.TEXT),
        "Wait until a broker is fenced or unfenced, until there is a leader, a topic is moved.",
        optional=1,
        needs=Needs.NOTHING,
    ),
    "upgrade": Verb((_K.TEXT,), "Raise all features to a release."),
    "downgrade": Verb((_K.TEXT,), "Lower all features to a release."),
    "raise-feature": Verb((_K.TEXT, _K.COUNT), "Raise a feature to a level."),
    "lower-feature": Verb((_K.TEXT, _K.COUNT), "Lower a feature to a level."),
    "produce": Verb((_K.TOPIC, _K.COUNT), "Produce so many records.", ("rate",)),
    "load": Verb((_K.TOPIC, _K.COUNT), "Produce so many records in the background.", ("rate",)),
    "unregister": Verb((_K.BROKER,), "Unregister a broker that is down."),
    "allow": Verb((_K.TEXT, _K.TEXT, _K.TOPIC), "Add an ACL: a user, an operation, a topic."),
    "disallow": Verb((_K.TEXT, _K.TEXT, _K.TOPIC), "Remove that ACL."),
    "scram": Verb((_K.TEXT,), "Give a user a SCRAM credential."),
    "quota": Verb((_K.TEXT, _K.COUNT), "Limit a user's producers to so many bytes a second."),
    "add-voter": Verb((_K.CONTROLLER,), "Add a controller to the voters of a dynamic quorum."),
    "remove-voter": Verb((_K.CONTROLLER,), "Remove a controller from the voters."),
}
