------------------------------- MODULE Table -------------------------------
(* A game of few states, in which many steps lead to the same one. *)
EXTENDS Naturals

CONSTANT Player

VARIABLES round, score, seated

vars == <<round, score, seated>>

Init == round \in 0..1 /\ score = 0 /\ seated = {}

Advance == round < 2 /\ round' = round + 1 /\ UNCHANGED <<score, seated>>

Sit(p) ==
    /\ p \notin seated
    /\ seated' = seated \union {p}
    /\ score' \in {score, (score + 1) % 3}
    /\ UNCHANGED round

Leave(p) == seated' = seated \ {p} /\ UNCHANGED <<round, score>>

Play(p, points) == p \in seated /\ score' = points /\ UNCHANGED <<round, seated>>

Restart == score = 2 /\ round' = 0 /\ UNCHANGED <<score, seated>>

Next ==
    \/ Advance
    \/ \E p \in Player : Sit(p) \/ \E points \in 0..round : Play(p, points)
    \/ \E p \in seated : Leave(p)
    \/ Restart

EndInv == ~(round = 2 /\ score = 2)

ForwardProp == [][round' >= round \/ seated = {}]_vars
=============================================================================
