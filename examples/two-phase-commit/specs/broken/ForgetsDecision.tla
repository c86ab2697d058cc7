--------------------------- MODULE ForgetsDecision --------------------------
(* A mistake: the decision of the coordinator is not on disk, and a crash    *)
(* loses it. What it announced before remains.                               *)
EXTENDS TwoPhaseCommit

Forget ==
  /\ Coordinator \in up
  /\ up' = up \ {Coordinator}
  /\ votes' = {}
  /\ coordinator_log' = "none"
  /\ UNCHANGED <<log, shown, sent>>

BrokenNext == Next \/ Forget

BrokenSpec == Init /\ [][BrokenNext]_vars
=============================================================================
