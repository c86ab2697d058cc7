------------------------------- MODULE Turning -------------------------------
(* Two sides take turns.                                                     *)
VARIABLE side

Init == side = "A"

Turn == side' = IF side = "A" THEN "B" ELSE "A"

Spec == Init /\ [][Turn]_side
=============================================================================
