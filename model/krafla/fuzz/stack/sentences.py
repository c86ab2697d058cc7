"""The sentences of the properties of controllers, brokers, their log and their data.

`docs/internals/stack-fuzzing.md` says the same; the rules of the log are those of the audit.
"""

from __future__ import annotations

from typing import Final

from krafla.audit.registry import REGISTRY
from krafla.fuzz.raft.sentences import SENTENCES as RAFT_SENTENCES

__all__ = ["SENTENCES"]

_ROWS: Final = (
    ("CommittedReplaysInv", "Committed records can be replayed."),
    ("OneClaimPerEpochInv OnlyActiveAppendsProp",
     "One active controller per epoch, which alone appends in it."),
    ("EndsInOrderInv", "Stable end ≤ committed end ≤ end in memory."),
    ("RevertsToCommittedProp", "A resigning controller keeps exactly the committed state."),
    ("StandbyShowsCommittedInv ActiveShowsCommittedInv",
     "A controller shows the committed state at its offset."),
    ("SnapshotIsFoldInv", "A snapshot equals the replay of its log."),
    ("IndexIsRecomputedInv",
     "Indexes of brokers, partitions and names match the image, every 50th step and on "
     "resignation."),
    ("LeaderClaimsProp", "A controller is active when told that it leads, and only then."),
    ("ClaimWritesWhatIsMissingProp",
     "A new controller writes bootstrap records only into an empty log, and aborts only an open "
     "transaction."),
    ("UncleanOnlyWithLeaveProp",
     "An unclean leader is permitted by the topic, requested by an operator, or the last known "
     "leader (KIP-966)."),
    ("LeaderHasControllerProp",
     "After a controller resigns, Raft soon stops leading there (KAFKA-13104)."),
    ("SnapshotsAreMadeProp",
     "Enough commits soon bring a snapshot, whichever controllers were active (KAFKA-14300)."),
    ("SnapshotsAreSpacedProp",
     "A snapshot is made only after enough commits, or after the interval, which begins when the "
     "process starts."),
    ("SnapshotAfterBootstrapProp",
     "A snapshot has a metadata version: none is made before the bootstrap records are committed "
     "(KAFKA-15375)."),
    ("ToldInOrderProp",
     "A controller hears exactly what the performed effects of its replica say, in their order."),
    ("AppendsAtOnceProp",
     "What a controller asks of its replica is what the replica does next."),
    ("RepliedIsCommittedProp AnswersInOrderProp",
     "An answer is sent only after what it depends on is committed, in the order of offsets."),
    ("EmptyIsAnsweredAtOnceProp",
     "A request that asks for nothing is answered at once, by any controller."),
    ("OperationsDoNotFailProp", "No request and no task fails by the operation's own mistake."),
    ("EveryRequestIsAnsweredProp",
     "Every part of a request gets an answer. An answer may wait until its records are stable, or "
     "until the controller resigns."),
    ("NothingWrittenByRefusedProp RefusedWritesNothingProp",
     "A refused or validate-only request writes nothing, and neither does a refused part of one."),
    ("RefusalIsTrueProp",
     "The metadata gives the reason for a refusal, for each error code that `refusal_checks` "
     "lists."),
    ("AnsweredIsCommittedInv",
     "Answers match the log, for every operation: what was granted is in the image at its "
     "record."),
    ("AlteredIsCommittedInv",
     "An AlterPartition answer has the leader, epochs and ISR committed at its record."),
    ("GrantedIsOutProp",
     "A broker granted its controlled shutdown leads no partition and is in no ISR with others."),
    ("GrantedByNewestProp",
     "An ISR is granted only under the current leader and both current epochs (KIP-497)."),
    ("ActiveAnswersProp",
     "A controller that stays active answers no request as a whole with NOT_CONTROLLER."),
    ("AheadIsToldProp",
     "In an AlterPartition answer, a partition has the error NOT_CONTROLLER if and only if its "
     "leader named a later leader epoch or partition epoch than the controller has (KAFKA-14154)."),
    ("NamesByOwnFetchProp",
     "A leader that requests an ISR names each other replica by the broker epoch of a fetch that "
     "it got from it in this leader epoch, or by no broker epoch (KAFKA-15221)."),
    ("JoinsByOwnFetchProp",
     "A replica joins an ISR after its registered process fetched from that leader in that "
     "leader epoch (KIP-903)."),
    ("FeaturesSupportedProp",
     "A broker registers only if it supports every finalized feature, Raft's kraft.version "
     "included, and is refused with UNSUPPORTED_VERSION only if it does not."),
    ("UnfencedOnlyCaughtUpProp",
     "Only a heartbeat that asks for it unfences a broker, and only one that has replayed "
     "its registration."),
    ("UnfencedWhenCaughtUpProp",
     "A heartbeat that wants it unfences a broker that has read its registration, however much "
     "was written since (KAFKA-13959)."),
    ("FencedOnlyWhenDueProp",
     "The controller fences a broker by a heartbeat only if that broker asked to be fenced or to "
     "shut down; otherwise only if this controller received no heartbeat of that broker epoch for "
     "broker.session.timeout.ms."),
    ("StaleIsFencedProp",
     "An expired broker is fenced before the controller wakes forty times."),
    ("DuplicateHasSessionProp",
     "A second process is refused exactly during the registered one's session."),
    ("ShutdownSeenByAllProp",
     "A shutdown is granted only after all staying brokers reported its offset."),
    ("ShutdownGrantedInTimeProp",
     "A shutdown whose offset all have reported is granted by the next heartbeat, if the broker "
     "leads nothing (KAFKA-14292)."),
    ("LostDirectoryIsRecordedProp",
     "A failed log directory is removed from the broker's registration, unless it is the last "
     "one."),
    ("EligibleBelowMinimumProp",
     "Eligible leader replicas exist only below min.insync.replicas, by records and the node's "
     "configuration (KIP-966)."),
    ("UncleanIsNotEligibleProp",
     "A broker that does not tell the epoch under which it stopped is eligible for nothing "
     "(KIP-966)."),
    ("BrokerShowsCommittedInv", "A broker's image matches the committed log at its offset."),
    ("LeadershipFollowsImageInv",
     "A broker leads what its image says, in that leader epoch and ISR, or with a later granted "
     "ISR."),
    ("OneRequestInFlightProp",
     "A broker gets an answer or gives up before its next request (KAFKA-15950)."),
    ("BrokerSpeaksInv", "A live broker awaits an answer or has a time to speak next."),
    ("BrokerStatesProp",
     "A broker changes state on an awaited answer, and stops only with leave."),
    ("ShutdownAskedAtOnceProp",
     "A shutdown is requested at once or after the awaited answer (KAFKA-13167)."),
    ("FailedDirectoriesToldProp", "Every heartbeat lists all failed directories."),
    ("AskedIsAnsweredProp",
     "A leader that awaits an ISR has requested it, or newer metadata explains the refusal "
     "(KAFKA-14010)."),
    ("HighWatermarkInLogInv", "No high watermark exceeds its replica's log."),
    ("ImagesAgreeInv",
     "The implementation's image of the log and the audit's are the same."),
    ("TokenLivesItsTimeProp",
     "A token lives as long as asked and configured, and is removed only after that or on request "
     "(KAFKA-17315, KAFKA-17415)."),
    ("TokenIsChangedByOwnersProp",
     "Only the owner and the renewers of a token change its expiry time, and only before it has "
     "expired."),
    ("ExpiredTokenIsRemovedProp",
     "An expired token is removed before the controller wakes forty times."),
    ("NoStrayReplicaInv",
     "A broker's directories hold each replica that its metadata gives it once, and no others "
     "(KAFKA-13127, KAFKA-14616)."),
    ("OpenedWhereNamedProp",
     "A new replica is created in the directory that the metadata names, or not at all if that "
     "one may have failed (KIP-858)."),
    ("AcknowledgedDataStaysProp",
     "Leaders of later epochs keep data acknowledged with acks=all."),
)  # fmt: skip
SENTENCES: Final = (
    RAFT_SENTENCES
    | {name: sentence for names, sentence in _ROWS for name in names.split()}
    | {
        one: f"{entry.statement[0].upper()}{entry.statement[1:]}."
        for one, entry in REGISTRY.items()
    }
    | {
        "LogIsJudgedInv": "The audit has a rule for all that the committed log says.",
        "MetadataLogSteps": (
            "Every step of a controller or broker is a step of MetadataLogSteps.tla."
        ),
    }
)
"""Each property that a violation can name, with its sentence, unless Raft's specs state it."""
