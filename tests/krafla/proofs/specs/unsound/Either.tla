---- MODULE Either ----
(* TLC takes each part of a disjunction in an action, also after a true one. *)
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLE holder
TypeOK == holder \in Holder \cup {Nil}
Init == holder = Nil
Drop == (holder = Nil \/ holder.since >= 0) /\ holder' = Nil
Next == Drop
Spec == Init /\ [][Next]_holder
NilInv == holder = Nil
====
