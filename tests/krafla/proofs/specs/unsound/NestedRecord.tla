---- MODULE NestedRecord ----
EXTENDS Integers
VARIABLES r
vars == <<r>>
TypeOK == r \in [a : [b : Int], c : [b : {2}, d : {TRUE}]]
Init == r = [a |-> [b |-> 1], c |-> [b |-> 2, d |-> TRUE]]
Add == r' = [r EXCEPT !.a.b = @ + [r.c EXCEPT !.b = @ - 1].b]
Next == Add
Spec == Init /\ [][Next]_vars
SmallInv == r.a.b <= 2
KeptInv == r.c.b = 2
====
