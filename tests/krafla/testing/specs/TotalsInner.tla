---- MODULE TotalsInner ----
EXTENDS Naturals
VARIABLE v
Floor == 0
FloorInv == Floor < 2 + v - v
====
