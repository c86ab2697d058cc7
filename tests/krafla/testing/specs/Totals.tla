---- MODULE Totals ----
EXTENDS Naturals

\* Limit(n) and Total are what a configuration may put others for.
CONSTANTS Limit(_)

VARIABLES a, b

Inner == INSTANCE TotalsInner WITH v <- a

Init == a = 0 /\ b = 0
AddA == a' = a + 1 /\ UNCHANGED b
AddB == b' = b + 1 /\ UNCHANGED a
Next == AddA \/ AddB
Spec == Init /\ [][Next]_<<a, b>>

Total == a
Twice == 2 * Total
MCTotal == b
MCLimit(n) == b + n
MCFloor == b

DirectInv == Total < 2
ThroughInv == Twice < 4
LetInv == LET t == Total IN t < 2
BoundInv == \A n \in 0 .. Total : n < 2
ArgumentInv == LET Small(n) == n < 2 IN Small(Total)
ConstantInv == Limit(1) < 3
InnerInv == Inner!FloorInv
ReplacedProp == [][Total' < 2]_<<Total>>
====
