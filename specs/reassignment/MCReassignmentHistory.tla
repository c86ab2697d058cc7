------------------------ MODULE MCReassignmentHistory ------------------------
(***************************************************************************)
(* Reassignment within bounds, with a history variable: the replicas       *)
(* before the first of the reassignments in progress.                      *)
(***************************************************************************)
EXTENDS MCReassignment

VARIABLE original   \* SUBSET Broker: history, not part of the protocol.

HistoryInit == Init /\ original = Members(InitialReplicas)
HistoryNext ==
  /\ Next
  /\ original' = IF InProgress(partition') THEN original ELSE Members(partition'.replicas)
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, original>>

(* A cancellation restores the set of replicas before the reassignment.      *)
(* Source: KIP-455. True while the reassignment was not changed midway.      *)
(* After a change the cancellation restores the set before the last change   *)
(* instead, and only if that change added a replica. See                     *)
(* broken/reassignment/CancelAfterChange.cfg.                                *)
OriginalRestoredProp ==
  [][(InProgress(partition) /\ CancelReassignment) =>
       Members(partition'.replicas) = original]_vars
==============================================================================
