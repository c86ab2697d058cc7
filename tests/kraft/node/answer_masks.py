"""Answers of two clusters made comparable: what differs from run to run has a name instead.

Sentences for people are ours where Kafka's are Kafka's. So a sentence counts as one, whatever it
says, unless it is the one that belongs to an error: then the answer had none of its own.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from tests.kraft.node.java_commands import NO_DIRECTORY, directory_of

from kraft.ids import ZERO_UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.record.cluster import Cluster

_SENTENCES: Final = (
    re.compile(r"^(.*\w(?:Exception|Error): )(.*)$"),
    re.compile(r"^(Could not (?:\w+ \S+ to \d+|disable \S+)\. )(.*)$"),
    re.compile(r"^(.* failed: )(.*)$"),
)
_MASKS: Final = (
    (re.compile(r"\b1[78]\d{11}\b"), "TIME"),
    (re.compile(r"^\d\d:\d\d:\d\d\.\d{3} "), "TIME "),
    (re.compile(r"\d+ ms ago *"), "TIME ago "),
    (re.compile(r"@[0-9a-f]{5,8}\b"), "@HASH"),
    (re.compile(r"((?:HighWatermark|logEndOffset)(?:=|: +))\d+"), r"\1OFFSET"),
    (re.compile(r"(MaxFollowerLag(?:TimeMs)?: +)-?\d+"), r"\1LAG"),
    (re.compile(r"^(\d+ *\t\S+\t)\d+ *\t\d+ *\t"), r"\1OFFSET\tLAG\t"),
    # The epoch of the first features, which the bootstrap wrote, is the same in both clusters.
    (re.compile(r"(\tEpoch: )\d{2,}"), r"\1OFFSET"),
)


class Masks:
    """The masks for one cluster; `own_sentences` are those that belong to Kafka's errors."""

    def __init__(self, cluster: Cluster, own_sentences: Sequence[str]) -> None:
        self._own = frozenset(own_sentences)
        layout = cluster.layout
        self._ports: dict[int | None, str] = {}
        self._names = {str(layout.nodes[0].folder.parent): "FOLDER", cluster.cluster_id: "CLUSTER"}
        for node in layout.nodes:
            self._names[directory_of(node)] = f"DIRECTORY-{node.node_id}"
            for port in (node.broker_port, node.controller_port):
                self._ports[port] = f"PORT-{node.node_id}"
                self._names[f"127.0.0.1:{port}"] = f"127.0.0.1:PORT-{node.node_id}"
                self._names[f"127.0.0.1 {port}"] = f"127.0.0.1 PORT-{node.node_id}"

    def masked(self, answer: Any) -> Any:
        """Return an answer with names for what differs, and without Java's stack traces."""
        if isinstance(answer, dict) and "in any order" in answer:
            return sorted(self.masked(answer["in any order"]), key=json.dumps)
        if isinstance(answer, dict):
            masked = {self._text(key): self.masked(value) for key, value in answer.items()}
            if isinstance(answer.get("message"), str):
                masked["message"] = self._sentence(answer["message"])
            if "errorMessage" in answer:
                # On the wire none, an empty one and the error's own say the same to a client.
                own = answer["errorMessage"] in (None, "") or answer["errorMessage"] in self._own
                masked["errorMessage"] = None if own else "SENTENCE"
            if "port" in answer:
                masked["port"] = self._ports.get(answer["port"], answer["port"])
            if answer.get("topicId") not in (None, ZERO_UUID, NO_DIRECTORY):
                masked["topicId"] = "ID"
            return masked
        if isinstance(answer, list | tuple):
            lines = [one for one in answer if not (isinstance(one, str) and one.startswith("\t"))]
            return [self.masked(one) for one in lines]
        return self._text(answer) if isinstance(answer, str) else answer

    def _sentence(self, text: str) -> str:
        return text if not text or text in self._own else "SENTENCE"

    def _text(self, text: str) -> str:
        for form in _SENTENCES:
            match = form.match(text)
            if match is not None:
                text = match[1] + ("null" if match[2] == "null" else self._sentence(match[2]))
        for known, name in self._names.items():
            text = text.replace(known, name)
        for pattern, mask in _MASKS:
            text = pattern.sub(mask, text)
        return text
