------------------------------- MODULE Club -------------------------------
(* Next takes parameters from sets that depend on the state or on each other, or have no end. *)
EXTENDS Naturals

CONSTANT Person

VARIABLES members, visits

Init == members = {} /\ visits = 0

Join(p) == p \notin members /\ members' = members \union {p} /\ UNCHANGED visits

(* The action alone lets anybody come. *)
Visit(p) == visits' = visits + 1 /\ UNCHANGED members

Meet(p, q) == visits' = visits + 2 /\ UNCHANGED members

Count(n) == visits' = n /\ UNCHANGED members

Pair(p, n) == visits' = n /\ UNCHANGED members

Pay(p, n) == visits' = n /\ UNCHANGED members

Greet(p) == visits' = 4 /\ UNCHANGED members

Rise(n) == visits' = n /\ UNCHANGED members

Next ==
    \/ \E p \in Person : Join(p)
    \/ Visit("host")
    \/ \E p \in members : Visit(p)
    \/ \E p \in members : \E q \in members \ {p} : Meet(p, q)
    \/ \E n \in Nat \union {"none"} : Count(n)
    \/ \E pair \in members \X {1, 2}, odd \in {3} : Pair(pair[1], odd * pair[2])
    \/ \E <<p, n>> \in members \X {1, 2} : Pay(p, n) \/ Greet(p)
    \/ \E n \in {k \in Nat : k > 5 /\ members # {}} : Rise(n)
    \/ \E p \in members : LET Leave(n) == members' = members \ {p} /\ visits' = n
                          IN \E n \in {7, 8} : Leave(n)
    \/ visits > 90 /\ visits' = 0 /\ UNCHANGED members

QuietInv == visits = 0
=============================================================================
