------------------------------- MODULE Dice -------------------------------
(* A die: what it shows is chosen inside an action. *)
EXTENDS Naturals

VARIABLE face

Roll == face = 0 /\ \E n \in 1..3 : face' = n

(* It has the same effect as a roll. *)
Cheat == face = 0 /\ face' = 3

Win == face = 3 /\ face' = 0

Lose == face \in 1..2 /\ face' = 0

Spec == face = 0 /\ [][Roll \/ Cheat \/ Win \/ Lose]_face
===========================================================================
