----------------------- MODULE ReassignmentRefinement -----------------------
(***************************************************************************)
(* Reassignment => PartitionLog: without requests and views, the records   *)
(* that the controller writes follow the rules of a committed log.         *)
(*                                                                         *)
(* Both modules build a change with the same operator,                     *)
(* PartitionChange!Build. So the refinement says which requests are        *)
(* possible, and when. It says nothing about how a change is built:        *)
(* ReassignmentProperties does.                                            *)
(***************************************************************************)
EXTENDS ReassignmentProperties

Log == INSTANCE PartitionLog

RefinesPartitionLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
