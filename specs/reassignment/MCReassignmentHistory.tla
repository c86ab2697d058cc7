------------------------ MODULE MCReassignmentHistory ------------------------
(***************************************************************************)
(* Reassignment within bounds, and a history variable: the replicas before *)
(* the first of the reassignments that are under way.                      *)
(***************************************************************************)
EXTENDS MCReassignment

VARIABLE original   \* SUBSET Broker: history, not part of the protocol.

HistoryInit == Init /\ original = Members(InitialReplicas)
HistoryNext ==
  /\ Next
  /\ original' = IF InProgress(partition') THEN original ELSE Members(partition'.replicas)
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, original>>

(* A cancellation restores the set of replicas before the reassignment.      *)
(* Source: KIP-455. True while nobody changed it midway: then it restores    *)
(* the set before the last change instead, and that only if the change       *)
(* brought something in. See broken/reassignment/CancelAfterChange.cfg.      *)
OriginalRestoredProp ==
  [][(InProgress(partition) /\ CancelReassignment) =>
       Members(partition'.replicas) = original]_vars
==============================================================================
