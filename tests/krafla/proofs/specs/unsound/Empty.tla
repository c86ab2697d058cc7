---- MODULE Empty ----
EXTENDS Integers
CONSTANTS Node
VARIABLES v
vars == <<v>>
TypeOK == v \in Nat
Init == v = 0
Stay == UNCHANGED v
Next == Stay
Spec == Init /\ [][Next]_vars
SomeInv == \E n \in Node : n = n
====
