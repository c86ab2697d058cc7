---- MODULE NoSet ----
(* Stay takes nothing from the set of i, which is no set. *)
EXTENDS Integers
CONSTANT Node
ASSUME Node # {}
VARIABLE v
TypeOK == v \in Nat
Init == v = 0
Stay == UNCHANGED v
Next == \E i \in v : Stay
Spec == Init /\ [][Next]_v
ZeroInv == v = 0
====
