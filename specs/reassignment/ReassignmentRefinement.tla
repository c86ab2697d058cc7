----------------------- MODULE ReassignmentRefinement -----------------------
(***************************************************************************)
(* Reassignment => PartitionLog: with requests and views left out, what    *)
(* the controller writes follows the rules of a committed log.             *)
(***************************************************************************)
EXTENDS ReassignmentProperties

Log == INSTANCE PartitionLog

RefinesPartitionLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
