---- MODULE Infinite ----
(* An infinite set has no Cardinality, and is no value of a variable in TLC. *)
EXTENDS Integers, FiniteSets, TLC
VARIABLES x, s
TypeOK == x \in BOOLEAN /\ s \in SUBSET Int
Init == x = TRUE /\ s = {}
Ask == x' = (Cardinality(Nat) >= 1) /\ s' = {1}
Next == Ask
Spec == Init /\ [][Next]_<<x, s>>
TrueInv == x
====
