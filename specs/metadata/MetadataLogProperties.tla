------------------------ MODULE MetadataLogProperties ------------------------
(***************************************************************************)
(* What must be true of MetadataLog. Suffixes: Inv (every state), Prop     *)
(* (every step), Live (eventually), Reach (must be possible). Each comment *)
(* says what the property means, where it comes from, and what breaks it.  *)
(***************************************************************************)
EXTENDS MetadataLog

------------------------------------------------------------------------------
(* Definitions that the properties use                                       *)

Standbys == {c \in Controller : ~IsActive(c)}

(* The answer to r reports its outcome. *)
IsSure(r) == answers[r] # Nil /\ answers[r] \notin Failed

(* The offsets at which a log holds a batch of request r. *)
OffsetsOf(log, r) == {k - 1 : k \in {k \in DOMAIN log : RequestOf(log[k]) = r}}

(* The batch at this offset of the committed log has taken effect: it is     *)
(* neither in a transaction that is still open, nor in one that was aborted. *)
Opens(k) == \E i \in DOMAIN RecordsOf(committed[k]) :
              RecordsOf(committed[k])[i].type = "BeginTransaction"
Aborts(k) == \E i \in DOMAIN RecordsOf(committed[k]) :
               RecordsOf(committed[k])[i].type = "AbortTransaction"
Closes(k) == Aborts(k) \/ \E i \in DOMAIN RecordsOf(committed[k]) :
                            RecordsOf(committed[k])[i].type = "EndTransaction"
InEffect(offset) ==
  ~InTransaction(StateAt(offset)) \/
  \E k \in offset + 1 .. Len(committed) :
    /\ Closes(k) /\ ~Aborts(k)
    /\ \A j \in offset + 1 .. k - 1 : ~Closes(j)

(* The images of the committed log after whole batches, and those after      *)
(* whole transactions.                                                       *)
Images == {StateAt(end).image : end \in 0 .. Len(committed)}
StableImages == {VisibleOf(StateAt(end)) : end \in 0 .. Len(committed)}

IsPrefix(shorter, longer) ==
  Len(shorter) <= Len(longer) /\ shorter = SubSeq(longer, 1, Len(shorter))

(* The log that only the leader of the newest epoch can still complete.      *)
WholeLog == committed \o uncommitted

(* The active controller whose batches can commit.                           *)
IsWriter(c) == IsActive(c) /\ leader_epoch[c] = claim_epoch[c] /\ claim_epoch[c] = NewestEpoch
------------------------------------------------------------------------------
(* Invariants                                                                *)

(* A client that was told of a change can rely on it: no batch that may      *)
(* still be lost, or is in a transaction that has not taken effect, has been *)
(* answered.                                                                 *)
(* Source: KIP-631, persistence and visibility.                              *)
(* Broken by: answering at the append; answering a batch that is committed,  *)
(* but in an open transaction.                                               *)
ReplyOnlyAfterCommitInv ==
  \A r \in Request : IsSure(r) =>
    /\ OffsetsOf(uncommitted, r) = {}
    /\ \A offset \in OffsetsOf(committed, r) : InEffect(offset)

(* An answer was true at some time: it is the result of the request where    *)
(* its batch stands in the committed log; or, if the request wrote no batch, *)
(* its result in some state that the committed log went through.             *)
(* Source: Kafka, DeferredEventQueue.highestPendingOffset.                   *)
(* Broken by: answering a request that writes nothing although it was        *)
(* checked against batches that can still be lost.                           *)
NoReadYourUncommittedInv ==
  LET images == StableImages IN
  \A r \in Request : IsSure(r) =>
    \/ \E offset \in OffsetsOf(committed, r) :
         answers[r] = Result(r, StateAt(offset).image)
    \/ /\ OffsetsOf(WholeLog, r) = {}
       /\ \E image \in images :
            Records(r, image) = << >> /\ answers[r] = Result(r, image)

(* The state of a standby is the replay of the committed log up to its       *)
(* committed end.                                                            *)
(* Source: KIP-631, the figure of the log.                                   *)
(* Broken by: a standby that replays uncommitted batches, or that keeps      *)
(* uncommitted state from the time it was active.                            *)
StandbyCommittedOnlyInv ==
  \A c \in Standbys :
    /\ committed_end[c] <= Len(committed)
    /\ written[c] = StateAt(committed_end[c])

