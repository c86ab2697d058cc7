-------------------- MODULE MCControllerRegistrationRepair --------------------
(***************************************************************************)
(* A history variable: the processes whose registration was overwritten by *)
(* a request of another process of their id.                               *)
(***************************************************************************)
EXTENDS MCControllerRegistration

VARIABLE overwritten   \* Processes that run. History, not part of the protocol.

HistoryInit == Init /\ overwritten = {}
HistoryNext ==
  /\ Next
  /\ overwritten' = {i \in Incarnation :
       /\ status'[i] = "RUNNING"
       /\ i \in overwritten \/ (RegisteredProcess(i) /\ ~RegisteredProcess(i)')}
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, overwritten>>

(* An overwritten process is registered again, and has replayed that. *)
RepairedByReRegistrationReach ==
  \E i \in overwritten : RegisteredProcess(i) /\ image[i].incarnation = i
==============================================================================
