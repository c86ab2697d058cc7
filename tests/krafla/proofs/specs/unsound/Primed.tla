---- MODULE Primed ----
(* TLC takes none of these for an assignment: it evaluates x after the step, before x has a value. *)
EXTENDS Integers
VARIABLE x
Id(v) == v
TypeOK == x \in Nat
Init == x = 1
One == (x = 1)'
Next == One
Spec == Init /\ [][Next]_x
SmallInv == x <= 1
====
