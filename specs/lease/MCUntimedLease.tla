---------------------------- MODULE MCUntimedLease ----------------------------
(***************************************************************************)
(* UntimedLease with a log of bounded length.                              *)
(***************************************************************************)
EXTENDS UntimedLease

CONSTANTS MaxLogEnd

ASSUME Bounded == MaxLogEnd \in Nat \ {0}

Bounds == log_end <= MaxLogEnd
==============================================================================
