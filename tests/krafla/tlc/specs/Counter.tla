------------------------------ MODULE Counter ------------------------------
(* A counter with a log, and one property for each way a check can end. *)
EXTENDS Naturals, Sequences, TLC

CONSTANTS Limit, Nil

VARIABLES count, log

vars == <<count, log>>

Init == count = 0 /\ log = <<>>

Up ==
  /\ count < Limit
  /\ count' = count + 1
  /\ log' = Append(log, [kind |-> "up", by |-> {Nil, "x"}])

Down ==
  /\ count > 0
  /\ count' = count - 1
  /\ log' = <<>>

Forget(n) ==
  /\ n = 2
  /\ log' = <<>>
  /\ UNCHANGED count

\* The set of n depends on the state, so TLC calls this disjunct "Next".
Next ==
  \/ Up
  \/ Down
  \/ \E n \in 1..Len(log) : Forget(n)

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Up)

Bounded == Len(log) < 3

BelowTwo == count < 2
PositiveAtFirst == count > 0
OnlyUp == [][count' > count]_vars
AtMostThree == count <= 3
NothingForgotten == [][count' # count]_vars
Climbs == <>(count = 3)
NeverShrinks == [](count = 1 => <>(count # 1))

AssertsBelowTwo == Assert(count < 2, "reached two")
LooksTooFar == count < 2 \/ log[7] = 3

StopsAtOne == count = 0 /\ count' = 1 /\ UNCHANGED log
StopSpec == Init /\ [][StopsAtOne]_vars

HalfStep == count' = 1
HalfSpec == Init /\ [][HalfStep]_vars

NoStart == count = 0 /\ count = 1 /\ log = <<>>
VacuousSpec == NoStart /\ [][Next]_vars

TooFar == Assert(count < 2, "stepped too far") /\ count' = count + 1 /\ log' = log
NoNumberInv == count = <<>>
NoField == count' = [a |-> count].b /\ UNCHANGED log
EmptyHead == count' = (IF count < 2 THEN count + 1 ELSE Head(<<>>)) /\ log' = log

RECURSIVE Endless(_)
Endless(n) == Endless(n + 1) + 1
StackStep == count' = Endless(count) /\ log' = log

ReachOne == count = 1
ReachThree == count = 3
ReachNine == count = 9
=============================================================================
