----------------------- MODULE ReassignmentRefinement -----------------------
(***************************************************************************)
(* Reassignment => PartitionLog: with requests and views left out, what    *)
(* the controller writes follows the rules of a committed log.             *)
(*                                                                         *)
(* Both build a change with the same operator, PartitionChange!Build. So   *)
(* this says who may ask for what, and when; of how a change is built it   *)
(* says nothing: that is for ReassignmentProperties.                       *)
(***************************************************************************)
EXTENDS ReassignmentProperties

Log == INSTANCE PartitionLog

RefinesPartitionLogProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
