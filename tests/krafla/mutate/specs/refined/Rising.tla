------------------------------- MODULE Rising -------------------------------
(* A level rises, one by one.                                                *)
EXTENDS Integers

VARIABLE level

Init == level = 0

Rise ==
  /\ level < 3
  /\ level' = level + 1

Spec == Init /\ [][Rise]_level
=============================================================================
