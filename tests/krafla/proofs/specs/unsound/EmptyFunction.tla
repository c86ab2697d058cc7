---- MODULE EmptyFunction ----
(* TLC's << >> is a tuple: no EXCEPT has another index of it than a number. *)
EXTENDS Integers
CONSTANTS Node
ASSUME Node # {}
VARIABLE f
TypeOK == DOMAIN f \subseteq Node /\ \A n \in DOMAIN f : f[n] \in Nat
Init == f = << >>
Set(n) == f' = [f EXCEPT ![n] = 1]
Next == \E n \in Node : Set(n)
Spec == Init /\ [][Next]_f
ZeroInv == \A n \in DOMAIN f : f[n] >= 0
====
