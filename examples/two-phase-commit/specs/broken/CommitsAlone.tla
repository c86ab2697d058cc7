---------------------------- MODULE CommitsAlone ----------------------------
(* A mistake: a participant that has promised commits without the word of    *)
(* the coordinator. Another one may abort.                                   *)
EXTENDS TwoPhaseCommit

CommitAlone(p) ==
  /\ p \in up
  /\ log[p] = "prepared"
  /\ log' = [log EXCEPT ![p] = "committed"]
  /\ shown' = Shown(log', up)
  /\ UNCHANGED <<coordinator_log, votes, up, sent>>

BrokenNext == Next \/ \E p \in Participant : CommitAlone(p)

BrokenSpec == Init /\ [][BrokenNext]_vars
=============================================================================
