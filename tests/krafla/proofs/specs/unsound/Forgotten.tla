---- MODULE Forgotten ----
(* TLC forgets the change of an EXCEPT here: it takes Up. *)
EXTENDS Integers
CONSTANT Node
ASSUME Node # {}
VARIABLE x
TypeOK == x \in Nat
Init == x = 0
Up == (\E n \in Node : [[m \in Node |-> TRUE] EXCEPT ![n] = FALSE][n]) /\ x' = 1
Stay == UNCHANGED x
Next == Up \/ Stay
Spec == Init /\ [][Next]_x
ZeroInv == x = 0
====
