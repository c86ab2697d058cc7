--------------------------- MODULE KRaftRefinement ---------------------------
(***************************************************************************)
(* KRaft => ReplicatedLog. With elections, fetches and truncations left    *)
(* out, the replicas share one log that only grows, and each knows a piece *)
(* of it. A module that needs no more of Raft than that may build on       *)
(* ReplicatedLog.                                                          *)
(*                                                                         *)
(* A replica's piece is the part of its own log from the log's start up to *)
(* its high watermark. The mapping does not assume that the records there  *)
(* are those of the committed log; the refinement must show it.            *)
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

(* The theorem excludes a sole voter, which may lose what it committed       *)
(* before it flushed (broken/raft/SoleVoterLosesCommitted.cfg), as Kafka is  *)
(* built. It also excludes brokers, which do not flush what they fetch: one  *)
(* that crashes may begin anew after its own snapshot, which raises its      *)
(* start and lowers its known end in one step, and is no step of             *)
(* ReplicatedLog. The models that check the refinement have constant voters, *)
(* and flush at once.                                                        *)
THEOREM
  ((\A records : Cardinality(VotersOf(records)) > 1) /\ (\A r \in Replica : AlwaysFlushes(r)))
    => (Spec => RefinesReplicatedLogProp)
------------------------------------------------------------------------------
(* A property that is false, kept as an expected failure (broken/raft): that *)
(* everything in a replica's log is committed.                               *)
WholeLog == INSTANCE ReplicatedLog WITH
  Node <- Replica,
  Record <- Entry,
  committed <- committed,
  known <- [r \in Replica |-> [start |-> log_start[r], records |-> log[r]]]

WholeLogIsCommittedProp == WholeLog!AxiomSpec
==============================================================================
