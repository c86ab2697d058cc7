-------------------------- MODULE MCReassignmentElr --------------------------
(***************************************************************************)
(* ReassignmentElr within the bounds of MCReassignment.                    *)
(***************************************************************************)
EXTENDS MCReassignment, ReassignmentElrProperties

NoCancellation == Never
NoForce == Never
NoRestart(b) == Never
NoRequestSent(b, isr) == Never

(* KAFKA-19522: whether it was active was only logged. *)
DeadOrAlive(r, acceptable) == TRUE
==============================================================================
