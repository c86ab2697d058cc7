---------------------- MODULE MCReassignmentRefinement ----------------------
(***************************************************************************)
(* Every step of Reassignment, within bounds, is a step of PartitionLog.   *)
(***************************************************************************)
EXTENDS MCReassignment, ReassignmentRefinement
==============================================================================
