--------------------------- MODULE KRaftRefinement ---------------------------
(***************************************************************************)
(* KRaft => ReplicatedLog: with elections, fetches and truncations left    *)
(* out, the replicas share one log that only grows, and each knows a piece *)
(* of it. So whoever needs no more of Raft than that may build on          *)
(* ReplicatedLog.                                                          *)
(*                                                                         *)
(* A replica's piece is what its own log holds, from the log's start up to *)
(* its high watermark. That the records there are those of the committed   *)
(* log is not put in by the mapping; it is what must be shown.             *)
(***************************************************************************)
EXTENDS KRaft

(* A replica that knows no high watermark still knows its snapshot.          *)
KnownEndOf(r) ==
  IF high_watermark[r] > log_start[r] THEN high_watermark[r] ELSE log_start[r]

Log == INSTANCE ReplicatedLog WITH
  Node <- Replica,
  Record <- Entry,
  committed <- committed,
  known <- [r \in Replica |->
              [start |-> log_start[r],
               records |-> Records(r, log_start[r], KnownEndOf(r))]]

RefinesReplicatedLogProp == Log!AxiomSpec

(* Not of a sole voter, which may lose what it committed before it flushed   *)
(* (broken/raft/SoleVoterLosesCommitted.cfg), as Kafka is built. The models  *)
(* that check it have the voters of a constant, and flush at once.           *)
THEOREM (\A records : Cardinality(VotersOf(records)) > 1) => (Spec => Log!Spec)
------------------------------------------------------------------------------
(* What is not true, and kept for that (broken/raft): that all a replica's   *)
(* log holds is committed.                                                   *)
WholeLog == INSTANCE ReplicatedLog WITH
  Node <- Replica,
  Record <- Entry,
  committed <- committed,
  known <- [r \in Replica |-> [start |-> log_start[r], records |-> log[r]]]

WholeLogIsCommittedProp == WholeLog!AxiomSpec
==============================================================================
