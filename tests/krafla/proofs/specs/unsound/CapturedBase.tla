---- MODULE CapturedBase ----
EXTENDS Naturals
VARIABLE x
LOCAL Small == x = 0
Known == x >= 0
SmallInv == Small /\ Known
====
