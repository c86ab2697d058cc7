---- MODULE Around ----
(* Renew takes n first, but the set of s has a quantifier around that of n. *)
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLE holder
TypeOK == holder \in Holder \cup {Nil}
Init == holder = Nil
Others == {n \in Node : holder # Nil}
Take(n) == holder' = [node |-> n, since |-> 1]
Renew(n, s) == holder' = [node |-> n, since |-> s]
Next == (\E n \in Node : Take(n)) \/ (\E s \in {holder.since} : \E n \in Others : Renew(n, s))
Spec == Init /\ [][Next]_holder
SinceInv == holder = Nil \/ holder.since <= 1
====
