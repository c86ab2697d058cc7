-------------------------- MODULE MCKRaftRefinement --------------------------
(***************************************************************************)
(* Every step of KRaft, within bounds, is a step of ReplicatedLog or none. *)
(* All starts from nothing: no epoch, no records. The first replica to     *)
(* stand is r1; any other would be r1 under another name.                  *)
(***************************************************************************)
EXTENDS MCKRaft, KRaftRefinement

NoValue == {}

FirstIsR1(r) == EpochLeft(r) /\ (epoch[r] = 0 => r = r1)

(* Only r1 writes snapshots. Any other replica that has one has loaded it.   *)
OneWritesSnapshots ==
  \A r \in Replica \ {r1} : snapshots[r] # {} => log_start[r] > 0
------------------------------------------------------------------------------
(* Witnesses                                                                 *)

(* Something is committed that the leader of a later epoch does not know to  *)
(* be committed.                                                             *)
LeaderForgotReach ==
  \E r \in Replica :
    role[r] = "Leader" /\ high_watermark[r] = NoOffset /\ committed # << >>

(* Records of two epochs are committed. *)
TwoEpochsCommittedReach ==
  committed # << >> /\ committed[1].epoch # committed[Len(committed)].epoch

(* A replica's log holds a record that will never be committed. *)
DoomedRecordReach ==
  \E r \in Replica :
    log_start[r] = 0 /\ log[r] # << >> /\ committed # << >> /\ log[r][1] # committed[1]

(* All replicas have forgotten what is committed. *)
AllForgotReach == Log!AllForgotReach
==============================================================================
