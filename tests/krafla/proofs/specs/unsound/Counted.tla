---- MODULE Counted ----
CONSTANT S
ASSUME S # {}
VARIABLES x, f
vars == <<x, f>>
Cardinality(a, b) == a
TypeOK == x \in {1, 2} /\ DOMAIN f \subseteq S /\ \A s \in DOMAIN f : f[s] \in {0}
Init == x = 1 /\ f = << >>
Set == x' = 2 /\ UNCHANGED f
Next == Set
Spec == Init /\ [][Next]_vars
OneInv == x = 1
====
