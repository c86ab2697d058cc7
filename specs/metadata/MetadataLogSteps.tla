--------------------------- MODULE MetadataLogSteps ---------------------------
(***************************************************************************)
(* The steps of MetadataLog as the controllers and brokers of a whole      *)
(* cluster take them: those of MetadataLog, and here what that leaves out  *)
(* because it can be said with fewer steps. The first records of an empty  *)
(* log, what a controller writes unasked, what is asked of a standby, a    *)
(* read, a snapshot that is on the disk before it is in memory. No         *)
(* variable is added, and nothing of MetadataLog changes.                  *)
(*                                                                         *)
(* Who judges an implementation step by step needs each of its steps as    *)
(* one action with parameters; docs/internals/cluster-fuzzing.md has the   *)
(* table.                                                                  *)
(*                                                                         *)
(* It also says what MetadataLog leaves open, for a log of which it is     *)
(* known what each batch makes of the image.                               *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Which snapshot a disk has when a process starts: any that could have *)
(*    been written. KRaftSteps says what a disk keeps.                     *)
(*  - How an operation comes to its records and its answer: a request      *)
(*    brings them along.                                                   *)
(*  - Kafka's queue of events: here a controller claims what its Raft      *)
(*    client still leads, and no answer overtakes news of a commit.        *)
(*  - What MetadataLog leaves out; so a controller that is elected again   *)
(*    without hearing of another leader renounces and claims anew.         *)
(***************************************************************************)
EXTENDS MetadataLog

------------------------------------------------------------------------------
(* In place of what MetadataLog leaves open                                  *)

(* Images are numbers, and equal images are one number. A record is what one *)
(* batch, or the part of it between two markers, makes of an image. Of any   *)
(* other image it makes what nothing else is.                                *)
NoImage == -1
ChangeRecord(from, to) == [type |-> "Change", from |-> from, to |-> to]
ReplayChange(image, record) == IF image = record.from THEN record.to ELSE NoImage

(* A request brings along what it comes to: how is no matter of this spec.   *)
RecordsOfAsked(request, image) == request.records
ResultOfAsked(request, image) == request.result

(* Request is here what has been asked so far, and grows.                    *)
AnswersOfAsked(given) ==
  [r \in DOMAIN answers |->
     IF \E parked \in given : parked.request = r
     THEN (CHOOSE parked \in given : parked.request = r).result
     ELSE answers[r]]

(* ReplayLog by halves: a node that comes late replays hundreds of batches   *)
(* in one step. The comparison has TLC know the first half before it begins  *)
(* the second.                                                               *)
RECURSIVE ReplayLogByHalves(_, _, _, _)
ReplayLogByHalves(state, log, from, end) ==
  IF from >= end THEN state
  ELSE IF end = from + 1 THEN ReplayRecords(state, RecordsOf(log[end]), from)
  ELSE LET middle == (from + end) \div 2
           half == ReplayLogByHalves(state, log, from, middle)
       IN  IF half = Nil THEN half ELSE ReplayLogByHalves(half, log, middle, end)

(***************************************************************************)
(* Somebody asks what was never asked before. Who was answered is          *)
(* forgotten: nothing but the next answer to the same request would look   *)
(* at that, and no request is asked twice.                                 *)
(***************************************************************************)
Ask(request) ==
  /\ request \notin DOMAIN answers
  /\ answers' = [r \in {r \in DOMAIN answers : answers[r] = Nil} \cup {request} |-> Nil]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, deferred, snapshot>>
------------------------------------------------------------------------------
(* The active controller                                                     *)

(* Nothing is in c's memory yet. *)
LogIsEmpty(c) == written[c] = Between(InitialImage)

(***************************************************************************)
(* The first controller of all becomes active, and writes what the cluster *)
(* was formatted with before anything else.                                *)
(*                                                                         *)
(* Kafka: QuorumController.CompleteActivationEvent,                        *)
(* ActivationRecordsGenerator.recordsForEmptyLog.                          *)
(***************************************************************************)
ClaimEmptyLog(c, records) ==
  /\ ToldToLead(c)
  /\ LogIsEmpty(c)
  /\ records # << >>
  /\ claim_epoch' = [claim_epoch EXCEPT ![c] = leader_epoch[c]]
  /\ AppendBatch(c, leader_epoch[c], Nil, records, Nil)
  /\ ~InTransaction(written'[c])

(* Any later one has nothing to add, unless a transaction is open.           *)
ClaimWrittenLog(c) ==
  /\ ~LogIsEmpty(c)
  /\ Claim(c)

(***************************************************************************)
(* The active controller writes something that nobody asked for: it fences *)
(* a broker, or gives a partition to its preferred leader. Raft may refuse *)
(* that; then it renounces.                                                *)
(*                                                                         *)
(* Kafka: PeriodicTaskControlManager.                                      *)
(***************************************************************************)
RunTask(c, records) ==
  /\ records # << >>
  /\ Write(c, Nil, records, Nil)

(***************************************************************************)
(* Who is not active takes no writes.                                      *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run.                       *)
(***************************************************************************)
RefuseRequest(c, request) ==
  /\ ~IsActive(c)
  /\ ~Asked(request)
  /\ answers' = [answers EXCEPT ![request] = NotController]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, deferred, snapshot>>

(***************************************************************************)
(* Whoever asks a controller what there is, is told of what may be read of *)
(* it, be it active or not.                                                *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerReadEvent.run.                        *)
(***************************************************************************)
AnswerRead(c, image) ==
  /\ Visible(c) = image
  /\ UNCHANGED vars
------------------------------------------------------------------------------
(* Snapshots, and processes that start                                       *)

(* A snapshot that somebody could have written, of all before an end.        *)
IsStableEnd(end) == end \in 0 .. Len(committed) /\ ~InTransaction(StateAt(end))
SnapshotAt(end) == [end |-> end, image |-> StateAt(end).image]

(***************************************************************************)
(* As LoadSnapshot, but whoever wrote the snapshot has a newer one by now. *)
(***************************************************************************)
LoadOlderSnapshot(n, end) ==
  /\ committed_end[n] < end
  /\ IsStableEnd(end)
  /\ BelievedEpoch(n) = NoEpoch
  /\ StartFrom(n, SnapshotAt(end))
  /\ snapshot' = [snapshot EXCEPT ![n] = SnapshotAt(end)]
  /\ UNCHANGED <<log_vars, claim_epoch, reply_vars>>

(***************************************************************************)
(* As Restart, but nothing is in memory at first, whatever is on the disk: *)
(* Raft hands over the snapshot when it knows how much is committed. That  *)
(* is LoadSnapshot(n, n). The newest snapshot may be one that a fetch had  *)
(* just brought when the process ended; or not yet be the one that it was  *)
(* about to write.                                                         *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.updateListenersProgress.                         *)
(***************************************************************************)
StartAnew(n, end) ==
  /\ IsStableEnd(end)
  /\ snapshot' = [snapshot EXCEPT ![n] = SnapshotAt(end)]
  /\ StartFrom(n, SnapshotAt(0))
  /\ IF n \in Broker THEN UNCHANGED <<claim_epoch, reply_vars>>
     ELSE /\ claim_epoch' = [claim_epoch EXCEPT ![n] = NoEpoch]
          /\ deferred' = [deferred EXCEPT ![n] = {}]
          /\ answers' = AnswersWith(Failing(deferred[n], Disconnected))
  /\ leader_epoch' = [c \in Controller |-> IF c = n THEN NoEpoch ELSE leader_epoch[c]]
  /\ UNCHANGED <<committed, uncommitted>>
------------------------------------------------------------------------------
(* What StepsNext tries. A model puts something in their place.              *)
SomeFirstRecords == {}
SomeTasks == {}
SomeSnapshotEnds == 0 .. Len(committed)

(* Ask and AnswerRead are left out: they change nothing but what is known of *)
(* who asks, and nothing at all.                                             *)
StepsNext ==
  \/ Next
  \/ \E c \in Controller, records \in SomeFirstRecords : ClaimEmptyLog(c, records)
  \/ \E c \in Controller : ClaimWrittenLog(c)
  \/ \E c \in Controller, records \in SomeTasks : RunTask(c, records)
  \/ \E c \in Controller, request \in Request : RefuseRequest(c, request)
  \/ \E n \in Node, end \in SomeSnapshotEnds : LoadOlderSnapshot(n, end)
  \/ \E n \in Node, end \in SomeSnapshotEnds : StartAnew(n, end)
------------------------------------------------------------------------------
(* What is to be seen of one node, and what some were told                   *)
ViewOf(n) ==
  [claim_epoch |-> IF n \in Controller THEN claim_epoch[n] ELSE NoEpoch,
   leader_epoch |-> IF n \in Controller THEN leader_epoch[n] ELSE NoEpoch,
   committed_end |-> committed_end[n],
   stable_end |-> stable_end[n],
   write_end |-> write_end[n],
   written |-> written[n],
   timeline |-> timeline[n],
   deferred |-> IF n \notin Controller THEN {}
                ELSE {<<p.request.id, p.end, p.result>> : p \in deferred[n]},
   snapshot |-> snapshot[n]]
ToldTo(requests) == {<<r.id, answers[r]>> : r \in requests}
==============================================================================
