---- MODULE Dependent ----
EXTENDS Integers
VARIABLES x
vars == <<x>>
TypeOK == x \in Int
Init == x = 0
Set(e) == x' = e
Next == \E d \in {1, 2} : \E e \in {d, -d} : Set(e)
Spec == Init /\ [][Next]_vars
SmallInv == x \in -2 .. 2
====
