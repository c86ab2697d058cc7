"""The sentence of each invariant of the audit, by its id: reports and pages print it.

`docs/audit-invariants.md` has the same sentences; a test compares them.
"""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = {
    "L1": "every record has the type and version that the metadata version dictates",
    "L2": "the first batch or transaction of a log sets metadata.version, and a checkpoint has it",
    "L3": "transactions do not nest, only an open one ends, and a checkpoint has none",
    "L4": "a checkpoint equals the replay of the log up to its end offset",
    "L5": "a checkpoint ends at the end of a batch, and outside any transaction",
    "L6": "all nodes have the same image at the same offset",
    "L7": "a checkpoint equals the previous one plus the log between them",
    "L8": "epochs never fall from one batch to the next",
    "L9": "a removed topic, delegation token, configuration or quota existed",
    "L11": "a topic and its partitions are created in one batch",
    "L12": "the changes of an aborted transaction are gone",
    "L13": "a batch begins at the offset where the one before it ended, across segments too",
    "S1": "the epoch in a checkpoint's id is that of the last record before its end offset",
    "S2": "a log that does not begin at offset 0 continues a checkpoint of its node",
    "S3": "a checkpoint describes each thing once, in Kafka's order, and has no record that "
    "changes or removes something",
    "F1": "a feature has a level only if the other features that it needs have theirs",
    "F2": "metadata.version is never removed, and falls only to a level with the same records",
    "F3": "a feature record has a level of 0 or more, and never names kraft.version, nor a "
    "metadata.version below 4",
    "B1": "a checkpoint registers no broker twice",
    "B2": "a new incarnation's broker epoch is above all earlier ones, and at most its offset",
    "B3": "no two brokers have the same broker epoch",
    "B4": "an incarnation that registers again keeps its epoch, fencing and controlled shutdown",
    "B5": "a new incarnation is fenced and not in controlled shutdown",
    "B6": "a record that changes a broker names its current broker epoch",
    "B7": "an incarnation in controlled shutdown stays in it",
    "B8": "every registered broker supports every feature at its finalized level",
    "B9": "a registration from 3.7-IV2 on names directories; none is reserved, and only one "
    "broker lists it, once",
    "B10": "a BrokerRegistrationChangeRecord adds no directory",
    "B15": "a broker has an endpoint, and every endpoint has a port",
    "T1": "a new topic's name is not in use, and its id is not reserved and was never used",
    "T2": "a topic's name is valid, not that of the metadata log, and collides with no other",
    "T3": "the partitions of a topic are numbered from 0 without a gap",
    "T4": "a topic never loses a partition",
    "T5": "a partition belongs to an existing topic, and a change names what exists",
    "T6": "no record names a topic that was removed",
    "T7": "the ISR of a new partition is its active replicas, the first leads, and its other "
    "fields are initial",
    "T8": "a partition has replicas, all different, and registered when they are assigned",
    "T9": "a record with directories names one for each replica; a new replica's is its "
    "broker's, or not chosen yet; a change that names no replicas moves at most one "
    "replica to another directory",
    "T10": "a new partition has as many replicas as another of its topic",
    "P1": "the ISR is a subset of the replicas, and names none twice",
    "P2": "a leader is in the ISR",
    "P3": "a leader is a replica",
    "P4": "an ISR is emptied only with eligible leader replicas, and only of its last member; "
    "when the leader leaves the ISR, the other members keep their order",
    "P5": "a partition with an empty ISR has no leader",
    "P6": "no replica is in both ISR and ELR; a new member of the ELR is a replica "
    "that was in sync; without the feature, a change leaves no ELR and sets no last known leader",
    "P7": "when the ISR reaches the effective min.insync.replicas, both ELR fields are cleared; "
    "below it, what leaves the ISR is eligible, except for a broker that registers",
    "P8": "a partition has at most one last known leader; with eligible leader replicas, only "
    "while it has no leader; a record that empties the ISR names the one that led",
    "P9": "a leader in recovery is alone in the ISR",
    "P10": "a recovery begins only with a new leader from outside ISR and ELR; it ends only "
    "under a leader, which stays in the ISR unless a reassignment completes",
    "P11": "a leader is registered, unfenced and not in controlled shutdown",
    "P12": "an ISR of two or more has no broker that is fenced or in controlled shutdown",
    "P13": "if the only in-sync replica is fenced or in controlled shutdown, there is no leader",
    "P14": "the directory of a leader is online; a replica leaves the ISR when its directory goes "
    "offline, except the last one without eligible leader replicas",
    "P15": "a new leader that needs no recovery was in ISR or ELR",
    "P16": "a partition loses its leader only if no replica in sync, or eligible beside an empty "
    "ISR, is active; a leaderless partition gets a leader when such a replica is "
    "unfenced, or when its ISR and ELR are empty and its last known leader is unfenced",
    "E1": "only change records change a partition, and each adds one to the partition epoch",
    "E2": "each change record with a leader field adds one to the leader epoch",
    "E3": "a leader epoch is at most the partition epoch",
    "E4": "a new leader has a greater leader epoch",
    "E5": "a record that drops a replica raises the leader epoch",
    "E6": "a change of the ISR alone keeps the leader epoch; before 3.6-IV0, a shrink raises it",
    "E7": "a PartitionChangeRecord changes something",
    "E8": "a partition has one leader in each leader epoch",
    "X1": "an adding or removing replica is a replica",
    "X2": "no replica is both adding and removing, unless it was adding before; a change names "
    "either in ascending order",
    "X3": "a reassignment does not remove every replica",
    "X4": "a completed reassignment leaves the target replicas in their order",
    "X5": "a reassignment completes only with every target replica in sync",
    "X6": "a reassignment whose target is in sync is complete",
    "X7": "a record that drops a replica of a reassignment ends it",
    "X8": "a cancelled reassignment restores the replicas from before it",
    "X9": "when a reassignment ends, the leader is a replica",
    "O1": "a block of producer ids begins where the last one ended",
    "O2": "producer ids go to a registered broker, with its current broker epoch",
    "O3": "every registered controller supports every feature at its finalized level",
    "O4": "no two ACLs are equal, and a removed ACL existed",
    "O5": "a configured topic or node exists",
    "O6": "a removed credential existed",
    "W1": "a batch has no compression, no producer, one timestamp of 0 or later, and at most 8 MiB",
    "W2": "a record has no attributes, and has the timestamp of its batch",
    "W3": "fields have values that Kafka writes",
    "W4": "a change of a partition, a configuration or a quota changes what it names; a change of "
    "min.insync.replicas, and no other, then clears eligible leader replicas",
    "W5": "a migration from ZooKeeper takes its states in order, and no other log has a "
    "migrating broker",
    "LogMatching": (
        "logs with a record of equal offset and epoch agree up to it; committed records stay"
    ),
    "LeaderOfEpoch": "an epoch of the log has one leader, the same for every node",
    "QuorumEpoch": "a node's quorum-state file has the epoch of its last batch, or a later one, "
    "and no other vote than the log says that the node gave",
    "EpochStarts": (
        "an epoch starts in the log at the offset in the node's leader-epoch-checkpoint file; "
        "the log begins in no earlier epoch than the file says, and the file lacks no epoch "
        "between two that it has"
    ),
    "UntimedLease!Next": "every record of the lease is one action of the spec",
}
"""By id: the invariants of a log in the registry's order, then those across files."""
