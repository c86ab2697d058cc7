---- MODULE Same ----
(* Next takes one value for both parameters. *)
EXTENDS Integers
VARIABLE x
TypeOK == x \in Int
Init == x = 0
Move(a, b) == x' = x + a - b
Next == \E n \in {1, 2} : Move(n, n)
Spec == Init /\ [][Next]_x
ZeroInv == x = 0
====
