--------------------------- MODULE MetadataLogSteps ---------------------------
(***************************************************************************)
(* The steps of MetadataLog as the controllers and brokers of a whole      *)
(* cluster take them: those of MetadataLog, and the steps that it leaves   *)
(* out because fewer steps say the same. These are the first records of an *)
(* empty log, writes that no client asked for, requests to a standby,      *)
(* reads, and a snapshot that is on disk before it is in memory. This      *)
(* module adds no variable and changes nothing in MetadataLog.             *)
(*                                                                         *)
(* To judge an implementation step by step, each of its steps must be one  *)
(* action with parameters; docs/internals/stack-fuzzing.md has the       *)
(* table.                                                                  *)
(*                                                                         *)
(* The module also defines the operators that MetadataLog leaves open, for *)
(* a log of which each batch's effect on the image is known.               *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*   QuorumController.CompleteActivationEvent -> ClaimEmptyLog,            *)
(*     ClaimWrittenLog, ClaimWithOpenTransaction                           *)
(*   ActivationRecordsGenerator.recordsForEmptyLog -> ClaimEmptyLog        *)
(*   PeriodicTaskControlManager -> RunTask                                 *)
(*   QuorumController.ControllerWriteEvent.run, on a standby ->            *)
(*     RefuseRequest                                                       *)
(*   QuorumController.ControllerReadEvent.run -> AnswerRead                *)
(*   MetadataLoader.handleLoadSnapshot of an older snapshot ->             *)
(*     LoadOlderSnapshot                                                   *)
(*   KafkaRaftClient.updateListenersProgress -> StartAnew, then            *)
(*     LoadSnapshot(n, n)                                                  *)
(*   a client's new request -> Ask                                         *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Which snapshot a disk has when a process starts: any snapshot that   *)
(*    could have been written. KRaftSteps says what a disk keeps.          *)
(*  - How an operation computes its records and its answer: the request    *)
(*    carries them.                                                        *)
(*  - Kafka's event queue: here a controller claims only if its Raft       *)
(*    client still leads, and no answer overtakes news of a commit.        *)
(*  - What MetadataLog leaves out; so a controller that is elected again   *)
(*    without hearing of another leader resigns its claim and claims       *)
(*    again.                                                               *)
(***************************************************************************)
EXTENDS MetadataLog

------------------------------------------------------------------------------
(* Definitions of what MetadataLog leaves open                               *)

(* Images are numbers, and equal images are one number. A record is the      *)
(* effect of one batch, or of the part of it between two markers, on one     *)
(* image. Applied to any other image, it gives NoImage, which equals no      *)
(* image.                                                                    *)
NoImage == -1
ChangeRecord(from, to) == [type |-> "Change", from |-> from, to |-> to]
ReplayChange(image, record) == IF image = record.from THEN record.to ELSE NoImage

(* A request carries its records and its result; how they are computed does  *)
(* not matter to this spec.                                                  *)
RecordsOfAsked(request, image) == request.records
ResultOfAsked(request, image) == request.result

(* Request is here the set of requests so far, and it grows.                 *)
AnswersOfAsked(given) ==
  [r \in DOMAIN answers |->
     IF \E parked \in given : parked.request = r
     THEN (CHOOSE parked \in given : parked.request = r).result
     ELSE answers[r]]

(* ReplayLog by halves: a node that is late replays hundreds of batches in   *)
(* one step. The comparison with Nil makes TLC evaluate the first half       *)
(* before the second.                                                        *)
RECURSIVE ReplayLogByHalves(_, _, _, _)
ReplayLogByHalves(state, log, from, end) ==
  IF from >= end THEN state
  ELSE IF end = from + 1 THEN ReplayRecords(state, RecordsOf(log[end]), from)
  ELSE LET middle == (from + end) \div 2
           half == ReplayLogByHalves(state, log, from, middle)
       IN  IF half = Nil THEN half ELSE ReplayLogByHalves(half, log, middle, end)

(***************************************************************************)
(* A client sends a new request. Requests that were answered are           *)
(* forgotten: only another answer to the same request would need them, and *)
(* no request is sent twice.                                               *)
(***************************************************************************)
Ask(request) ==
  /\ request \notin DOMAIN answers
  /\ answers' = [r \in {r \in DOMAIN answers : answers[r] = Nil} \cup {request} |-> Nil]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, deferred, snapshot>>
------------------------------------------------------------------------------
(* The active controller                                                     *)

(* c has nothing in memory yet. *)
LogIsEmpty(c) == written[c] = Between(InitialImage)

(***************************************************************************)
(* The first controller of all becomes active. Before anything else it     *)
(* writes the records that the cluster was formatted with.                 *)
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

(* Any later controller has nothing to add, unless a transaction is open.    *)
ClaimWrittenLog(c) ==
  /\ ~LogIsEmpty(c)
  /\ Claim(c)

(***************************************************************************)
(* The active controller writes records that no client asked for: it       *)
(* fences a broker, or gives a partition to its preferred leader. Raft may *)
(* refuse them; then the controller resigns its claim.                     *)
(*                                                                         *)
(* Kafka: PeriodicTaskControlManager.                                      *)
(***************************************************************************)
RunTask(c, records) ==
  /\ records # << >>
  /\ Write(c, Nil, records, Nil)

(***************************************************************************)
(* A controller that is not active takes no writes.                        *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerWriteEvent.run.                       *)
(***************************************************************************)
RefuseRequest(c, request) ==
  /\ ~IsActive(c)
  /\ ~Asked(request)
  /\ answers' = [answers EXCEPT ![request] = NotController]
  /\ UNCHANGED <<log_vars, claim_epoch, offset_vars, image_vars, deferred, snapshot>>

(***************************************************************************)
(* A read of a controller, active or not, is answered from its stable      *)
(* state.                                                                  *)
(*                                                                         *)
(* Kafka: QuorumController.ControllerReadEvent.run.                        *)
(***************************************************************************)
AnswerRead(c, image) ==
  /\ Visible(c) = image
  /\ UNCHANGED vars
------------------------------------------------------------------------------
(* Snapshots, and processes that start                                       *)

(* A snapshot that a node could have written, of everything before an end.   *)
IsStableEnd(end) == end \in 0 .. Len(committed) /\ ~InTransaction(StateAt(end))
SnapshotAt(end) == [end |-> end, image |-> StateAt(end).image]

(***************************************************************************)
(* As LoadSnapshot, but the node that wrote the snapshot has a newer one   *)
(* by now.                                                                 *)
(***************************************************************************)
LoadOlderSnapshot(n, end) ==
  /\ committed_end[n] < end
  /\ IsStableEnd(end)
  /\ BelievedEpoch(n) = NoEpoch
  /\ StartFrom(n, SnapshotAt(end))
  /\ snapshot' = [snapshot EXCEPT ![n] = SnapshotAt(end)]
  /\ UNCHANGED <<log_vars, claim_epoch, reply_vars>>

(***************************************************************************)
(* As Restart, but at first nothing is in memory, whatever is on the disk: *)
(* Raft hands over the snapshot once it knows how much is committed. That  *)
(* step is LoadSnapshot(n, n). The newest snapshot may be one that a fetch *)
(* had just brought when the process ended; or it may not yet be the one   *)
(* that the process was about to write.                                    *)
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
(* What StepsNext tries. A model replaces these.                             *)
SomeFirstRecords == {}
SomeTasks == {}
SomeSnapshotEnds == 0 .. Len(committed)

(* Ask and AnswerRead are left out: Ask changes only the set of known        *)
(* requests, and AnswerRead changes nothing.                                 *)
StepsNext ==
  \/ Next
  \/ \E c \in Controller, records \in SomeFirstRecords : ClaimEmptyLog(c, records)
  \/ \E c \in Controller : ClaimWrittenLog(c)
  \/ \E c \in Controller, records \in SomeTasks : RunTask(c, records)
  \/ \E c \in Controller, request \in Request : RefuseRequest(c, request)
  \/ \E n \in Node, end \in SomeSnapshotEnds : LoadOlderSnapshot(n, end)
  \/ \E n \in Node, end \in SomeSnapshotEnds : StartAnew(n, end)
------------------------------------------------------------------------------
(* The visible state of one node, and the answers that some requests got     *)
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
