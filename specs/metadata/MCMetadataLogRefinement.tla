----------------------- MODULE MCMetadataLogRefinement -----------------------
(***************************************************************************)
(* Every step of MetadataLog, within bounds, is a step of AtomicController *)
(* and of ReplicatedLog, or none.                                          *)
(***************************************************************************)
EXTENDS MCMetadataLog, MetadataLogRefinement
==============================================================================
