---- MODULE ChooseEach ----
(* What is chosen depends on n, though something exists for each n.          *)
CONSTANTS Node, k
ASSUME k \in Node
VARIABLE f
TypeOK == f \in [Node -> BOOLEAN]
Init == f = [n \in Node |-> TRUE]
Set == f' = [n \in Node |-> CHOOSE m \in BOOLEAN : m \/ n = k]
Next == Set
Spec == Init /\ [][Next]_f
SameInv == \A a, b \in Node : f[a] = f[b]
====
