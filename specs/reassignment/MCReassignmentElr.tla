-------------------------- MODULE MCReassignmentElr --------------------------
(***************************************************************************)
(* ReassignmentElr within the bounds of MCReassignment.                    *)
(***************************************************************************)
EXTENDS MCReassignment, ReassignmentElrProperties

NoCancellation == Never
NoForce == Never
NoRestart(b) == Never
NoRequestSent(b, isr) == Never

(* KAFKA-19522: a dead replica was only logged, not refused. *)
DeadOrAlive(r, acceptable) == TRUE
==============================================================================
