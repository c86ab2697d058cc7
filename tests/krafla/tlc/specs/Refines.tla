------------------------------ MODULE Refines ------------------------------
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 3
Spec == Init /\ [][Next]_x
Below == INSTANCE Abstract WITH y <- x
RefinesGrowth == Below!Spec
RefinesStart == Below!LateSpec
RefinesChange == Below!ChangeSpec
=============================================================================
