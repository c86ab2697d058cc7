---- MODULE InfiniteFunction ----
(* A function of every number is no value of a variable in TLC. *)
EXTENDS Integers
VARIABLE f
TypeOK == DOMAIN f \subseteq Nat /\ \A n \in DOMAIN f : f[n] \in {0}
Init == f = << >>
Fill == f' = [n \in Nat |-> 0]
Next == Fill
Spec == Init /\ [][Next]_f
ZeroInv == \A n \in DOMAIN f : f[n] = 0
====
