---- MODULE Captured ----
(* Small is not the LOCAL one that Inv of the extended module means.         *)
EXTENDS CapturedBase
Small == TRUE
TypeOK == x \in Nat
Init == x = 0
Up == x' = x + 1
Next == Up
Spec == Init /\ [][Next]_x
====