(* The same holds for a broker.                                              *)
(* Source: KIP-500, broker metadata management.                              *)
(* Broken by: replaying uncommitted batches; publishing the changes of an    *)
(* aborted transaction.                                                      *)
BrokerCommittedOnlyInv ==
  \A b \in Broker :
    /\ committed_end[b] <= Len(committed)
    /\ written[b] = StateAt(committed_end[b])

(* Any two nodes with the same stable end show the same image.               *)
(* Source: KIP-631: replay uses nothing but the records.                     *)
(* Broken by: reading at the newest state of one of them.                    *)
SameOffsetSameImageInv ==
  \A m, n \in Node : stable_end[m] = stable_end[n] => Visible(m) = Visible(n)

(* The states in the writer's memory, at every end it can revert to, are the *)
(* replay of its own log up to there, committed or not. The offset that its  *)
(* next batch gets is the one it expects.                                    *)
(* Source: Kafka, QuorumController replays before it appends.                *)
(* Broken by: replaying other records than those appended; claiming without  *)
(* the log's end.                                                            *)
WrittenIsReplayOfLogInv ==
  \A c \in Controller : IsWriter(c) =>
    /\ write_end[c] = Len(WholeLog)
    /\ \A end \in DOMAIN timeline[c] \cup {write_end[c]} :
         (IF end = write_end[c] THEN written[c] ELSE timeline[c][end]) =
           ReplayLog(Between(InitialImage), WholeLog, 0, end)

(* No node shows half a batch.                                               *)
(* Source: KIP-631, atomic batches; Kafka, ControllerResult.atomicOf.        *)
(* Broken by: replaying only the first records of a batch.                   *)
BatchAtomicInv == LET images == Images IN \A n \in Node : Visible(n) \in images

(* No node shows any change of a transaction that has not ended.             *)
(* Source: KIP-868.                                                          *)
(* Broken by: taking everything committed for stable; Kafka's bookkeeping of *)
(* the transaction, as built (broken/metadata/StableInTransaction).          *)
TransactionAtomicInv ==
  LET images == StableImages IN \A n \in Node : Visible(n) \in images

(* All batches after the beginning of an epoch were written in that epoch:   *)
(* no batch of a deposed controller follows. Epochs only grow.               *)
(* Source: KIP-595, leader epochs; Kafka, the claim epoch of an append.      *)
(* Broken by: appending without the claim epoch.                             *)
OneEffectiveWriterInv ==
  \A k \in DOMAIN WholeLog :
    IF k = 1 THEN WholeLog[1].kind = "LeaderChange"
    ELSE IF WholeLog[k].kind = "Data" THEN WholeLog[k].epoch = WholeLog[k - 1].epoch
    ELSE WholeLog[k].epoch > WholeLog[k - 1].epoch

(* A state can take all these records, one after the other.                  *)
RECURSIVE CanReplayAll(_, _, _)
CanReplayAll(state, records, offset) ==
  records # << >> =>
    /\ ~CannotReplay(state, Head(records))
    /\ CanReplayAll(ReplayRecord(state, Head(records), offset), Tail(records), offset)

(* No node will be given a record that its state cannot take.                *)
(* Source: Kafka, OffsetControlManager.replay, where the process dies.       *)
(* Broken by: a transaction within a transaction; reverting to a state that  *)
(* has forgotten its transaction (broken/metadata/DeadStandby).              *)
ReplayNeverFailsInv ==
  \A n \in Standbys \cup Broker :
    committed_end[n] < Len(committed) =>
      CanReplayAll(written[n], RecordsOf(committed[committed_end[n] + 1]), committed_end[n])

(* A snapshot holds only committed changes, and no half of a transaction.    *)
(* Source: KIP-630, KIP-868.                                                 *)
(* Broken by: taking it of the newest state, or in a transaction.            *)
SnapshotIsStableInv ==
  \A n \in Node :
    /\ snapshot[n].end <= Len(committed)
    /\ ~InTransaction(StateAt(snapshot[n].end))
    /\ snapshot[n].image = StateAt(snapshot[n].end).image

(* Only an active controller has deferred answers. Each awaits an end that   *)
(* is in memory, but not yet stable.                                         *)
(* Source: Kafka, DeferredEventQueue.                                        *)
(* Broken by: resigning the claim without failing the deferred requests; not *)
(* giving an answer that is due.                                             *)
DeferredWaitsInv ==
  \A c \in Controller : \A parked \in deferred[c] :
    /\ IsActive(c)
    /\ stable_end[c] < parked.end /\ parked.end <= write_end[c]

(* A controller can always revert: it keeps the stable state and the         *)
(* committed state. It keeps its newest state under the end of its memory,   *)
(* where its next batch goes.                                                *)
(* Source: Kafka, OffsetControlManager.deactivate (KAFKA-13114,              *)
(* KAFKA-17608).                                                             *)
(* Broken by: forgetting the states between the batches it appended; taking  *)
(* the end of the log for the end of its memory.                             *)
CanGoBackInv ==
  \A c \in Controller : IsActive(c) =>
    /\ stable_end[c] \in DOMAIN timeline[c]
    /\ committed_end[c] \in DOMAIN timeline[c]
    /\ write_end[c] \in DOMAIN timeline[c] /\ timeline[c][write_end[c]] = written[c]

(* A property that is false, kept as an expected failure                     *)
(* (broken/metadata/StaleRefusal): that an answer of a controller that       *)
(* writes nothing is true at the time. A deposed controller may give an      *)
(* answer that has long been out of date.                                    *)
UnchangedIsCurrentProp ==
  [][\A c \in Controller, r \in Request :
       AnswerUnchanged(c, r) => answers'[r] = Result(r, CommittedImage)]_answers
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* A node restarts.                                                          *)
Restarts == \E n \in Node : Restart(n)

(* The stable end of a node never goes back while the node runs.             *)
(* Source: Kafka, OffsetControlManager.                                      *)
(* Broken by: a transaction that moves it back; loading a snapshot that is   *)
(* behind.                                                                   *)
LastStableNeverBackProp ==
  [][Restarts \/ \A n \in Node : stable_end'[n] >= stable_end[n]]_stable_end

(* The readable image of a node changes only when its stable end advances.   *)
(* Source: KIP-631.                                                          *)
(* Broken by: reading at the newest state.                                   *)
ImageMonotonicProp ==
  [][Restarts \/ \A n \in Node :
       Visible(n)' # Visible(n) => stable_end'[n] > stable_end[n]]_<<timeline, stable_end>>

(* A controller that resigns its claim shows the same image as before, keeps *)
(* the committed part of its state, answers all deferred requests with       *)
(* NOT_CONTROLLER, and no longer leads in that epoch: so it claims an epoch  *)
(* once.                                                                     *)
(* Source: Kafka, QuorumController.renounce.                                 *)
(* Broken by: keeping the newest state; leaving answers deferred.            *)
RenounceRevertsProp ==
  [][\A c \in Controller :
       (IsActive(c) /\ ~IsActive(c)') =>
         \/ Restart(c)
         \/ /\ Visible(c)' = Visible(c)
            /\ stable_end'[c] = stable_end[c]
            /\ written'[c] = StateAt(committed_end[c])
            /\ write_end'[c] = committed_end[c]
            /\ deferred'[c] = {}
            /\ leader_epoch'[c] # claim_epoch[c]
            /\ \A parked \in deferred[c] :
                 answers'[parked.request] = NotController]_claim_epoch

(* A controller that resigns its claim of an older epoch leaves alone the    *)
(* epoch in which its Raft client leads by now.                              *)
(* Source: Kafka, QuorumController.renounce names the epoch of its claim,    *)
(* and KafkaRaftClient.resign ignores an epoch older than its own.           *)
(* Broken by: resigning whatever epoch Raft leads.                           *)
RenounceOwnEpochProp ==
  [][\A c \in Controller :
       (IsActive(c) /\ ~IsActive(c)' /\ leader_epoch[c] # claim_epoch[c]) =>
         leader_epoch'[c] = leader_epoch[c] \/ Restart(c)]_claim_epoch

(* A controller becomes active in an epoch in which it leads, only once it   *)
(* has replayed everything that was committed before.                        *)
(* Source: Kafka, KafkaRaftClient tells a listener that it leads only when   *)
(* the listener has reached the epoch's start.                               *)
(* Broken by: claiming as soon as Raft leads.                                *)
ClaimsCaughtUpProp ==
  [][\A c \in Controller :
       (claim_epoch'[c] # claim_epoch[c] /\ claim_epoch'[c] # NoEpoch) =>
         /\ claim_epoch[c] = NoEpoch
         /\ claim_epoch'[c] = leader_epoch[c]
         /\ committed[committed_end[c]] = LeaderChange(leader_epoch[c], c)]_claim_epoch

(* A transaction that its leader did not end is aborted by the next leader   *)
(* before that writes anything else, and none of its changes remain.         *)
(* Source: KIP-868.                                                          *)
(* Broken by: claiming without checking for a transaction; ending it.        *)
OpenTransactionAbortedProp ==
  [][\A c \in Controller :
       (~IsActive(c) /\ IsActive(c)') =>
         /\ ~InTransaction(written'[c])
         /\ VisibleOf(written'[c]) = VisibleOf(written[c])]_claim_epoch

(* A request is answered once.                                               *)
(* Source: KIP-631.                                                          *)
(* Broken by: answering twice.                                               *)
AnsweredOnceProp ==
  [][\A r \in Request : answers'[r] # answers[r] => answers[r] = Nil]_answers

(* A later request is not answered before an earlier one of its controller.  *)
(* Source: Kafka, DeferredEventQueue completes in the order of offsets.      *)
(* Broken by: completing one end at a time.                                  *)
AnsweredInOrderProp ==
  [][\A c \in Controller : \A early, late \in deferred[c] :
       (early.end < late.end /\ answers'[late.request] # Nil) =>
         answers'[early.request] # Nil]_answers

(* An answer that waits is decided by the newest state in memory, whether or *)
(* not its request writes.                                                   *)
(* Source: Kafka, QuorumController.ControllerWriteEvent. Broken by: judging  *)
(* a request that writes nothing by the stable state.                        *)
DecidedByNewestProp ==
  [][\A c \in Controller : \A waiting \in deferred'[c] \ deferred[c] :
       waiting.result = Result(waiting.request, written[c].image)]_deferred

(* A client is told NOT_CONTROLLER only in the step in which a controller    *)
(* resigns its claim.                                                        *)
(* Source: Kafka, QuorumController.handleEventException.                     *)
(* Broken by: a controller that goes on although Raft refused its append.    *)
RefusedByResignedProp ==
  [][(\E r \in Request : answers'[r] # answers[r] /\ answers'[r] = NotController) =>
       \E c \in Controller : IsActive(c) /\ ~IsActive(c)']_answers

(* The batches that become committed are the first of the tail, in its       *)
(* order. After them there are only records that begin epochs.               *)
(* Source: KIP-595. Broken by: an election that keeps the last batches of    *)
(* the tail, or commits what survives after its own record.                  *)
FirstOfTailCommitsProp ==
  [][\E count \in 0 .. Len(uncommitted) :
       LET end == Len(committed) + count IN
       /\ IsPrefix(SubSeq(WholeLog, 1, end), committed')
       /\ \A k \in end + 1 .. Len(committed') : committed'[k].kind = "LeaderChange"]_committed

(* The permitted changes. The committed log only grows. The leader adds to   *)
(* the end of the uncommitted tail, a commit takes batches from its          *)
(* beginning, and otherwise batches are lost from its end. A step changes    *)
(* one node, and its Raft client: the others hear of it in steps of their    *)
(* own. Only an active controller is ahead of the committed log, or defers   *)
(* an answer.                                                                *)
(* Source: KIP-631, KIP-595.                                                 *)
(* Broken by: any other change of one of these; an election that also        *)
(* deposes the other leaders.                                                *)
Differs(n) ==
  \/ written'[n] # written[n]
  \/ committed_end'[n] # committed_end[n]
  \/ IF n \in Broker THEN FALSE
     ELSE leader_epoch'[n] # leader_epoch[n] \/ claim_epoch'[n] # claim_epoch[n]
PermittedChangesProp ==
  [][/\ IsPrefix(committed, committed')
     /\ \/ IsPrefix(uncommitted', uncommitted)
        \/ IsPrefix(WholeLog', WholeLog)
        \/ /\ uncommitted = SubSeq(uncommitted', 1, Len(uncommitted') - 1)
           /\ \E c \in Controller : IsActive(c)' /\ leader_epoch[c] = NewestEpoch
     /\ Cardinality({n \in Node : Differs(n)}) <= 1
     /\ \A n \in Node : Follows(n)' => write_end'[n] = committed_end'[n]
     /\ \A c \in Controller :
          (deferred'[c] \ deferred[c]) # {} => IsActive(c) /\ IsActive(c)'
    ]_vars
------------------------------------------------------------------------------
(* Liveness. These properties hold once the faults are over, under the       *)
(* fairness of MCMetadataLogLive.                                            *)

(* Every deferred request is eventually answered.                            *)
(* Source: Kafka, DeferredEventQueue.                                        *)
(* Broken by: a controller that is deposed and keeps deferred requests (in   *)
(* KAFKA-13104, the opposite case, Raft was not told); a transaction that no *)
(* controller ends.                                                          *)
EveryDeferredResolvesLive ==
  \A c \in Controller, r \in Request :
    ((\E parked \in deferred[c] : parked.request = r) ~> (answers[r] # Nil))

(* Every broker and every controller eventually shows everything that is     *)
(* committed.                                                                *)
(* Source: KIP-500.                                                          *)
(* Broken by: a node that stops at a record that it cannot replay.           *)
BrokersConvergeLive == \A n \in Node : <>[](Visible(n) = CommittedImage)

(* A controller whose Raft client leads loads no snapshot. A new snapshot    *)
(* there is its own, and ends at its stable end or before.                   *)
(* Source: KAFKA-12958. Broken by: checking the claim only.                  *)
LeaderLoadsNothingProp ==
  [][\A c \in Controller :
       (/\ leader_epoch[c] # NoEpoch
        /\ leader_epoch'[c] = leader_epoch[c]
        /\ snapshot'[c].end > snapshot[c].end) =>
         snapshot'[c].end <= stable_end[c]]_snapshot

------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* A change was made in memory, its client was told NOT_CONTROLLER, and the  *)
(* change is lost.                                                           *)
UncommittedThenLostReach ==
  \E r \in Request :
    /\ answers[r] = NotController
    /\ OffsetsOf(WholeLog, r) = {}
    /\ \E k \in DOMAIN committed :
         committed[k].kind = "LeaderChange" /\ committed[k].epoch > 1

(* A client was told the same, and its change took effect nevertheless.      *)
FailedThenCommittedReach ==
  \E r \in Request :
    answers[r] = NotController /\ \E offset \in OffsetsOf(committed, r) : InEffect(offset)

(* An election kept the first of two batches, and the second is lost. *)
OneOfTwoSurvivesReach ==
  \E c \in Controller : \E first, second \in deferred[c] :
    /\ first.end < second.end
    /\ OffsetsOf(committed, first.request) # {}
    /\ OffsetsOf(WholeLog, second.request) = {}
    /\ committed[Len(committed)].epoch > claim_epoch[c]

(* Two controllers take themselves for active, and both defer answers.       *)
TwoControllersBothThinkActiveReach ==
  \E c, d \in Controller :
    /\ c # d /\ IsActive(c) /\ IsActive(d)
    /\ deferred[c] # {} /\ deferred[d] # {}

(* A controller is active in an older epoch than the one in which its own    *)
(* Raft client leads.                                                        *)
ElectedAgainUnawaresReach ==
  \E c \in Controller : IsActive(c) /\ leader_epoch[c] > claim_epoch[c]

(* A controller resigned its claim while two requests waited.                *)
RenounceWithPendingReach ==
  \E c \in Controller :
    /\ ~IsActive(c)
    /\ Cardinality({r \in Request : answers[r] = NotController}) > 1

(* A request that writes nothing waits for one that writes.                  *)
UnchangedWaitsReach ==
  \E c \in Controller : \E early, late \in deferred[c] :
    early.request # late.request /\ early.end = late.end

(* Such a request waits although all that was written is committed: it waits *)
(* for the end of a transaction.                                             *)
UnchangedWaitsInTransactionReach ==
  UnchangedWaitsReach /\
  \E c \in Controller : committed_end[c] = write_end[c] /\ Cardinality(deferred[c]) > 1

(* A new leader aborted a transaction that contained a change.               *)
OpenTransactionAbortedReach ==
  \E k \in DOMAIN committed :
    /\ Aborts(k)
    /\ \E r \in Request : \E offset \in OffsetsOf(committed, r) :
         offset < k - 1 /\ ~InEffect(offset)

(* A transaction that contained a change has ended.                          *)
TransactionEndedReach ==
  \E k \in DOMAIN committed :
    /\ Closes(k) /\ ~Aborts(k)
    /\ \E r \in Request : IsSure(r) /\ \E offset \in OffsetsOf(committed, r) : Opens(offset)

(* A controller resigned its claim in the middle of a committed transaction. *)
StandbyInTransactionReach ==
  \E c \in Controller :
    /\ ~IsActive(c) /\ InTransaction(written[c])
    /\ \E r \in Request : answers[r] = NotController

(* A node took another node's snapshot, and has replayed more since.         *)
StartedFromSnapshotReach ==
  \E n \in Node : snapshot[n].end > 1 /\ committed_end[n] > snapshot[n].end

(* A broker that restarted from nothing is far behind the log.               *)
FarBehindReach ==
  \E b \in Broker : committed_end[b] = 0 /\ \E n \in Node : snapshot[n].end > 2
==============================================================================
