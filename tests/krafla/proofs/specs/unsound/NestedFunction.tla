---- MODULE NestedFunction ----
(* Each level of a function of functions has a domain of its own.            *)
EXTENDS Naturals
CONSTANTS A, B
VARIABLE f
TypeOK == f \in [{A} -> [{B} -> Nat] \cup [{} -> Nat]]
Init == f = [a \in {A} |-> [b \in {B} |-> 0]]
Clear == f' = [a \in {A} |-> [b \in {} |-> 0]] \/ UNCHANGED f
Next == Clear
Spec == Init /\ [][Next]_f
FullInv == B \in DOMAIN f[A]
====
