-------------------------------- MODULE Add --------------------------------
(* A number that grows by any other: sets without end, in the beginning and in a parameter. *)
EXTENDS Naturals

VARIABLE number

Init == number \in Nat

Add(n) == number' = number + n

Next == \E n \in Nat : Add(n)
=============================================================================
