-------------------------------- MODULE Meter --------------------------------
(* A counter, to be instantiated.                                             *)
EXTENDS Naturals

CONSTANT Limit
VARIABLE reading

Fits(n) == reading + n <= Limit

Advance(n) ==
  /\ n > 0
  /\ Fits(n)
  /\ reading' = reading + n

InRange == reading \in 0 .. Limit
==============================================================================
