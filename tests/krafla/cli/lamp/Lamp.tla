---- MODULE Lamp ----
EXTENDS Naturals

CONSTANT Limit

VARIABLES presses, is_on

Init ==
  /\ presses = 0
  /\ is_on = FALSE

Press ==
  /\ presses < Limit
  /\ presses' = presses + 1
  /\ is_on' = ~is_on

(* A lamp wears out. *)
Burn ==
  /\ is_on
  /\ presses > 2
  /\ is_on' = FALSE
  /\ UNCHANGED presses

Next == Press \/ Burn

Spec == Init /\ [][Next]_<<presses, is_on>>
====
