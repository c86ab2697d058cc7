------------------------------ MODULE Abstract ------------------------------
EXTENDS Naturals
VARIABLE y
Init == y = 0
Grow == y' = y + 1
Spec == Init /\ [][Grow]_y
LateSpec == y = 1 /\ [][y' # y]_y
ChangeSpec == Init /\ [][y' # y]_y
=============================================================================
