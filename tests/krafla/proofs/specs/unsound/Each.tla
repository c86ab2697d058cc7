---- MODULE Each ----
(* Also here TLC takes each part of a disjunction, until every variable has its next value. *)
EXTENDS Integers
CONSTANTS Node, Nil
Holder == [node : Node, since : Nat]
ASSUME Node # {} /\ Nil \notin Holder
VARIABLES holder, done
vars == <<holder, done>>
TypeOK == holder \in Holder \cup {Nil} /\ done \in BOOLEAN
Init == holder = Nil /\ done = FALSE
IsOld == holder = Nil \/ holder.since >= 0
Old == [n \in Node |-> IsOld]
Holds(f) == \E n \in Node : f[n]
Drop == holder' = Nil /\ (\A n \in Node : IsOld) /\ UNCHANGED done
Next == Drop
Spec == Init /\ [][Next]_vars
NilInv == holder = Nil
====
