---- MODULE Filtered ----
(* TLC evaluates the condition of a subset for every member.                 *)
EXTENDS Integers
CONSTANTS Node, Nil, k
Holder == [since : Nat]
ASSUME k \in Node /\ Nil \notin Holder
VARIABLES f, old
TypeOK == f \in [Node -> Holder \cup {Nil}] /\ old \in BOOLEAN
Init == f = [n \in Node |-> IF n = k THEN [since |-> 1] ELSE Nil] /\ old = FALSE
Look == old' = (k \in {n \in Node : f[n].since > 0}) /\ UNCHANGED f
Next == Look
Spec == Init /\ [][Next]_<<f, old>>
HeldInv == f[k] # Nil
====
