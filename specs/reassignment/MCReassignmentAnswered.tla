----------------------- MODULE MCReassignmentAnswered -----------------------
(***************************************************************************)
(* Reassignment within bounds, with what Kafka's leader does with a record *)
(* whose version an answer has told it before. Partition.makeLeader skips  *)
(* only an older record. An equal one sets the committed ISR again, and so *)
(* forgets the request that the leader has sent since.                     *)
(***************************************************************************)
EXTENDS MCReassignment

VARIABLE told   \* [Broker -> view or Nil]: the last view that came with an answer, until
                \* the broker replays its record.

AnsweredInit == Init /\ told = [b \in Broker |-> Nil]

(* The versions of broker b's view, if it leads.                             *)
Version(view) == IF view = Nil THEN << >> ELSE <<view.leader_epoch, view.partition_epoch>>

(* What broker b has been told after a step. Only an answer takes a message  *)
(* and changes the version. To learn a version is to have replayed all       *)
(* before it.                                                                *)
ToldAfter(b) ==
  IF Version(leading'[b]) = Version(leading[b]) THEN told[b]
  ELSE IF leading'[b] # Nil /\ messages' # messages THEN leading'[b]
  ELSE Nil

(***************************************************************************)
(* Broker b replays the record that an answer has told it of.              *)
(*                                                                         *)
(* Kafka: Partition.makeLeader.                                            *)
(***************************************************************************)
LearnToldPartition(b) ==
  /\ told[b] # Nil
  /\ leading' = [leading EXCEPT ![b] = told[b]]
  /\ told' = [told EXCEPT ![b] = Nil]
  /\ UNCHANGED <<partition, registrations, messages>>

AnsweredNext ==
  \/ Next /\ told' = [b \in Broker |-> ToldAfter(b)]
  \/ \E b \in Broker : LearnToldPartition(b)
AnsweredSpec == AnsweredInit /\ [][AnsweredNext]_<<vars, told>>
==============================================================================
