------------------------- MODULE MetadataLogOverKRaft -------------------------
(***************************************************************************)
(* The controllers of MetadataLog over KRaft itself, in place of           *)
(* MetadataLog's assumptions about Raft. A controller is a replica, the    *)
(* log it appends to is that replica's log, and it is handed what that     *)
(* replica knows to be committed.                                          *)
(*                                                                         *)
(* The controllers are those of MetadataLog, definition by definition: the *)
(* changes of their own memory are taken from there. Only what they ask of *)
(* Raft, and how Raft reacts, is defined here. The theorem at the end says *)
(* that this is still MetadataLog: everything shown there, over a log that *)
(* simply grows, holds over KRaft.                                         *)
(*                                                                         *)
(* A value of KRaft's log is a batch.                                      *)
(*                                                                         *)
(* Kafka's handler -> actions here (KRaft has the table of Raft's steps)   *)
(*   ListenerContext.maybeFireLeaderChange -> TellLeader,                  *)
(*     TellLeaderInTransaction, HearOfOtherLeader                          *)
(*   ActivationRecordsGenerator.recordsForNonEmptyLog ->                   *)
(*     TellLeaderInTransaction                                             *)
(*   QuorumController.ControllerWriteEvent.run -> AppendBatch,             *)
(*     RefuseBatch, AnswerUnchanged                                        *)
(*   RaftClient.prepareAppend, schedulePreparedAppend -> AppendBatch,      *)
(*     AppendMarker, RefuseBatch                                           *)
(*   QuorumController.renounce -> HearOfOtherLeader, GiveUp                *)
(*   ListenerContext.fireHandleCommit -> HandOver                          *)
(*   the end and the start of a process -> RestartProcess                  *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Brokers. To Raft they are observers; to this layer they are standbys *)
(*    that never lead.                                                     *)
(*  - Snapshots. Controllers restart from the beginning of the log.        *)
(*  - More than one epoch that passes before a first record commits:       *)
(*    MetadataLog's Next tries no more.                                    *)
(*  - A machine that loses what it had not flushed (CrashLosingTail).      *)
(***************************************************************************)
EXTENDS KRaft

CONSTANTS
  Request, InitialImage, Replay(_, _), Result(_, _),
  RecordsAskedFor(_, _)   \* MetadataLog's Records; in this module Records is a piece of a log.

VARIABLES
  claim_epoch,    \* As in MetadataLog, and so are the variables below.
  committed_end,  \* [Replica -> end]: the end of what Raft has handed over as committed.
  stable_end,     \* [Replica -> end]: the end of what may be read.
  write_end,      \* [Replica -> end]: the end of what is in memory.
  written,        \* [Replica -> state]: the newest state in memory.
  timeline,       \* [Replica -> [end -> state]]: states that the replica can revert to.
  deferred,       \* [Replica -> deferred answers]: each waits until its end is stable.
  answers,        \* [Request -> its answer, or Nil].
  snapshot        \* [Replica -> snapshot]: always the empty one.

memory_vars == <<claim_epoch, committed_end, stable_end, write_end, written, timeline,
                 deferred, answers, snapshot>>
over_vars == <<vars, memory_vars>>
------------------------------------------------------------------------------
(* MetadataLog's view of Raft, defined on KRaft's state                      *)

LastEpochOf(entries) == IF entries = << >> THEN 0 ELSE entries[Len(entries)].epoch

(* The entries that a replica holds after the committed log and that belong  *)
(* to the last committed epoch. Only these can commit before the next epoch  *)
(* begins.                                                                   *)
InDoubt(r) ==
  LET entries == History(r)
      length == Len(committed)
      same == {end \in length .. Len(entries) :
                 \A k \in length + 1 .. end : entries[k].epoch = LastEpochOf(committed)}
  IN
  IF committed = << >> \/ Len(entries) <= length THEN << >>
  ELSE IF entries[length] # committed[length] THEN << >>
  ELSE SubSeq(entries, length + 1, CHOOSE end \in same : \A e \in same : e <= end)

Longest(sequences) == CHOOSE s \in sequences : \A t \in sequences : Len(t) <= Len(s)

(* For its listener, a replica leads once it knows that the first record of  *)
(* its epoch is committed.                                                   *)
LeadsIn(r) ==
  IF role[r] = "Leader" THEN IF high_watermark[r] > EpochStart(r) THEN epoch[r] ELSE -1
  ELSE -1

Metadata == INSTANCE MetadataLog WITH
  Controller <- Replica,
  Broker <- {},
  Records <- RecordsAskedFor,
  uncommitted <- Longest({InDoubt(r) : r \in Replica}),
  leader_epoch <- [r \in Replica |-> LeadsIn(r)]
------------------------------------------------------------------------------
(* Steps of a controller, and Raft's reaction                                *)

(* Raft leads in the epoch that the controller has claimed.                  *)
StillLeads(r) == role[r] = "Leader" /\ epoch[r] = claim_epoch[r]

BatchOf(request, records) == [request |-> request, records |-> records]

(***************************************************************************)
(* Raft tells its listener that it leads, once it has handed over all      *)
(* records up to and including the first record of the epoch.              *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.ListenerContext.maybeFireLeaderChange.           *)
(***************************************************************************)
TellLeader(r) ==
  /\ role[r] = "Leader"
  /\ claim_epoch[r] = -1
  /\ committed_end[r] > EpochStart(r)
  /\ ~Metadata!InTransaction(written[r])
  /\ claim_epoch' = [claim_epoch EXCEPT ![r] = epoch[r]]
  /\ UNCHANGED <<vars, committed_end, stable_end, write_end, written, timeline, deferred,
                 answers, snapshot>>

TellLeaderInTransaction(r) ==
  /\ role[r] = "Leader"
  /\ claim_epoch[r] = -1
  /\ committed_end[r] > EpochStart(r)
  /\ Metadata!InTransaction(written[r])
  /\ AppendRecord(r, BatchOf(Nil, <<Metadata!AbortTransactionRecord>>))
  /\ claim_epoch' = [claim_epoch EXCEPT ![r] = epoch[r]]
  /\ Metadata!Remember(r, Nil, <<Metadata!AbortTransactionRecord>>, Nil)

(***************************************************************************)
(* The active controller appends the records that a request asks for.      *)
(*                                                                         *)
(* Kafka: RaftClient.prepareAppend, schedulePreparedAppend.                *)
(***************************************************************************)
AppendBatch(r, request) ==
  LET records == RecordsAskedFor(request, written[r].image) IN
  /\ claim_epoch[r] # -1
  /\ StillLeads(r)
  /\ ~Metadata!Asked(request)
  /\ records # << >>
  /\ AppendRecord(r, BatchOf(request, records))
  /\ Metadata!Remember(r, request, records, Result(request, written[r].image))
  /\ UNCHANGED claim_epoch

(* The active controller begins or ends a transaction. *)
AppendMarker(r) ==
  LET records == IF Metadata!InTransaction(written[r])
                 THEN <<Metadata!EndTransactionRecord>>
                 ELSE <<Metadata!BeginTransactionRecord>>
  IN
  /\ claim_epoch[r] # -1
  /\ StillLeads(r)
  /\ AppendRecord(r, BatchOf(Nil, records))
  /\ Metadata!Remember(r, Nil, records, Nil)
  /\ UNCHANGED claim_epoch

(***************************************************************************)
(* Raft refuses an append: it does not lead, or leads in another epoch.    *)
(***************************************************************************)
RefuseBatch(r, request) ==
  /\ claim_epoch[r] # -1
  /\ ~StillLeads(r)
  /\ ~Metadata!Asked(request)
  /\ RecordsAskedFor(request, written[r].image) # << >>
  /\ Metadata!Forget(r,
       {[request |-> request, end |-> 0, result |-> Metadata!NotController]})
  /\ UNCHANGED vars

(***************************************************************************)
(* A request that writes nothing is answered, or waits. Raft takes no      *)
(* part.                                                                   *)
(***************************************************************************)
AnswerUnchanged(r, request) ==
  /\ UNCHANGED vars
  /\ Metadata!AnswerUnchanged(r, request) \/ Metadata!DelayUnchanged(r, request)

(***************************************************************************)
(* A controller that has heard of another leader resigns its claim. A      *)
(* controller that gives up by itself makes Raft resign.                   *)
(***************************************************************************)
HearOfOtherLeader(r) ==
  /\ claim_epoch[r] # -1
  /\ ~StillLeads(r)
  /\ Metadata!Forget(r, {})
  /\ UNCHANGED vars
GiveUp(r) ==
  /\ claim_epoch[r] # -1
  /\ StillLeads(r)
  /\ Resign(r)
  /\ Metadata!Forget(r, {})

(***************************************************************************)
(* Raft hands over what its replica knows to be committed. An active       *)
(* controller gets nothing of a later epoch: before that it is told that   *)
(* it no longer leads.                                                     *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.ListenerContext.fireHandleCommit.                *)
(***************************************************************************)
HandOver(r, end) ==
  /\ committed_end[r] < end
  /\ end <= high_watermark[r]
  /\ UNCHANGED vars
  /\ IF claim_epoch[r] # -1
     THEN /\ \A k \in committed_end[r] + 1 .. end :
               History(r)[k].epoch <= claim_epoch[r]
          /\ Metadata!MoveStable(r, end)
          /\ UNCHANGED <<claim_epoch, write_end, written, snapshot>>
     ELSE /\ LET state == Metadata!ReplayLog(written[r], History(r), committed_end[r], end)
             IN  Metadata!Hold(r, state, end)
          /\ UNCHANGED <<claim_epoch, deferred, answers, snapshot>>

(***************************************************************************)
(* A process ends and starts again.                                        *)
(***************************************************************************)
RestartProcess(r) ==
  /\ Restart(r)
  /\ Metadata!BeginAnew(r)

(* Raft's own steps. They do not affect its listener; only the steps above   *)
(* do so at once.                                                            *)
RaftNext ==
  \/ ElectionNext
  \/ EpochNext
  \/ FetchNext
  \/ \E r \in Replica : Flush(r)
  \/ \E r, other \in Replica : RequestTimeout(r, other)
  \/ \E m \in InFlight(messages) : DuplicateMessage(m)
RaftSteps == RaftNext /\ UNCHANGED memory_vars
------------------------------------------------------------------------------
EmptyMemory ==
  /\ claim_epoch = [r \in Replica |-> -1]
  /\ committed_end = [r \in Replica |-> 0]
  /\ stable_end = [r \in Replica |-> 0]
  /\ write_end = [r \in Replica |-> 0]
  /\ written = [r \in Replica |-> Metadata!Between(InitialImage)]
  /\ timeline = [r \in Replica |-> (0 :> Metadata!Between(InitialImage))]
  /\ deferred = [r \in Replica |-> {}]
  /\ answers = [request \in Request |-> Nil]
  /\ snapshot = [r \in Replica |-> [end |-> 0, image |-> InitialImage]]

OverInit == Init /\ EmptyMemory

OverNext ==
  \/ RaftSteps
  \/ \E r \in Replica : TellLeader(r)
  \/ \E r \in Replica : TellLeaderInTransaction(r)
  \/ \E r \in Replica, request \in Request : AppendBatch(r, request)
  \/ \E r \in Replica : AppendMarker(r)
  \/ \E r \in Replica, request \in Request : RefuseBatch(r, request)
  \/ \E r \in Replica, request \in Request : AnswerUnchanged(r, request)
  \/ \E r \in Replica : HearOfOtherLeader(r)
  \/ \E r \in Replica : GiveUp(r)
  \/ \E r \in Replica : \E end \in 1 .. LogEnd(r) : HandOver(r, end)
  \/ \E r \in Replica : RestartProcess(r)

OverSpec == OverInit /\ [][OverNext]_over_vars
------------------------------------------------------------------------------
(* Every behaviour over KRaft is a behaviour of MetadataLog: its log, its    *)
(* tail and its leaders are expressions of KRaft's state; all other          *)
(* variables are the same.                                                   *)
RefinesMetadataLogProp == [][Metadata!Next]_(Metadata!vars)

(* At most one epoch passes before the first record of a later one commits.  *)
OneEpochPasses ==
  [][LastEpochOf(committed') <= LastEpochOf(committed) + 2]_committed

(* Most models begin with a settled leader and check the steps alone. One    *)
(* model begins where KRaft does.                                            *)
RefinesMetadataLogFromStartProp == Metadata!Init /\ RefinesMetadataLogProp

THEOREM (OverSpec /\ OneEpochPasses) => Metadata!Spec
==============================================================================
