---- MODULE LetField ----
EXTENDS Integers
VARIABLES r, q
vars == <<r, q>>
TypeOK == r \in [a : Int] /\ q \in [a : Int]
Init == r = [a |-> 1] /\ q = [a |-> 0]
Copy == /\ r' = [r EXCEPT !.a = LET z == @ y == z IN [q EXCEPT !.a = y].a]
        /\ UNCHANGED q
Next == Copy
Spec == Init /\ [][Next]_vars
OneInv == r.a = 1 /\ q.a = 0
ZeroInv == r.a \in {1, 2} /\ q.a = 0
====
