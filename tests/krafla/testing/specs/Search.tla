------------------------------ MODULE Search ------------------------------
(* A number that is found by looking at ten thousand million functions. *)
EXTENDS Naturals, FiniteSets

VARIABLE number

Init == number = 0

Search == number' = Cardinality({f \in [1..10 -> 1..10] : f[1] = f[2]})

Step == number' = number + 1

Next == Search \/ Step
=============================================================================
