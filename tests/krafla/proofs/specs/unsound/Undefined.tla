---- MODULE Undefined ----
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLES holder
vars == <<holder>>
TypeOK == holder \in Holder \cup {Nil}
Init == holder = Nil
Take(n) == holder = Nil /\ holder' = [node |-> n, since |-> 1]
Drop == holder # Nil /\ holder' = Nil
Next == (\E n \in Node : Take(n)) \/ Drop
Spec == Init /\ [][Next]_vars
SinceInv == holder.since = holder.since
GuardedInv == holder # Nil => holder.since >= 0
====
