-------------------------- MODULE TwoPhaseHasty ---------------------------
(* Two-phase commit with a coordinator that commits at the first vote. *)
EXTENDS TwoPhase

HastyCommit ==
    /\ decision = "none"
    /\ arrived # {}
    /\ decision' = "commit"
    /\ UNCHANGED <<state, sent, arrived>>
===========================================================================
