------------------- MODULE MCReplicatedPartitionRefinement -------------------
(***************************************************************************)
(* Every step of ReplicatedPartition, within bounds, is a step of          *)
(* OwnershipMove.                                                          *)
(***************************************************************************)
EXTENDS MCReplicatedPartition, ReplicatedPartitionRefinement
==============================================================================
