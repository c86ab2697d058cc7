---- MODULE Shrink ----
EXTENDS Integers
CONSTANTS Node
ASSUME Node # {}
VARIABLES count
vars == <<count>>
TypeOK == count \in [Node -> Nat]
Init == count = [n \in Node |-> 0]
Leave(x) == count' = [n \in Node \ {x} |-> count[n]]
Stay == UNCHANGED count
Next == (\E x \in Node : Leave(x)) \/ Stay
Spec == Init /\ [][Next]_vars
ZeroInv == \A n \in Node : count[n] = 0
====
