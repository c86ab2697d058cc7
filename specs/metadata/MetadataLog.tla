----------------------------- MODULE MetadataLog -----------------------------
(***************************************************************************)
(* How controllers and brokers see the metadata. The active controller is  *)
(* a little ahead of the committed log; every other node is never ahead of *)
(* it.                                                                     *)
(*                                                                         *)
(* The active controller checks a request against the newest state in its  *)
(* memory, appends a batch of records, replays it into that state at once, *)
(* and defers the answer. Other nodes and the answer wait until the batch  *)
(* is committed. If the controller is deposed first, its uncommitted state *)
(* is thrown away, and the clients that wait are told NOT_CONTROLLER.      *)
(*                                                                         *)
(* Sources: KIP-631 (persistence and visibility), KIP-500 (deltas or a     *)
(* whole image), KIP-868 (transactions), KIP-630 (snapshots), and Kafka's  *)
(* QuorumController, OffsetControlManager and MetadataLoader.              *)
(*                                                                         *)
(* An offset of this log is one batch: Raft never splits a batch, nor      *)
(* commits part of one. Offsets count from 0, and an end is the first      *)
(* offset that is not there.                                               *)
(*                                                                         *)
(* Raft is here what its listeners are promised. A leader is told of its   *)
(* leadership only when the record that begins its epoch is committed; so  *)
(* an election is here the commit of that record. From then on at most one *)
(* tail can still commit: that of the leader of the newest epoch. The      *)
(* batches that a deposed controller appends are in its own memory only.   *)
(* MetadataLogOverKRaft shows that KRaft keeps these promises.             *)
(*                                                                         *)
(* On transactions this module follows KIP-868. Kafka's own bookkeeping of *)
(* where a transaction began differs, and falls short: broken/metadata has *)
(* a model for each way in which it does.                                  *)
(*                                                                         *)
(* The module leaves the meaning of the records open: InitialImage,        *)
(* Replay, Records and Result define it.                                   *)
(*                                                                         *)
(* Kafka's handler -> actions here (QuorumController where no class is     *)
(* given)                                                                  *)
(*   LeaderState.maybeUpdateHighWatermark -> Elect, Commit                 *)
(*   QuorumState.transitionToFollower, transitionToResigned ->             *)
(*     LoseLeadership                                                      *)
(*   ReplicatedLog.truncateToEndOffset -> LoseTail                         *)
(*   claim -> Claim                                                        *)
(*   CompleteActivationEvent -> Claim, ClaimWithOpenTransaction            *)
(*   ActivationRecordsGenerator.recordsForNonEmptyLog ->                   *)
(*     ClaimWithOpenTransaction                                            *)
(*   renounce -> Renounce, RefuseAppend                                    *)
(*   handleEventException of a NotLeaderException -> RefuseAppend          *)
(*   ControllerWriteEvent.run -> HandleWrite, AnswerUnchanged,             *)
(*     DelayUnchanged, RefuseAppend                                        *)
(*   RaftClient.schedulePreparedAppend -> HandleWrite, RefuseAppend        *)
(*   DeferredEventQueue.highestPendingOffset -> DelayUnchanged             *)
(*   OffsetControlManager.replay -> BeginTransaction, EndTransaction       *)
(*   QuorumMetaLogListener.handleCommit -> HandleCommit if active,         *)
(*     ReplayCommitted on a standby                                        *)
(*   OffsetControlManager.handleCommitBatch -> HandleCommit                *)
(*   MetadataLoader.handleCommit -> ReplayCommitted on a broker            *)
(*   QuorumMetaLogListener.handleLoadSnapshot -> LoadSnapshot              *)
(*   MetadataLoader.handleLoadSnapshot -> LoadSnapshot on a broker         *)
(*   SnapshotGenerator -> CreateSnapshot                                   *)
(*   the end and the start of a process -> Restart                         *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Deletion of the log's beginning. A node may always continue to read  *)
(*    batches, and may always take a snapshot that is ahead of it.         *)
(*  - An active controller that is re-elected with no other leader in      *)
(*    between, and stays active under the new epoch. Here it resigns its   *)
(*    claim.                                                               *)
(*  - The first records of an empty log. InitialImage is their result.     *)
(*  - The pieces of 10,000 records into which Kafka cuts a large           *)
(*    operation.                                                           *)
(*  - A transaction that its own controller aborts, as the migration from  *)
(*    ZooKeeper could.                                                     *)
(*  - A loader that publishes nothing until it has caught up for the first *)
(*    time, and a loader that gathers several commits before it publishes. *)
(*  - Writes requested from a controller that is not active: refused at    *)
(*    once.                                                                *)
(*  - The metadata version, and what it allows.                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Controller,      \* The ids of the controllers.
  Broker,          \* The ids of the brokers, which only read.
  Request,         \* The requests of clients to the controller, each sent once.
  InitialImage,    \* The image of an empty log.
  Replay(_, _),    \* (image, record): the image with the record applied.
  Records(_, _),   \* (request, image): the records that the request writes; << >>: nothing to write.
  Result(_, _),    \* (request, image): the answer to the request.
  Nil              \* No request, no answer, no image.

ASSUME Constants ==
  /\ Controller # {} /\ IsFiniteSet(Controller)
  /\ IsFiniteSet(Broker) /\ Controller \cap Broker = {}
  /\ Nil \notin Request \cup Controller \cup Broker

Node == Controller \cup Broker

VARIABLES
  committed,      \* The committed log, a sequence of entries.
  uncommitted,    \* What the leader of the newest epoch wrote after it; it may be lost.
  leader_epoch,   \* [Controller -> epoch]: the epoch in which its Raft client leads.
  claim_epoch,    \* [Controller -> epoch]: the epoch in which it takes itself for active.
  committed_end,  \* [Node -> end]: the end of what Raft has handed over as committed.
  stable_end,     \* [Node -> end]: the end of what may be read.
  write_end,      \* [Node -> end]: the end of what is in memory.
  written,        \* [Node -> state]: the newest state in memory.
  timeline,       \* [Node -> [end -> state]]: states in memory that the node can revert to.
  deferred,       \* [Controller -> deferred answers]: each waits until its end is stable.
  answers,        \* [Request -> its answer, or Nil].
  snapshot        \* [Node -> snapshot]: the newest snapshot on its disk.

log_vars == <<committed, uncommitted, leader_epoch>>
offset_vars == <<committed_end, stable_end, write_end>>
image_vars == <<written, timeline>>
reply_vars == <<deferred, answers>>
vars == <<committed, uncommitted, leader_epoch, claim_epoch, committed_end, stable_end,
          write_end, written, timeline, deferred, answers, snapshot>>
------------------------------------------------------------------------------
(* Values                                                                    *)

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

NoEpoch == -1     \* Kafka: curClaimEpoch of a controller that is not active.
NoOffset == -1    \* Kafka: transactionStartOffset without a transaction.

(* The answers to a request whose outcome the controller could not           *)
(* determine: the client does not know whether it took effect.               *)
NotController == "NOT_CONTROLLER"
Disconnected == "DISCONNECTED"
Failed == {NotController, Disconnected}

(* The records that begin and end a transaction. All other records change    *)
(* the image.                                                                *)
BeginTransactionRecord == [type |-> "BeginTransaction"]
EndTransactionRecord == [type |-> "EndTransaction"]
AbortTransactionRecord == [type |-> "AbortTransaction"]

(* An entry of the log. Kafka does not write the request of a batch; it is   *)
(* here for the properties, and no step reads it.                            *)
LeaderChange(epoch, c) == [epoch |-> epoch, kind |-> "LeaderChange", value |-> c]
Batch(epoch, request, records) ==
  [epoch |-> epoch, kind |-> "Data", value |-> [request |-> request, records |-> records]]
RecordsOf(entry) == IF entry.kind = "Data" THEN entry.value.records ELSE << >>
RequestOf(entry) == IF entry.kind = "Data" THEN entry.value.request ELSE Nil

(* A state in memory: an image, and if it is in a transaction, the offset    *)
(* where that began and the image before it.                                 *)
(* Kafka: OffsetControlManager; in the loader MetadataBatchLoader.           *)
Between(image) == [image |-> image, transaction_start |-> NoOffset, image_before |-> Nil]
InTransaction(state) == state.transaction_start # NoOffset

(* The stable end of a state that holds everything before `end`: records of  *)
(* a transaction that is still open are not stable.                          *)
(* Kafka: OffsetControlManager.maybeAdvanceLastStableOffset.                 *)
StableEnd(state, end) ==
  IF InTransaction(state) THEN Min(state.transaction_start, end) ELSE end
VisibleOf(state) == IF InTransaction(state) THEN state.image_before ELSE state.image
------------------------------------------------------------------------------
(* Replay                                                                    *)

(* An aborted transaction leaves no change.                                  *)
AfterAbort(state) == Between(state.image_before)

ReplayRecord(state, record, offset) ==
  CASE record.type = "BeginTransaction" ->
         [state EXCEPT !.transaction_start = offset, !.image_before = state.image]
    [] record.type = "EndTransaction" -> Between(state.image)
    [] record.type = "AbortTransaction" -> AfterAbort(state)
    [] OTHER -> [state EXCEPT !.image = Replay(@, record)]

RECURSIVE ReplayRecords(_, _, _)
ReplayRecords(state, records, offset) ==
  IF records = << >> THEN state
  ELSE ReplayRecords(ReplayRecord(state, Head(records), offset), Tail(records), offset)

(* The state after replaying the entries of a log between two ends.          *)
RECURSIVE ReplayLog(_, _, _, _)
ReplayLog(state, log, from, end) ==
  IF from >= end THEN state
  ELSE ReplayLog(ReplayRecords(state, RecordsOf(log[from + 1]), from), log, from + 1, end)

(* The state cannot take this record: the process that replays it dies.      *)
(* Kafka: OffsetControlManager.replay.                                       *)
CannotReplay(state, record) ==
  CASE record.type = "BeginTransaction" -> InTransaction(state)
    [] record.type \in {"EndTransaction", "AbortTransaction"} -> ~InTransaction(state)
    [] OTHER -> FALSE

(* The state of the committed log up to an end.                              *)
StateAt(end) == ReplayLog(Between(InitialImage), committed, 0, end)
CommittedImage == VisibleOf(StateAt(Len(committed)))
------------------------------------------------------------------------------
(* Predicates and expressions on a node's own state                          *)

(* The controller takes itself for active. Another controller may do so too. *)
(* Kafka: QuorumController.isActiveController.                               *)
IsActive(c) == claim_epoch[c] # NoEpoch

(* The node holds only what is committed: it is a standby or a broker.       *)
Follows(n) == IF n \in Broker THEN TRUE ELSE ~IsActive(n)

(* The readable image of a node: nothing in it can still be lost, and it     *)
(* contains no half of a transaction.                                        *)
(* Kafka: reads at the last stable offset; MetadataLoader.image.             *)
Visible(n) == timeline[n][stable_end[n]].image

(* The answers deferred at c that are due once everything before `stable` is *)
(* stable. Kafka: DeferredEventQueue.completeUpTo.                           *)
Due(c, stable) == {parked \in deferred[c] : parked.end <= stable}

Waits(r) == \E c \in Controller : \E parked \in deferred[c] : parked.request = r
Asked(r) == answers[r] # Nil \/ Waits(r)

(* The answers after this step gives the answers in `given`, each with its   *)
(* own result.                                                               *)
AnswersWith(given) ==
  [r \in Request |->
     IF \E parked \in given : parked.request = r
     THEN (CHOOSE parked \in given : parked.request = r).result
     ELSE answers[r]]
Failing(parked, error) == {[p EXCEPT !.result = error] : p \in parked}

(* The epoch that began last. Batches of earlier epochs that are not         *)
(* committed can commit no more.                                             *)
NewestEpoch == IF committed = << >> THEN 0 ELSE committed[Len(committed)].epoch

(* While Raft leads at c, it hands over nothing of a later leader: it would  *)
(* first have to say that it no longer leads. The same holds for a           *)
(* controller that has not heard of this yet.                                *)
(* Kafka: KafkaRaftClient fires the change of leader before commits of it.   *)
BelievedEpoch(n) ==
  IF n \in Broker THEN NoEpoch
  ELSE IF IsActive(n) THEN claim_epoch[n] ELSE leader_epoch[n]
MayHandOver(n, end) ==
  /\ committed_end[n] < end
  /\ end <= Len(committed)
  /\ BelievedEpoch(n) # NoEpoch =>
       \A k \in committed_end[n] + 1 .. end : committed[k].epoch <= BelievedEpoch(n)

IsEntry(entry) ==
  /\ DOMAIN entry = {"epoch", "kind", "value"}
  /\ entry.epoch \in Nat
  /\ \/ entry.kind = "LeaderChange" /\ entry.value \in Controller
     \/ /\ entry.kind = "Data"
        /\ entry.value.request \in Request \cup {Nil}
        /\ entry.value.records # << >>

TypeOK ==
  /\ \A k \in DOMAIN committed : IsEntry(committed[k])
  /\ \A k \in DOMAIN uncommitted : IsEntry(uncommitted[k]) /\ uncommitted[k].kind = "Data"
  /\ leader_epoch \in [Controller -> Nat \cup {NoEpoch}]
  /\ claim_epoch \in [Controller -> Nat \cup {NoEpoch}]
  /\ committed_end \in [Node -> Nat]
  /\ stable_end \in [Node -> Nat]
  /\ write_end \in [Node -> Nat]
  /\ DOMAIN written = Node /\ DOMAIN timeline = Node /\ DOMAIN snapshot = Node
  /\ \A n \in Node :
       /\ stable_end[n] <= committed_end[n] /\ committed_end[n] <= write_end[n]
       /\ stable_end[n] \in DOMAIN timeline[n]
       /\ DOMAIN timeline[n] \subseteq stable_end[n] .. write_end[n]
       /\ snapshot[n].end <= stable_end[n]
  /\ \A c \in Controller : \A parked \in deferred[c] :
       /\ parked.request \in Request /\ answers[parked.request] = Nil
       /\ parked.end \in Nat
  /\ DOMAIN answers = Request
------------------------------------------------------------------------------
Init ==
  /\ committed = << >>
  /\ uncommitted = << >>
  /\ leader_epoch = [c \in Controller |-> NoEpoch]
  /\ claim_epoch = [c \in Controller |-> NoEpoch]
  /\ committed_end = [n \in Node |-> 0]
  /\ stable_end = [n \in Node |-> 0]
  /\ write_end = [n \in Node |-> 0]
  /\ written = [n \in Node |-> Between(InitialImage)]
  /\ timeline = [n \in Node |-> (0 :> Between(InitialImage))]
  /\ deferred = [c \in Controller |-> {}]
  /\ answers = [r \in Request |-> Nil]
  /\ snapshot = [n \in Node |-> [end |-> 0, image |-> InitialImage]]
------------------------------------------------------------------------------
(* Raft                                                                      *)

(***************************************************************************)
(* A controller's Raft client has been elected, and the record that begins *)
(* its epoch is committed. The part of the earlier leader's tail that is   *)
(* in its log (`survivors`) is committed with it; the rest can never       *)
(* commit.                                                                 *)
(*                                                                         *)
(* Other nodes may not know it yet, including the old leader. There may be *)
(* earlier epochs whose first record commits only now (`passed`): their    *)
(* leaders never heard of that, and wrote nothing.                         *)
(*                                                                         *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                            *)
(***************************************************************************)
Elect(c, epoch, survivors, passed) ==
  /\ leader_epoch[c] = NoEpoch
  /\ epoch > NewestEpoch
  /\ survivors <= Len(uncommitted)
  /\ committed' =
       committed \o SubSeq(uncommitted, 1, survivors) \o passed \o
         <<LeaderChange(epoch, c)>>
  /\ uncommitted' = << >>
  /\ leader_epoch' = [leader_epoch EXCEPT ![c] = epoch]
  /\ UNCHANGED <<claim_epoch, offset_vars, image_vars, reply_vars, snapshot>>

(***************************************************************************)
(* A controller's Raft client learns that it no longer leads, or gives up  *)
(* leadership. The controller has yet to hear of it; Raft refuses what it  *)
(* appends meanwhile.                                                      *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToFollower, transitionToResigned.          *)
(***************************************************************************)
LoseLeadership(c) ==
  /\ leader_epoch[c] # NoEpoch
  /\ leader_epoch' = [leader_epoch EXCEPT ![c] = NoEpoch]
  /\ UNCHANGED <<committed, uncommitted, claim_epoch, offset_vars, image_vars, reply_vars,
                 snapshot>>

(***************************************************************************)
(* The next batches are on a majority and commit.                          *)
(*                                                                         *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                            *)
(***************************************************************************)
Commit(count) ==
  /\ count \in 1 .. Len(uncommitted)
  /\ committed' = committed \o SubSeq(uncommitted, 1, count)
  /\ uncommitted' = SubSeq(uncommitted, count + 1, Len(uncommitted))
  /\ UNCHANGED <<leader_epoch, claim_epoch, offset_vars, image_vars, reply_vars, snapshot>>

(***************************************************************************)
(* The last batches are lost on all nodes: the leader that wrote them no   *)
(* longer leads, and gave them up. (An election loses such batches too.)   *)
(*                                                                         *)
(* Kafka: ReplicatedLog.truncateToEndOffset.                               *)
(***************************************************************************)
LoseTail(count) ==
  /\ \A c \in Controller : leader_epoch[c] # NewestEpoch
  /\ count \in 1 .. Len(uncommitted)
  /\ uncommitted' = SubSeq(uncommitted, 1, Len(uncommitted) - count)
  /\ UNCHANGED <<committed, leader_epoch, claim_epoch, offset_vars, image_vars, reply_vars,
                 snapshot>>
------------------------------------------------------------------------------
(* The active controller                                                     *)

(***************************************************************************)
(* The active controller appends one batch, replays it into its newest     *)
(* state and defers the answer. It cannot know whether the batch may still *)
(* commit: if a later epoch has begun, the batch never will.               *)
(*                                                                         *)
(* Raft takes the batch only in the epoch in which the controller claimed  *)
(* to be active: leader_epoch[c] = epoch. In a later epoch of the same     *)
(* replica the log has moved on, and the batch was made for another state. *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run,                       *)
(* RaftClient.schedulePreparedAppend.                                      *)
(***************************************************************************)
MayAppend(c, epoch) == leader_epoch[c] = epoch

(* The effect of an append on c's memory. *)
Remember(c, request, records, result) ==
  LET end == write_end[c] + 1
      state == ReplayRecords(written[c], records, write_end[c])
  IN
  /\ write_end' = [write_end EXCEPT ![c] = end]
  /\ written' = [written EXCEPT ![c] = state]
  /\ timeline' = [timeline EXCEPT ![c] =
       (end :> state) @@ (write_end[c] :> written[c]) @@ @]
  /\ deferred' = [deferred EXCEPT ![c] =
       IF request = Nil THEN @
       ELSE @ \cup {[request |-> request, end |-> end, result |-> result]}]
  /\ UNCHANGED <<committed_end, stable_end, answers, snapshot>>

AppendBatch(c, epoch, request, records, result) ==
  /\ MayAppend(c, epoch)
  /\ uncommitted' =
       IF leader_epoch[c] = NewestEpoch
       THEN Append(uncommitted, Batch(epoch, request, records)) ELSE uncommitted
  /\ Remember(c, request, records, result)
  /\ UNCHANGED <<committed, leader_epoch>>

Write(c, request, records, result) ==
  /\ IsActive(c)
  /\ AppendBatch(c, claim_epoch[c], request, records, result)
  /\ UNCHANGED claim_epoch

(* Raft has handed over everything up to the record that begins c's epoch,   *)
(* and has told c that it leads.                                             *)
ToldToLead(c) ==
  /\ ~IsActive(c)
  /\ leader_epoch[c] # NoEpoch
  /\ committed_end[c] > 0
  /\ committed[committed_end[c]] = LeaderChange(leader_epoch[c], c)

(***************************************************************************)
(* A standby becomes the active controller. It has replayed everything     *)
(* that was committed before its epoch.                                    *)
(*                                                                         *)
(* Kafka: QuorumController.claim.                                          *)
(***************************************************************************)
Claim(c) ==
  /\ ToldToLead(c)
  /\ ~InTransaction(written[c])
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = leader_epoch[c]]
  /\ UNCHANGED <<log_vars, offset_vars, image_vars, reply_vars, snapshot>>

(***************************************************************************)
(* A standby becomes the active controller while the log ends in a         *)
(* transaction: the controller that opened it can no longer end it. The    *)
(* new controller aborts it before it writes anything else.                *)
(*                                                                         *)
(* Kafka: QuorumController.CompleteActivationEvent,                        *)
(* ActivationRecordsGenerator.recordsForNonEmptyLog.                       *)
(***************************************************************************)
ClaimWithOpenTransaction(c) ==
  /\ ToldToLead(c)
  /\ InTransaction(written[c])
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = leader_epoch[c]]
  /\ AppendBatch(c, leader_epoch[c], Nil, <<AbortTransactionRecord>>, Nil)

(* The state that a controller reverts to: the last committed one. If that   *)
(* is in a transaction, the controller stays in it; the records that close   *)
(* the transaction are still to come.                                        *)
AfterRenounce(c) == timeline[c][committed_end[c]]

(* Controller c drops its uncommitted state, and fails all deferred requests *)
(* and the requests in `others`.                                             *)
Forget(c, others) ==
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = NoEpoch]
  /\ write_end' = [write_end EXCEPT ![c] = committed_end[c]]
  /\ written' = [written EXCEPT ![c] = AfterRenounce(c)]
  /\ timeline' = [timeline EXCEPT ![c] = (stable_end[c] :> @[stable_end[c]])]
  /\ deferred' = [deferred EXCEPT ![c] = {}]
  /\ answers' = AnswersWith(Failing(deferred[c] \cup others, NotController))
  /\ UNCHANGED <<committed_end, stable_end, snapshot>>

(* c drops its state, and its Raft client resigns if it still leads in the   *)
(* epoch that c claimed.                                                     *)
GiveUp(c, others) ==
  /\ leader_epoch' =
       [leader_epoch EXCEPT ![c] = IF @ = claim_epoch[c] THEN NoEpoch ELSE @]
  /\ Forget(c, others)
  /\ UNCHANGED <<committed, uncommitted>>

(***************************************************************************)
(* The active controller resigns its claim: it has heard of another        *)
(* leader, or something went wrong, and then it makes Raft resign too. Its *)
(* uncommitted state is thrown away.                                       *)
(*                                                                         *)
(* A request that fails here may still take effect: its batch may be on a  *)
(* replica that is elected next.                                           *)
(*                                                                         *)
(* Kafka: QuorumController.renounce.                                       *)
(***************************************************************************)
Renounce(c) ==
  /\ IsActive(c)
  /\ GiveUp(c, {})

(***************************************************************************)
(* Raft refuses an append, because it no longer leads in the epoch that    *)
(* the controller claimed. This tells the controller that it is deposed.   *)
(*                                                                         *)
(* Kafka: QuorumController.handleEventException, NotLeaderException.       *)
(***************************************************************************)
RefuseAppend(c, request) ==
  /\ IsActive(c)
  /\ ~Asked(request)
  /\ Records(request, written[c].image) # << >>
  /\ ~MayAppend(c, claim_epoch[c])
  /\ GiveUp(c, {[request |-> request, end |-> 0, result |-> NotController]})

(***************************************************************************)
(* A request that changes something is checked against the newest state.   *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run.                       *)
(***************************************************************************)
HandleWrite(c, request) ==
  LET image == written[c].image IN
  /\ IsActive(c)
  /\ ~Asked(request)
  /\ Records(request, image) # << >>
  /\ Write(c, request, Records(request, image), Result(request, image))

(* Everything in c's memory may be read.                                     *)
AllStable(c) == stable_end[c] = write_end[c]

(***************************************************************************)
(* A request that changes nothing, or is refused, is answered at once if   *)
(* the newest state is stable.                                             *)
(*                                                                         *)
(* Nothing is appended, so no check shows whether the controller still     *)
(* leads: a deposed controller may answer from a state that is long out of *)
(* date.                                                                   *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run, without records.      *)
(***************************************************************************)
AnswerUnchanged(c, request) ==
  LET image == written[c].image IN
  /\ IsActive(c)
  /\ ~Asked(request)
  /\ Records(request, image) = << >>
  /\ AllStable(c)
  /\ answers' = [answers EXCEPT ![request] = Result(request, image)]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, deferred, snapshot>>

(***************************************************************************)
(* If the newest state is not stable, the answer may depend on batches     *)
(* that could be lost. It waits until the last batch in memory is stable.  *)
(*                                                                         *)
(* Kafka: DeferredEventQueue.highestPendingOffset.                         *)
(***************************************************************************)
DelayUnchanged(c, request) ==
  LET image == written[c].image IN
  /\ IsActive(c)
  /\ ~Asked(request)
  /\ Records(request, image) = << >>
  /\ ~AllStable(c)
  /\ deferred' = [deferred EXCEPT ![c] = @ \cup
       {[request |-> request, end |-> write_end[c], result |-> Result(request, image)]}]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, answers, snapshot>>

(***************************************************************************)
(* The active controller begins an operation of many batches, none of      *)
(* which is visible before the operation ends. Everything that it writes   *)
(* until then belongs to this transaction.                                 *)
(*                                                                         *)
(* Kafka: BeginTransactionRecord, OffsetControlManager.replay.             *)
(***************************************************************************)
BeginTransaction(c) ==
  /\ ~InTransaction(written[c])
  /\ Write(c, Nil, <<BeginTransactionRecord>>, Nil)

(***************************************************************************)
(* The active controller ends the transaction. Kafka:                      *)
(* EndTransactionRecord.                                                   *)
(***************************************************************************)
EndTransaction(c) ==
  /\ InTransaction(written[c])
  /\ Write(c, Nil, <<EndTransactionRecord>>, Nil)

(* The state at a committed end, from which the active controller computes   *)
(* its stable end. Its newest state may have left a transaction that the     *)
(* committed log is still in.                                                *)
CommittedState(c, end) == timeline[c][end]

(* Everything before `end` is committed: c advances its stable end and gives *)
(* the answers that are due.                                                 *)
MoveStable(c, end) ==
  LET stable == Max(stable_end[c], StableEnd(CommittedState(c, end), end))
      due == Due(c, stable)
  IN
  /\ committed_end' = [committed_end EXCEPT ![c] = end]
  /\ stable_end' = [stable_end EXCEPT ![c] = stable]
  /\ timeline' = [timeline EXCEPT ![c] =
       [kept \in {e \in DOMAIN @ : e >= stable} |-> timeline[c][kept]]]
  /\ deferred' = [deferred EXCEPT ![c] = @ \ due]
  /\ answers' = AnswersWith(due)

(***************************************************************************)
(* The active controller hears that its batches are committed. It has      *)
(* replayed them already: it only advances the stable end and answers the  *)
(* requests that wait for it.                                              *)
(*                                                                         *)
(* Kafka: QuorumController.QuorumMetaLogListener.handleCommit,             *)
(* OffsetControlManager.handleCommitBatch.                                 *)
(***************************************************************************)
HandleCommit(c, end) ==
  /\ IsActive(c)
  /\ MayHandOver(c, end)
  /\ MoveStable(c, end)
  /\ UNCHANGED <<log_vars, claim_epoch, write_end, written, snapshot>>
------------------------------------------------------------------------------
(* Standby controllers and brokers                                           *)

(* Node n keeps one state, which holds everything before `end`.              *)
Hold(n, state, end) ==
  LET stable == Max(stable_end[n], StableEnd(state, end)) IN
  /\ committed_end' = [committed_end EXCEPT ![n] = end]
  /\ write_end' = [write_end EXCEPT ![n] = end]
  /\ stable_end' = [stable_end EXCEPT ![n] = stable]
  /\ written' = [written EXCEPT ![n] = state]
  /\ timeline' = [timeline EXCEPT ![n] =
       (stable :> IF stable = stable_end[n] THEN timeline[n][stable]
                  ELSE Between(VisibleOf(state)))]

(* The state of a node after it replays the committed batches from its own   *)
(* end to another.                                                           *)
ReplayedState(n, end) == ReplayLog(written[n], committed, committed_end[n], end)

(***************************************************************************)
(* A standby or a broker replays committed batches. It does not show       *)
(* changes of a transaction until that has ended.                          *)
(*                                                                         *)
(* Kafka: QuorumController.QuorumMetaLogListener.handleCommit,             *)
(* MetadataLoader.handleCommit.                                            *)
(***************************************************************************)
ReplayCommitted(n, end) ==
  /\ Follows(n)
  /\ MayHandOver(n, end)
  /\ Hold(n, ReplayedState(n, end), end)
  /\ UNCHANGED <<log_vars, claim_epoch, reply_vars, snapshot>>

(***************************************************************************)
(* A node writes its readable image to its disk.                           *)
(*                                                                         *)
(* Kafka: SnapshotGenerator, which works on the loader's image.            *)
(***************************************************************************)
CreateSnapshot(n) ==
  /\ snapshot[n].end < stable_end[n]
  /\ snapshot' = [snapshot EXCEPT ![n] = [end |-> stable_end[n], image |-> Visible(n)]]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, reply_vars>>

(* Node n restarts from a snapshot, and has nothing else.                    *)
StartFrom(n, from) ==
  /\ committed_end' = [committed_end EXCEPT ![n] = from.end]
  /\ stable_end' = [stable_end EXCEPT ![n] = from.end]
  /\ write_end' = [write_end EXCEPT ![n] = from.end]
  /\ written' = [written EXCEPT ![n] = Between(from.image)]
  /\ timeline' = [timeline EXCEPT ![n] = (from.end :> Between(from.image))]

(***************************************************************************)
(* A node that lags takes the snapshot of another node and drops its own   *)
(* state. An active controller never does, nor a controller whose Raft     *)
(* client leads.                                                           *)
(*                                                                         *)
(* Kafka: QuorumController.QuorumMetaLogListener.handleLoadSnapshot,       *)
(* MetadataLoader.handleLoadSnapshot.                                      *)
(***************************************************************************)
LoadSnapshot(n, from) ==
  /\ committed_end[n] < snapshot[from].end
  /\ BelievedEpoch(n) = NoEpoch
  /\ StartFrom(n, snapshot[from])
  /\ snapshot' = [snapshot EXCEPT ![n] = snapshot[from]]
  /\ UNCHANGED <<log_vars, claim_epoch, reply_vars>>

(***************************************************************************)
(* A process ends and starts again with what is on its disk. Its log is on *)
(* disk too, but not how much of it is committed.                          *)
(***************************************************************************)
BeginAnew(n) ==
  /\ StartFrom(n, snapshot[n])
  /\ IF n \in Broker THEN UNCHANGED <<claim_epoch, reply_vars>>
     ELSE /\ claim_epoch' = [claim_epoch EXCEPT ![n] = NoEpoch]
          /\ deferred' = [deferred EXCEPT ![n] = {}]
          /\ answers' = AnswersWith(Failing(deferred[n], Disconnected))
  /\ UNCHANGED snapshot

Restart(n) ==
  /\ BeginAnew(n)
  /\ leader_epoch' = [c \in Controller |-> IF c = n THEN NoEpoch ELSE leader_epoch[c]]
  /\ UNCHANGED <<committed, uncommitted>>
------------------------------------------------------------------------------
(* What Next tries. A model may replace these by less.                       *)
SomeEpochs == {NewestEpoch + 1, NewestEpoch + 2}   \* One epoch may pass without a record.
SomePassed(epoch) ==
  {<< >>} \cup
  {<<LeaderChange(e, d)>> : e \in NewestEpoch + 1 .. epoch - 1, d \in Controller}
SomeSurvivors == 0 .. Len(uncommitted)
SomeCounts == 1 .. Len(uncommitted)
SomeEnds(n) == committed_end[n] + 1 .. Len(committed)

Next ==
  \/ \E c \in Controller, epoch \in SomeEpochs, survivors \in SomeSurvivors :
       \E passed \in SomePassed(epoch) : Elect(c, epoch, survivors, passed)
  \/ \E c \in Controller : LoseLeadership(c)
  \/ \E count \in SomeCounts : Commit(count)
  \/ \E count \in SomeCounts : LoseTail(count)
  \/ \E c \in Controller : Claim(c)
  \/ \E c \in Controller : ClaimWithOpenTransaction(c)
  \/ \E c \in Controller : Renounce(c)
  \/ \E c \in Controller, request \in Request : RefuseAppend(c, request)
  \/ \E c \in Controller, request \in Request : HandleWrite(c, request)
  \/ \E c \in Controller, request \in Request : AnswerUnchanged(c, request)
  \/ \E c \in Controller, request \in Request : DelayUnchanged(c, request)
  \/ \E c \in Controller : BeginTransaction(c)
  \/ \E c \in Controller : EndTransaction(c)
  \/ \E c \in Controller : \E end \in SomeEnds(c) : HandleCommit(c, end)
  \/ \E n \in Node : \E end \in SomeEnds(n) : ReplayCommitted(n, end)
  \/ \E n \in Node : CreateSnapshot(n)
  \/ \E n, from \in Node : LoadSnapshot(n, from)
  \/ \E n \in Node : Restart(n)

Spec == Init /\ [][Next]_vars
==============================================================================
