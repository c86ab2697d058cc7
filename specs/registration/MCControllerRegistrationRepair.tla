-------------------- MODULE MCControllerRegistrationRepair --------------------
(***************************************************************************)
(* A history variable: which processes were registered, and overwritten by *)
(* a request of another one of their id.                                   *)
(***************************************************************************)
EXTENDS MCControllerRegistration

VARIABLE overwritten   \* Processes that run: history, not part of the protocol.

HistoryInit == Init /\ overwritten = {}
HistoryNext ==
  /\ Next
  /\ overwritten' = {i \in Incarnation :
       /\ status'[i] = "RUNNING"
       /\ i \in overwritten \/ (RegisteredProcess(i) /\ ~RegisteredProcess(i)')}
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, overwritten>>

(* A process that was overwritten is registered again, and has seen it. *)
RepairedByReRegistrationReach ==
  \E i \in overwritten : RegisteredProcess(i) /\ image[i].incarnation = i
==============================================================================
