---- MODULE Open ----
EXTENDS Integers
VARIABLES v, w
vars == <<v>>
TypeOK == v \in Nat /\ w \in Nat
Init == v = 0 /\ w = 0
Up == v' = v + 1 /\ w' = w
Next == Up
Spec == Init /\ [][Next]_vars
ZeroInv == w = 0
====
