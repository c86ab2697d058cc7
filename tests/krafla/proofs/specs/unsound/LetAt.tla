---- MODULE LetAt ----
EXTENDS Integers
CONSTANTS S, k
ASSUME k \in S
VARIABLES f, g
vars == <<f, g>>
TypeOK == f \in [S -> Int] /\ g \in [S -> Int]
Init == f = [s \in S |-> 5] /\ g = [s \in S |-> 0]
Add == /\ g' = [g EXCEPT ![k] = LET z == @ + 1 IN [f EXCEPT ![k] = z][k]]
       /\ UNCHANGED f
Next == Add
Spec == Init /\ [][Next]_vars
SixInv == \A s \in S : f[s] = 5 /\ g[s] \in {0, 6}
GrowInv == \A s \in S : f[s] = 5 /\ g[s] >= 0
====
