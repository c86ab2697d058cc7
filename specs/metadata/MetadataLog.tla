----------------------------- MODULE MetadataLog -----------------------------
(***************************************************************************)
(* How controllers and brokers see the metadata: the active controller a   *)
(* little ahead of the log, everybody else never ahead of what is          *)
(* committed.                                                              *)
(*                                                                         *)
(* The active controller checks a request against the newest state it has  *)
(* in memory, appends a batch of records, replays it into that state at    *)
(* once, and parks the answer. Others, and the answer, wait until the      *)
(* batch is committed. If the controller is deposed first, that future is  *)
(* thrown away, and whoever waits is told NOT_CONTROLLER.                  *)
(*                                                                         *)
(* Sources: KIP-631 (persistence and visibility), KIP-500 (deltas or a     *)
(* whole image), KIP-868 (transactions), KIP-630 (snapshots), and Kafka's  *)
(* QuorumController, OffsetControlManager and MetadataLoader.              *)
(*                                                                         *)
(* An offset of this log is one batch: Raft never splits one, nor commits  *)
(* part of it. Offsets count from 0, and an end is the first offset that   *)
(* is not there.                                                           *)
(*                                                                         *)
(* Raft is here what its listeners are promised. A leader is only ever     *)
(* told of its leadership when the record that begins its epoch is         *)
(* committed; so an election is here the commit of that record. Then at    *)
(* most one tail can still commit: what the leader of the newest epoch     *)
(* wrote. What a deposed controller appends is in its own memory only.     *)
(* MetadataLogOverKRaft shows that KRaft keeps these promises.             *)
(*                                                                         *)
(* Of transactions this says what KIP-868 asks for. Kafka's own            *)
(* bookkeeping of where a transaction began differs, and falls short:      *)
(* broken/metadata has a model for each way in which it does.              *)
(*                                                                         *)
(* What the records mean is left open: InitialImage, Replay, Records and   *)
(* Result say it.                                                          *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - That the log's beginning is deleted. A node may always read on by    *)
(*    batches, and may always take a snapshot that is ahead of it.         *)
(*  - An active controller that is elected again without hearing of        *)
(*    another leader, and goes on under the new epoch. Here it renounces.  *)
(*  - The first records of an empty log. InitialImage is what they say.    *)
(*  - The pieces of 10,000 records that Kafka cuts a large operation into. *)
(*  - A transaction that its own controller gives up, as the migration     *)
(*    from ZooKeeper could.                                                *)
(*  - A loader that publishes nothing until it has caught up for the first *)
(*    time, and one that gathers several commits before it publishes.      *)
(*  - Writes asked of a controller that is not active: refused at once.    *)
(*  - The metadata version, and what it allows.                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Controller,      \* The ids of the controllers.
  Broker,          \* The ids of the brokers, which only read.
  Request,         \* What clients ask of the controller, each once.
  InitialImage,    \* What an empty log stands for.
  Replay(_, _),    \* (image, record): the image with the record applied.
  Records(_, _),   \* (request, image): the records it asks for; << >>: nothing to write.
  Result(_, _),    \* (request, image): what it is answered.
  Nil              \* No request, no answer, no image.

ASSUME Constants ==
  /\ Controller # {} /\ IsFiniteSet(Controller)
  /\ IsFiniteSet(Broker) /\ Controller \cap Broker = {}
  /\ Nil \notin Request \cup Controller \cup Broker

Node == Controller \cup Broker

VARIABLES
  committed,      \* The committed log, a sequence of entries.
  uncommitted,    \* What the leader of the newest epoch wrote after it, and may be lost.
  leader_epoch,   \* [Controller -> epoch]: in which its Raft client leads.
  claim_epoch,    \* [Controller -> epoch]: in which it takes itself for active.
  committed_end,  \* [Node -> end]: of what Raft has handed over as committed.
  stable_end,     \* [Node -> end]: of what may be read.
  write_end,      \* [Node -> end]: of what is in memory.
  written,        \* [Node -> state]: the newest in memory.
  timeline,       \* [Node -> [end -> state]]: states in memory that can be gone back to.
  deferred,       \* [Controller -> parked answers]: each until its end is stable.
  answers,        \* [Request -> what was answered, or Nil].
  snapshot        \* [Node -> snapshot]: the newest on its disk.

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

(* How a request ends that the controller could not see through: its asker   *)
(* does not know whether it took effect.                                     *)
NotController == "NOT_CONTROLLER"
Disconnected == "DISCONNECTED"
Failed == {NotController, Disconnected}

(* The records that begin and end a transaction; all others are the image's. *)
BeginTransactionRecord == [type |-> "BeginTransaction"]
EndTransactionRecord == [type |-> "EndTransaction"]
AbortTransactionRecord == [type |-> "AbortTransaction"]

(* An entry of the log. The request of a batch is not written by Kafka; it   *)
(* is here for the properties, and no step reads it.                         *)
LeaderChange(epoch, c) == [epoch |-> epoch, kind |-> "LeaderChange", value |-> c]
Batch(epoch, request, records) ==
  [epoch |-> epoch, kind |-> "Data", value |-> [request |-> request, records |-> records]]
RecordsOf(entry) == IF entry.kind = "Data" THEN entry.value.records ELSE << >>
RequestOf(entry) == IF entry.kind = "Data" THEN entry.value.request ELSE Nil

(* A state in memory: an image, and the transaction it is in: where that     *)
(* began, and the image from before it.                                      *)
(* Kafka: OffsetControlManager; in the loader MetadataBatchLoader.           *)
Between(image) == [image |-> image, transaction_start |-> NoOffset, image_before |-> Nil]
InTransaction(state) == state.transaction_start # NoOffset

(* Of a state that holds all before `end`: what is not of a transaction that *)
(* is still open ends here.                                                  *)
(* Kafka: OffsetControlManager.maybeAdvanceLastStableOffset.                 *)
StableEnd(state, end) ==
  IF InTransaction(state) THEN Min(state.transaction_start, end) ELSE end
VisibleOf(state) == IF InTransaction(state) THEN state.image_before ELSE state.image
------------------------------------------------------------------------------
(* Replay                                                                    *)

(* What an aborted transaction leaves: nothing.                              *)
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

(* The state after the entries of a log between two ends.                    *)
RECURSIVE ReplayLog(_, _, _, _)
ReplayLog(state, log, from, end) ==
  IF from >= end THEN state
  ELSE ReplayLog(ReplayRecords(state, RecordsOf(log[from + 1]), from), log, from + 1, end)

(* A record that no state like this can take: the process that replays it    *)
(* dies. Kafka: OffsetControlManager.replay.                                 *)
CannotReplay(state, record) ==
  CASE record.type = "BeginTransaction" -> InTransaction(state)
    [] record.type \in {"EndTransaction", "AbortTransaction"} -> ~InTransaction(state)
    [] OTHER -> FALSE

(* What the committed log says up to an end.                                 *)
StateAt(end) == ReplayLog(Between(InitialImage), committed, 0, end)
CommittedImage == VisibleOf(StateAt(Len(committed)))
------------------------------------------------------------------------------
(* What the nodes ask of their own state                                     *)

(* The controller takes itself for active. Another may, too.                 *)
(* Kafka: QuorumController.isActiveController.                               *)
IsActive(c) == claim_epoch[c] # NoEpoch

(* The node has nothing but what is committed: a standby, or a broker.       *)
Follows(n) == IF n \in Broker THEN TRUE ELSE ~IsActive(n)

(* What anybody may read of a node: nothing that could still be lost, and no *)
(* half of a transaction.                                                    *)
(* Kafka: reads at the last stable offset; MetadataLoader.image.             *)
Visible(n) == timeline[n][stable_end[n]].image

(* The answers that c has parked, and those that are due once so much is     *)
(* stable. Kafka: DeferredEventQueue.completeUpTo.                           *)
Due(c, stable) == {parked \in deferred[c] : parked.end <= stable}

Waits(r) == \E c \in Controller : \E parked \in deferred[c] : parked.request = r
Asked(r) == answers[r] # Nil \/ Waits(r)

(* Answers given in this step: those of a set, with their own results, or    *)
(* with an error for all of them.                                            *)
AnswersWith(given) ==
  [r \in Request |->
     IF \E parked \in given : parked.request = r
     THEN (CHOOSE parked \in given : parked.request = r).result
     ELSE answers[r]]
Failing(parked, error) == {[p EXCEPT !.result = error] : p \in parked}

(* The epoch that began last. What was written before can commit no more.    *)
NewestEpoch == IF committed = << >> THEN 0 ELSE committed[Len(committed)].epoch

(* While Raft at c leads, it hands over nothing of a later leader; it would  *)
(* have to say first that it leads no longer. So with a controller that has  *)
(* not heard this yet.                                                       *)
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
(* its epoch is committed. With it is committed what its log had of the    *)
(* earlier leader's; the rest of that can never commit.                    *)
(*                                                                         *)
(* Others may not know yet, the old leader among them. Epochs may have     *)
(* passed whose first record commits only now: their leaders never heard   *)
(* of that, and wrote nothing.                                             *)
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
(* A controller's Raft client learns that it leads no longer, or gives up  *)
(* to lead. The controller has yet to hear of it; what it appends          *)
(* meanwhile Raft refuses.                                                 *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToFollower, transitionToResigned.          *)
(***************************************************************************)
LoseLeadership(c) ==
  /\ leader_epoch[c] # NoEpoch
  /\ leader_epoch' = [leader_epoch EXCEPT ![c] = NoEpoch]
  /\ UNCHANGED <<committed, uncommitted, claim_epoch, offset_vars, image_vars, reply_vars,
                 snapshot>>

(***************************************************************************)
(* A majority has the next batches.                                        *)
(*                                                                         *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                            *)
(***************************************************************************)
Commit(count) ==
  /\ count \in 1 .. Len(uncommitted)
  /\ committed' = committed \o SubSeq(uncommitted, 1, count)
  /\ uncommitted' = SubSeq(uncommitted, count + 1, Len(uncommitted))
  /\ UNCHANGED <<leader_epoch, claim_epoch, offset_vars, image_vars, reply_vars, snapshot>>

(***************************************************************************)
(* Nobody has the last batches any more: their writer leads no longer, and *)
(* gave them up. (An election loses them just the same.)                   *)
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
(* state, and parks the answer. Whether the batch has any future is not    *)
(* for it to know: if a later epoch has begun, it has none.                *)
(*                                                                         *)
(* Raft takes the batch only in the epoch in which the controller claimed  *)
(* to be active (!): in a later one of the same replica the log has moved  *)
(* on, and the batch was made for another state.                           *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run,                       *)
(* RaftClient.schedulePreparedAppend.                                      *)
(***************************************************************************)
MayAppend(c, epoch) == leader_epoch[c] = epoch                                    \* (!)

(* What that is in c's memory. *)
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

(* Raft has handed over all up to the record that begins c's epoch, and has  *)
(* told c that it leads.                                                     *)
ToldToLead(c) ==
  /\ ~IsActive(c)
  /\ leader_epoch[c] # NoEpoch
  /\ committed_end[c] > 0
  /\ committed[committed_end[c]] = LeaderChange(leader_epoch[c], c)

(***************************************************************************)
(* A standby becomes the active controller. All that was committed before  *)
(* its epoch it has replayed.                                              *)
(*                                                                         *)
(* Kafka: QuorumController.claim.                                          *)
(***************************************************************************)
Claim(c) ==
  /\ ToldToLead(c)
  /\ ~InTransaction(written[c])
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = leader_epoch[c]]
  /\ UNCHANGED <<log_vars, offset_vars, image_vars, reply_vars, snapshot>>

(***************************************************************************)
(* The same, when the log ends in a transaction: whoever opened it is not  *)
(* there to end it. It is aborted before anything else is written.         *)
(*                                                                         *)
(* Kafka: QuorumController.CompleteActivationEvent,                        *)
(* ActivationRecordsGenerator.recordsForNonEmptyLog.                       *)
(***************************************************************************)
ClaimWithOpenTransaction(c) ==
  /\ ToldToLead(c)
  /\ InTransaction(written[c])
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = leader_epoch[c]]
  /\ AppendBatch(c, leader_epoch[c], Nil, <<AbortTransactionRecord>>, Nil)

(* The state that a controller goes back to: the last that is committed. If  *)
(* that is in a transaction, it stays there; the records that close it are   *)
(* still to come.                                                            *)
AfterRenounce(c) == timeline[c][committed_end[c]]

(* Controller c forgets its future, and fails whoever waits, and those of a  *)
(* set besides.                                                              *)
Forget(c, others) ==
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = NoEpoch]
  /\ write_end' = [write_end EXCEPT ![c] = committed_end[c]]
  /\ written' = [written EXCEPT ![c] = AfterRenounce(c)]
  /\ timeline' = [timeline EXCEPT ![c] = (stable_end[c] :> @[stable_end[c]])]
  /\ deferred' = [deferred EXCEPT ![c] = {}]
  /\ answers' = AnswersWith(Failing(deferred[c] \cup others, NotController))
  /\ UNCHANGED <<committed_end, stable_end, snapshot>>

(* If its Raft client still leads in the same epoch, it is made to resign.   *)
GiveUp(c, others) ==
  /\ leader_epoch' =
       [leader_epoch EXCEPT ![c] = IF @ = claim_epoch[c] THEN NoEpoch ELSE @]
  /\ Forget(c, others)
  /\ UNCHANGED <<committed, uncommitted>>

(***************************************************************************)
(* The active controller steps back: it has heard of another leader, or    *)
(* something went wrong, and then it makes Raft resign, too. Its future    *)
(* state is thrown away.                                                   *)
(*                                                                         *)
(* A request that is failed here may yet take effect: its batch may be on  *)
(* a replica that is elected next.                                         *)
(*                                                                         *)
(* Kafka: QuorumController.renounce.                                       *)
(***************************************************************************)
Renounce(c) ==
  /\ IsActive(c)
  /\ GiveUp(c, {})

(***************************************************************************)
(* Raft refuses what a controller would append, because it does not lead   *)
(* in that epoch any more. So the controller hears that it is deposed.     *)
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
(* A request that changes something, checked against the newest state.     *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run.                       *)
(***************************************************************************)
HandleWrite(c, request) ==
  LET image == written[c].image IN
  /\ IsActive(c)
  /\ ~Asked(request)
  /\ Records(request, image) # << >>
  /\ Write(c, request, Records(request, image), Result(request, image))

(* All in c's memory may be read.                                            *)
AllStable(c) == stable_end[c] = write_end[c]

(***************************************************************************)
(* A request that changes nothing, or is refused, is answered at once if   *)
(* the newest state is stable.                                             *)
(*                                                                         *)
(* Nothing is appended, so nobody checks that the controller still leads:  *)
(* a deposed one may answer from a state that is long past.                *)
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
(* Otherwise the answer may rest on what could be lost, and waits with the *)
(* last batch that could.                                                  *)
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
(* The active controller begins an operation of many batches, which nobody *)
(* may see before it ends. What it writes until then belongs to it.        *)
(*                                                                         *)
(* Kafka: BeginTransactionRecord, OffsetControlManager.replay.             *)
(***************************************************************************)
BeginTransaction(c) ==
  /\ ~InTransaction(written[c])
  /\ Write(c, Nil, <<BeginTransactionRecord>>, Nil)

(***************************************************************************)
(* ... and ends it.  Kafka: EndTransactionRecord.                          *)
(***************************************************************************)
EndTransaction(c) ==
  /\ InTransaction(written[c])
  /\ Write(c, Nil, <<EndTransactionRecord>>, Nil)

(* The state at a committed end, by which the active controller judges what  *)
(* is stable. Its newest state may have left a transaction that the          *)
(* committed log is still in.                                                *)
CommittedState(c, end) == timeline[c][end]

(* All before `end` is committed: c moves what is stable, and answers.       *)
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
(* replayed them already: only what is stable moves, and with it whoever   *)
(* waits for that.                                                         *)
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

(* Node n is left with one state, which holds all before `end`.              *)
Hold(n, state, end) ==
  LET stable == Max(stable_end[n], StableEnd(state, end)) IN
  /\ committed_end' = [committed_end EXCEPT ![n] = end]
  /\ write_end' = [write_end EXCEPT ![n] = end]
  /\ stable_end' = [stable_end EXCEPT ![n] = stable]
  /\ written' = [written EXCEPT ![n] = state]
  /\ timeline' = [timeline EXCEPT ![n] =
       (stable :> IF stable = stable_end[n] THEN timeline[n][stable]
                  ELSE Between(VisibleOf(state)))]

(* What a node makes of the committed batches from its own end to another.   *)
ReplayedState(n, end) == ReplayLog(written[n], committed, committed_end[n], end)

(***************************************************************************)
(* A standby or a broker replays batches that are committed. What belongs  *)
(* to a transaction it keeps to itself until that has ended.               *)
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
(* A node writes what may be read of it to its disk.                       *)
(*                                                                         *)
(* Kafka: SnapshotGenerator, which works on the loader's image.            *)
(***************************************************************************)
CreateSnapshot(n) ==
  /\ snapshot[n].end < stable_end[n]
  /\ snapshot' = [snapshot EXCEPT ![n] = [end |-> stable_end[n], image |-> Visible(n)]]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, reply_vars>>

(* Node n begins anew with a snapshot, and nothing else.                     *)
StartFrom(n, from) ==
  /\ committed_end' = [committed_end EXCEPT ![n] = from.end]
  /\ stable_end' = [stable_end EXCEPT ![n] = from.end]
  /\ write_end' = [write_end EXCEPT ![n] = from.end]
  /\ written' = [written EXCEPT ![n] = Between(from.image)]
  /\ timeline' = [timeline EXCEPT ![n] = (from.end :> Between(from.image))]

(***************************************************************************)
(* A node that lags takes the snapshot of another and drops what it has.   *)
(* An active controller never does, nor one whose Raft client leads.       *)
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
(* A process ends and starts again, with what is on its disk. Its log is   *)
(* on disk, too, but not how much of it is committed.                      *)
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
(* What Next tries. A model may put less in their place.                     *)
SomeEpochs == {NewestEpoch + 1, NewestEpoch + 2}   \* One may pass without a record.
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
