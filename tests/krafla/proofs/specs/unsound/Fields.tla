---- MODULE Fields ----
(* TLC compares records of as many fields name by name: here first 1 with TRUE, which it cannot. *)
EXTENDS Integers
VARIABLES r, y
TypeOK == r \in [alpha : Nat, beta : Nat] /\ y \in BOOLEAN
Init == r = [alpha |-> 1, beta |-> 2] /\ y = TRUE
Ask == y' = (r # [alpha |-> TRUE, gamma |-> 1]) /\ UNCHANGED r
Next == Ask
Spec == Init /\ [][Next]_<<r, y>>
YesInv == y
====
