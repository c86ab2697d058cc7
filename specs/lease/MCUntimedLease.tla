---------------------------- MODULE MCUntimedLease ----------------------------
(***************************************************************************)
(* UntimedLease with a log of bounded length. The model tries offsets and  *)
(* epochs on both sides of what is allowed, so that each guard excludes    *)
(* some.                                                                   *)
(***************************************************************************)
EXTENDS UntimedLease

CONSTANTS MaxLogEnd

ASSUME Bounded == MaxLogEnd \in Nat \ {0}

AnyOffset == {offset \in (log_end - 2) .. (log_end + 1) : offset >= 0}
AnyEpoch == 0 .. (log_end + 1)

Bounds == log_end <= MaxLogEnd
==============================================================================
