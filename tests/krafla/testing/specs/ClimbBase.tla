---- MODULE ClimbBase ----
EXTENDS Naturals
VARIABLE h
Spec == h = 7 /\ [][h' > h]_h
LowProp == [](h < 2)
====
