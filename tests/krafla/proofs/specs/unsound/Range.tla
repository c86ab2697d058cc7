---- MODULE Range ----
(* TLC evaluates the set of a parameter before it knows whether the set has a member. *)
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLE holder
TypeOK == holder \in Holder \cup {Nil}
Init == holder = Nil
Old == {n \in Node : holder.since > 0 /\ holder # Nil}
Take(n) == holder' = [node |-> n, since |-> 1]
Renew(n) == holder' = [holder EXCEPT !.node = n]
Next == (\E n \in Node : Take(n)) \/ (\E n \in Old : Renew(n))
Spec == Init /\ [][Next]_holder
SinceInv == holder = Nil \/ holder.since <= 1
====
