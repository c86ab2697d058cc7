---- MODULE TwoBags ----
(* One action takes a record from two sets whose records have different fields. *)
EXTENDS Integers
CONSTANTS Node
ASSUME Node # {}
VARIABLES asked, told
vars == <<asked, told>>
Asked == [node : Node]
Told == [to : Node, at : Nat]
TypeOK ==
  /\ DOMAIN asked \subseteq Asked /\ \A m \in DOMAIN asked : asked[m] \in Nat
  /\ DOMAIN told \subseteq Told /\ \A m \in DOMAIN told : told[m] \in Nat
Init == asked = << >> /\ told = << >>
Lose(m) == UNCHANGED <<asked, told>>
Next == (\E m \in DOMAIN asked : Lose(m)) \/ (\E m \in DOMAIN told : Lose(m))
Spec == Init /\ [][Next]_vars
NoneInv == DOMAIN asked = {}
====
