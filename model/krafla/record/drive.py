"""What each step does to a real cluster."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from krafla.record.check import ACTIVE, ALL
from krafla.record.cluster import PATIENCE_SECONDS
from krafla.record.commands import bootstrap_brokers
from krafla.record.layout import HOST
from krafla.record.verbs import ENTITIES
from krafla.record.watch import refusal
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from krafla.record.cluster import Cluster
    from krafla.record.commands import Java
    from krafla.record.journal import Journal
    from krafla.record.processes import Processes, Running
    from krafla.record.scenario import ScenarioStep

__all__ = ["Driver"]

_RATE = "-1"
# Of invented users in a cluster that is gone afterwards.
_INVENTED_PASSWORD = "of-a-recording"  # noqa: S105 - it protects nothing
# Kafka's clients retry by themselves, but a former leader refuses a change of the voters at once.
_ASK_AGAIN = ("NotLeaderOrFollowerException", "NotControllerException")
_ASKED_MAX = 10
_LEVEL = re.compile(r"([a-z.]+)=(\d+)\b.*")


class Driver:
    """Takes the steps of a scenario that `check` has accepted."""

    def __init__(
        self, cluster: Cluster, java: Java, processes: Processes, journal: Journal, folder: Path
    ) -> None:
        self._cluster = cluster
        self._java = java
        self._processes = processes
        self._journal = journal
        self._folder = folder
        self._moves: dict[str, Path] = {}
        self._loads: list[tuple[str, Running]] = []

    def take(self, step: ScenarioStep) -> None:
        """Take one step. ``KraflaError``, with the step's place, if Kafka does not let it."""
        act = getattr(self, f"_{step.verb.replace('-', '_')}")
        try:
            act(*step.arguments, **({"options": step.options} if step.options else {}))
        except _RefusedError as refusal:
            self._journal.note(f"refused: {refusal.message}")
            if not step.may_fail:
                raise KraflaError(f"Kafka refused {step.text!r}: {refusal}", step.place) from None
        except KraflaError as error:
            raise KraflaError(f"{step.text!r}: {error.message}", step.place) from error

    def finish(self) -> None:
        """Wait for the background producers; the journal has the status of each."""
        for what, running in self._loads:
            status = running.wait(PATIENCE_SECONDS)
            self._journal.note(f"{what} ended with status {status}")
        self._loads = []

    # Topics and where they are.

    def _create_topic(
        self, name: str, count: str, *, options: Mapping[str, str] | None = None
    ) -> None:
        given = dict(options or {})
        replicas = given.pop("replicas", "1")
        configs = [word for k, v in given.items() for word in ("--config", f"{k}={v}")]
        create = ["--create", "--topic", name, "--partitions", count]
        self._tool("topics", [*create, "--replication-factor", replicas, *configs])

    def _delete_topic(self, name: str) -> None:
        self._tool("topics", ["--delete", "--topic", name])

    def _add_partitions(self, name: str, count: str) -> None:
        self._tool("topics", ["--alter", "--topic", name, "--partitions", count])

    def _reassign(self, name: str, *, options: Mapping[str, str]) -> None:
        given = dict(options)
        throttle = given.pop("throttle", None)
        moves = [
            {"topic": name, "partition": int(p), "replicas": [int(r) for r in where.split(",")]}
            for p, where in given.items()
        ]
        path = self._folder / f"reassign-{name}.json"
        path.write_text(json.dumps({"version": 1, "partitions": moves}), encoding="utf-8")
        self._moves[name] = path
        limits = ["--throttle", throttle] if throttle else []
        words = ["--execute", "--additional", "--reassignment-json-file", str(path), *limits]
        self._tool("reassign", words)

    def _cancel(self, name: str) -> None:
        self._tool("reassign", ["--cancel", "--reassignment-json-file", str(self._moves[name])])

    def _elect(self, kind: str, name: str) -> None:
        described = self._tool("topics", ["--describe", "--topic", name])
        count = sum("Partition: " in line for line in described.splitlines())
        partitions = [{"topic": name, "partition": number} for number in range(count)]
        path = self._folder / "elect.json"
        path.write_text(json.dumps({"partitions": partitions}), encoding="utf-8")
        self._tool("elect", ["--election-type", kind, "--path-to-json-file", str(path)])

    # Nodes.

    def _named(self, word: str) -> int:
        if word != ACTIVE:
            return int(word)
        self._wait("leader")
        found = self._cluster.active()
        if found is None:
            raise KraflaError("the active controller was gone again at once")
        return found

    def _kill(self, word: str) -> None:
        node = self._named(word)
        self._journal.note(f"kill -9 of node {node}")
        self._cluster.kill(node)

    def _stop(self, word: str) -> None:
        node = self._named(word)
        self._cluster.stop([node])
        self._journal.note(f"node {node} has stopped")

    def _start(self, word: str) -> None:
        self._cluster.start(self._cluster.down if word == ALL else [int(word)])

    def _pause(self, word: str) -> None:
        node = self._named(word)
        self._journal.note(f"pause of node {node}")
        self._cluster.pause(node)

    def _resume(self, word: str) -> None:
        self._cluster.resume(self._cluster.paused if word == ALL else [int(word)])

    def _wipe(self, word: str) -> None:
        self._cluster.wipe(int(word))

    def _wait(self, what: str, about: str = "") -> None:
        cluster = self._cluster
        asked: dict[str, Callable[[], bool]] = {
            "leader": lambda: cluster.active() is not None,
            "fenced": lambda: cluster.is_fenced(int(about)) is True,
            "unfenced": lambda: cluster.is_fenced(int(about)) is False,
            "reassigned": lambda: f"{about}-" not in self._tool("reassign", ["--list"]),
        }
        says = {
            "leader": "there is an active controller",
            "reassigned": f"no partition of {about} is being reassigned",
        }
        cluster.until(asked[what], says.get(what, f"broker {about} is {what}"))

    def _unregister(self, word: str) -> None:
        self._tool("cluster", ["unregister", *self._brokers(), "--id", word], bootstrap=False)

    def _add_voter(self, word: str) -> None:
        configuration = str(self._cluster.layout.node(int(word)).configuration)
        self._ask_quorum(["--command-config", configuration, "add-controller"])

    def _remove_voter(self, word: str) -> None:
        meta = self._cluster.layout.node(int(word)).data / "meta.properties"
        lines = meta.read_text(encoding="utf-8").splitlines()
        directory = next(one.split("=", 1)[1] for one in lines if one.startswith("directory.id"))
        given = ["--controller-id", word, "--controller-directory-id", directory]
        self._ask_quorum(["remove-controller", *given])

    def _ask_quorum(self, arguments: Sequence[str]) -> None:
        """Ask the active controller itself.

        A broker would pass the request on to the controller that it knew last, which may be back
        as a follower: its answer is no reason for the broker to look for another.
        """
        port = self._cluster.layout.node(self._named(ACTIVE)).controller_port
        words = ["--bootstrap-controller", f"{HOST}:{port}", *arguments]
        self._tool("quorum", words, bootstrap=False)

    # Features, configs, rights.

    def _upgrade(self, release: str) -> None:
        self._to_release("upgrade", release)

    def _downgrade(self, release: str) -> None:
        self._to_release("downgrade", release)

    def _to_release(self, how: str, release: str) -> None:
        """Set the features to the levels of a release.

        A release comes with a kraft.version, which kraft does not change: so it gets the levels of
        all other features, one by one. Kafka's tool leaves out level 0 of an upgrade, too.
        """
        if not self._cluster.layout.shape.kraft_ids:
            self._tool("features", [how, "--release-version", release])
            return
        said = self._tool("features", ["version-mapping", "--release-version", release])
        matches = [match for line in said.splitlines() if (match := _LEVEL.fullmatch(line.strip()))]
        levels = [
            f"{match[1]}={match[2]}"
            for match in matches
            if match[1] != "kraft.version" and (how == "downgrade" or match[2] != "0")
        ]
        self._tool("features", [how, *(word for one in levels for word in ("--feature", one))])

    def _raise_feature(self, name: str, level: str) -> None:
        self._tool("features", ["upgrade", "--feature", f"{name}={level}"])

    def _lower_feature(self, name: str, level: str) -> None:
        self._tool("features", ["downgrade", "--feature", f"{name}={level}"])

    def _alter_config(
        self, entity: str, name: str, *, options: Mapping[str, str] | None = None
    ) -> None:
        configs = ",".join(f"{key}={value}" for key, value in (options or {}).items())
        self._tool("configs", ["--alter", *_entity(entity, name), "--add-config", configs])

    def _delete_config(self, entity: str, name: str, key: str) -> None:
        self._tool("configs", ["--alter", *_entity(entity, name), "--delete-config", key])

    def _scram(self, user: str) -> None:
        given = f"SCRAM-SHA-256=[iterations=4096,password={_INVENTED_PASSWORD}]"
        self._tool("configs", ["--alter", *_entity("user", user), "--add-config", given])

    def _quota(self, user: str, rate: str) -> None:
        self._alter_config("user", user, options={"producer_byte_rate": rate})

    def _allow(self, user: str, operation: str, topic: str) -> None:
        principal = ["--allow-principal", f"User:{user}", "--operation", operation]
        self._tool("acls", ["--add", *principal, "--topic", topic])

    def _disallow(self, user: str, operation: str, topic: str) -> None:
        principal = ["--allow-principal", f"User:{user}", "--operation", operation]
        self._tool("acls", ["--remove", "--force", *principal, "--topic", topic])

    # Records.

    def _produce(self, topic: str, count: str, *, options: Mapping[str, str] | None = None) -> None:
        self._tool("producer", self._producing(topic, count, options), bootstrap=False)

    def _load(self, topic: str, count: str, *, options: Mapping[str, str] | None = None) -> None:
        command = self._java.tool("producer", self._producing(topic, count, options))
        output = self._folder / f"load-{len(self._loads) + 1}.txt"
        self._loads.append((f"load on {topic}", self._processes.start(command, output)))

    def _producing(
        self, topic: str, count: str, options: Mapping[str, str] | None
    ) -> Sequence[str]:
        rate = (options or {}).get("rate", _RATE)
        size = ["--num-records", count, "--record-size", "100", "--throughput", rate]
        servers = f"bootstrap.servers={self._brokers()[1]}"
        return ["--topic", topic, *size, "--producer-props", servers, "enable.idempotence=true"]

    # How a tool is asked.

    def _brokers(self) -> list[str]:
        nodes = self._cluster.answering(self._cluster.layout.shape.broker_ids)
        if not nodes:
            raise KraflaError(f"no broker on {HOST} is running that could be asked")
        return ["--bootstrap-server", bootstrap_brokers(nodes)]

    def _tool(self, name: str, arguments: Sequence[str], *, bootstrap: bool = True) -> str:
        """Return the output of a tool; retry while it answers that another controller leads."""
        for _ in range(_ASKED_MAX):
            words = [*(self._brokers() if bootstrap else []), *arguments]
            status, said = self._once(name, words)
            if status == 0:
                return said
            if not any(error in said for error in _ASK_AGAIN):
                break
        raise _RefusedError(refusal(said) or f"{name} ended with status {status}")

    def _once(self, name: str, words: Sequence[str]) -> tuple[int | None, str]:
        output = self._folder / "tool.txt"
        output.unlink(missing_ok=True)
        running = self._processes.start(self._java.tool(name, words), output)
        status = running.wait(PATIENCE_SECONDS)
        running.end()
        said = output.read_text(encoding="utf-8", errors="replace")
        self._journal.note(f"{name} {' '.join(words)}: status {status}\n{_indented(said)}")
        return status, said


class _RefusedError(KraflaError):
    """A tool of Kafka ended with another status than 0."""


def _entity(entity: str, name: str) -> list[str]:
    kind = ["--entity-type", ENTITIES[entity]]
    return [*kind, "--entity-default"] if name == "default" else [*kind, "--entity-name", name]


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip().splitlines()).rstrip("\n")
