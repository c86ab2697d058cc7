---------------------------- MODULE AtomicCommit ----------------------------
(* What a client may rely on: one decision, that no participant contradicts. *)
CONSTANT Participant
VARIABLES decision, finished

vars == <<decision, finished>>

Init == decision = "none" /\ finished = {}

(* The decision is taken, once.                                             *)
Decide(outcome) ==
  /\ decision = "none"
  /\ decision' = outcome
  /\ UNCHANGED finished

(* A participant alone can abort, as long as nothing else is decided.       *)
Refuse(p) ==
  /\ decision \in {"none", "aborted"}
  /\ decision' = "aborted"
  /\ finished' = finished \union {p}

(* A participant does what is decided.                                      *)
Finish(p) ==
  /\ decision # "none"
  /\ finished' = finished \union {p}
  /\ UNCHANGED decision

Next ==
  \/ \E outcome \in {"committed", "aborted"} : Decide(outcome)
  \/ \E p \in Participant : Refuse(p) \/ Finish(p)

Spec == Init /\ [][Next]_vars
=============================================================================
