------------------------------- MODULE Refined -------------------------------
(* A count that is a level, and whose evenness is a side.                    *)
EXTENDS Integers

VARIABLE count

Init == count = 0

Step ==
  /\ count < 3
  /\ count' = count + 1

Spec == Init /\ [][Step]_count

Above == INSTANCE Rising WITH level <- count
Beside == INSTANCE Turning WITH side <- IF count % 2 = 0 THEN "A" ELSE "B"

RefinesRisingProp == Above!Spec
RefinesTurningProp == Beside!Spec
=============================================================================
