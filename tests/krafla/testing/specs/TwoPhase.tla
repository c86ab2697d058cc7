----------------------------- MODULE TwoPhase -----------------------------
(* Two-phase commit: participants vote, and a coordinator decides by the votes that arrived. *)
CONSTANT Participant

VARIABLES state, decision, sent, arrived

vars == <<state, decision, sent, arrived>>

Init ==
    /\ state = [p \in Participant |-> "working"]
    /\ decision = "none"
    /\ sent = {}
    /\ arrived = {}

(* A participant promises to do what is decided. *)
Prepare(p) ==
    /\ state[p] = "working"
    /\ state' = [state EXCEPT ![p] = "prepared"]
    /\ sent' = sent \union {p}
    /\ UNCHANGED <<decision, arrived>>

(* A participant that has promised nothing gives up. *)
GiveUp(p) ==
    /\ state[p] = "working"
    /\ state' = [state EXCEPT ![p] = "aborted"]
    /\ UNCHANGED <<decision, sent, arrived>>

(* A vote reaches the coordinator; no log shows it. *)
Arrive(p) ==
    /\ p \in sent
    /\ p \notin arrived
    /\ arrived' = arrived \union {p}
    /\ UNCHANGED <<state, decision, sent>>

Commit ==
    /\ decision = "none"
    /\ arrived = Participant
    /\ decision' = "commit"
    /\ UNCHANGED <<state, sent, arrived>>

Abort ==
    /\ decision = "none"
    /\ decision' = "abort"
    /\ UNCHANGED <<state, sent, arrived>>

Learn(p) ==
    /\ decision # "none"
    /\ state[p] = "prepared"
    /\ state' = [state EXCEPT ![p] = IF decision = "commit" THEN "committed" ELSE "aborted"]
    /\ UNCHANGED <<decision, sent, arrived>>

Next ==
    \/ \E p \in Participant : Prepare(p) \/ GiveUp(p) \/ Arrive(p) \/ Learn(p)
    \/ Commit
    \/ Abort

Spec == Init /\ [][Next]_vars

(* No participant commits where another aborts. *)
AgreementInv ==
    \A p, q \in Participant : ~(state[p] = "committed" /\ state[q] = "aborted")

(* False where a transaction is committed everywhere: the way there is a test. *)
NobodyCommits == \E p \in Participant : state[p] # "committed"
===========================================================================
