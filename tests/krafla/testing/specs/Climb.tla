---- MODULE Climb ----
EXTENDS Naturals

VARIABLES height, photos

Base == INSTANCE ClimbBase WITH h <- height

Init == height = 0 /\ photos = 0

Climb == height < 20 /\ height' = height + 1 /\ UNCHANGED photos

\* There is nothing to see below.
Photo == height >= 2 /\ photos' = photos + 1 /\ UNCHANGED height

Next == Climb \/ Photo

vars == <<height, photos>>
Spec == Init /\ [][Next]_vars

NotOneInv == height # 1

\* Of the first state.
ZeroFirst == height = 0
SevenFirst == height = 7
SevenFirstProp == height = 7 /\ [][TRUE]_height
SevenInsideProp == Base!Spec
\* Of every state.
LowProp == [](height < 2)
LowInsideProp == Base!LowProp
Always(P) == []P
LowThroughProp == Always(height < 2)
LowBothProp == ZeroFirst /\ [](height < 2) /\ [][height' > height]_height
\* Of every step.
SlowProp == [][height' < 2]_height
\* Of whole behaviours.
TopProp == <>(height = 20)
TopThroughProp == Always(TopProp)
LeadProp == height = 0 ~> height = 2
\* Of all of them.
FairProp == Spec /\ WF_vars(Climb)
FairLowProp == LowProp /\ WF_vars(Climb)
====
