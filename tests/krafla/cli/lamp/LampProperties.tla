---- MODULE LampProperties ----
EXTENDS Lamp

PressesInv == presses \in 0 .. Limit

OffAtFirstInv == presses = 0 => ~is_on

(* A lamp is never on. It shows how a model fails. *)
NeverOnInv == ~is_on

CountsUpProp == [][presses' >= presses]_<<presses, is_on>>

OnReach == is_on
====
