---- MODULE Conjuncts ----
EXTENDS Naturals

CONSTANTS Limit, Side

VARIABLES x, y

Init == x = 0 /\ y = [p \in Side |-> 0]

Small(p) ==
  /\ y[p] >= 0
  /\ y[p] < 5

(* Evaluated for each of two sides in each of Limit + 1 values of x. *)
Step(p) ==
  /\ x >= 0
  /\ x < Limit
  /\ Small(p)
  /\ \/ x % 2 = 0
     \/ x % 2 = 1
  /\ x' = x + 1
  /\ UNCHANGED y

Dead(p) ==
  /\ x > 1000
  /\ y[p] = 2
  /\ x' = 0
  /\ UNCHANGED y

Choose(p) ==
  \/ /\ x = Limit
     /\ y[p] = 0
     /\ y' = [y EXCEPT ![p] = 1]
     /\ UNCHANGED x
  \/ /\ x > Limit
     /\ x' = 0
     /\ y' = y

Next == \E p \in Side : Step(p) \/ Dead(p) \/ Choose(p)

Spec == Init /\ [][Next]_<<x, y>>
====
