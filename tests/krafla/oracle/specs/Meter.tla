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

Init == reading = 0
Next == \E n \in 1 .. Limit : Advance(n)
Spec == Init /\ [][Next]_reading /\ WF_reading(Next)

InRange == reading \in 0 .. Limit
==============================================================================
