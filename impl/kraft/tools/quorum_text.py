"""A response to DescribeQuorum as text for people.

Kafka: MetadataQuorumCommand, ToolsUtils.prettyPrintTable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.ids import ZERO_UUID
from kraft.tools.guard import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.records.schema import Fields

_COLUMNS: Final = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


def status_text(cluster_id: str, response: Fields) -> str:
    """Return the summary of a quorum.

    Kafka: MetadataQuorumCommand.handleDescribeStatus.
    """
    quorum = _quorum(response)
    leader = _leader(quorum)
    slowest = min(quorum["currentVoters"], key=lambda voter: voter["logEndOffset"])
    lag_ms = 0
    if slowest is not leader:
        times = [one.get("lastCaughtUpTimestamp", -1) for one in (leader, slowest)]
        lag_ms = -1 if -1 in times else times[0] - times[1]
    listeners = {node["nodeId"]: node["listeners"] for node in response.get("nodes", ())}
    return (
        f"ClusterId:              {cluster_id}\n"
        f"LeaderId:               {quorum['leaderId']}\n"
        f"LeaderEpoch:            {quorum['leaderEpoch']}\n"
        f"HighWatermark:          {quorum['highWatermark']}\n"
        f"MaxFollowerLag:         {leader['logEndOffset'] - slowest['logEndOffset']}\n"
        f"MaxFollowerLagTimeMs:   {lag_ms}\n"
        f"CurrentVoters:          {_replicas_text(quorum['currentVoters'], listeners)}\n"
        f"CurrentObservers:       {_replicas_text(quorum['observers'], listeners)}\n"
    )


def replication_text(response: Fields, now: float | None) -> str:
    """Return the table of a quorum's replicas; with `now`, in seconds, times are told from then.

    Raises ToolError for a time after `now`.
    Kafka: MetadataQuorumCommand.handleDescribeReplication.
    """
    quorum = _quorum(response)
    leader = _leader(quorum)
    followers = [one for one in quorum["currentVoters"] if one is not leader]
    groups = (("Leader", [leader]), ("Follower", followers), ("Observer", quorum["observers"]))
    rows = [
        _COLUMNS,
        *(_row(one, leader, status, now) for status, group in groups for one in group),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) + "\n"
        for row in rows
    )


def _row(one: Fields, leader: Fields, status: str, now: float | None) -> tuple[str, ...]:
    return (
        str(one["replicaId"]),
        one.get("replicaDirectoryId", ZERO_UUID),
        str(one["logEndOffset"]),
        str(leader["logEndOffset"] - one["logEndOffset"]),
        _time_text(one.get("lastFetchTimestamp", -1), "last fetch", now),
        _time_text(one.get("lastCaughtUpTimestamp", -1), "last caught up", now),
        status,
    )


def _quorum(response: Fields) -> Fields:
    (topic,) = response["topics"]
    (quorum,) = topic["partitions"]
    found: Fields = quorum
    return found


def _leader(quorum: Fields) -> Any:
    for voter in quorum["currentVoters"]:
        if voter["replicaId"] == quorum["leaderId"]:
            return voter
    raise ToolError(f"node {quorum['leaderId']} leads the quorum, and is none of its voters")


def _replicas_text(replicas: Iterable[Fields], listeners: dict[int, Iterable[Fields]]) -> str:
    texts = []
    for one in replicas:
        directory = one.get("replicaDirectoryId", ZERO_UUID)
        named = "" if directory == ZERO_UUID else f', "directoryId": "{directory}"'
        text = f'{{"id": {one["replicaId"]}{named}'
        places = ", ".join(
            f'"{endpoint["name"]}://{_host_text(endpoint["host"])}:{endpoint["port"]}"'
            for endpoint in listeners.get(one["replicaId"], ())
        )
        texts.append(text + (f', "endpoints": [{places}]}}' if places else "}"))
    return f"[{', '.join(texts)}]"


def _host_text(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _time_text(timestamp_ms: int, what: str, now: float | None) -> str:
    if timestamp_ms == -1 or now is None:
        return str(timestamp_ms)
    ago = int(now * 1000) - timestamp_ms
    if timestamp_ms <= 0 or ago < 0:
        raise ToolError(
            "Error while computing relative time, possible drift in system clock."
            f" Current timestamp is {int(now * 1000)}, {what} timestamp is {timestamp_ms}"
        )
    return f"{ago} ms ago"
