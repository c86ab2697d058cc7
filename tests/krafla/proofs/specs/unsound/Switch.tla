---- MODULE Switch ----
(* A constant is named as the switches of the hypotheses once were.          *)
EXTENDS Naturals
CONSTANT hypothesis
ASSUME hypothesis \in {<<FALSE, TRUE>>}
VARIABLE x
TypeOK == x \in Nat
Init == x = 0
Up == x' = x + 1
Next == Up
Spec == Init /\ [][Next]_x
SmallInv == x < 1
====
