----------------------- MODULE ReassignmentRefinement -----------------------
(***************************************************************************)
(* Reassignment => PartitionLog. With requests and views left out, what    *)
(* the controller writes follows the rules of a committed log.             *)
(*                                                                         *)
(* Both modules build a change with the same operator,                     *)
(* PartitionChange!Build. So the refinement says which change may be asked *)
(* for, and when. It says nothing of how a change is built:                *)
(* ReassignmentProperties does.                                            *)
(***************************************************************************)
EXTENDS ReassignmentProperties

Log == INSTANCE PartitionLog

RefinesPartitionLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
