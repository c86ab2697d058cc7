---- MODULE Outside ----
EXTENDS Integers
CONSTANT Nil
ASSUME Nil \notin [a : {1}]
VARIABLES x, y
vars == <<x, y>>
TypeOK == x \in [a : {1}] \cup {Nil} /\ y \in BOOLEAN
Init == x = [a |-> 1] /\ y = TRUE
Ask == y' = (Nil # [a |-> 2]) /\ UNCHANGED x
Next == Ask
Spec == Init /\ [][Next]_vars
TrueInv == y
RecordInv == x # Nil
====
