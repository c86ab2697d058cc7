---- MODULE Order ----
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLES holder
vars == <<holder>>
TypeOK == holder \in Holder \cup {Nil}
Init == \E n \in Node : holder = [node |-> n, since |-> 0]
Grow == holder' = [holder EXCEPT !.since = @ + 1]
Next == Grow
Spec == Init /\ [][Next]_vars
HeldInv == holder # Nil
SinceInv == holder.since >= 0
====
