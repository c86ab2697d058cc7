---------------------------- MODULE AtomicCommit ----------------------------
(* What the clients of a transaction rely on, whatever the protocol: the      *)
(* participants end alike, and commit only if all of them promised to.        *)
CONSTANT Participant

VARIABLES
  promised,  \* the participants that have promised to commit
  outcome    \* what each of them did with the transaction

vars == <<promised, outcome>>

Init ==
  /\ promised = {}
  /\ outcome = [p \in Participant |-> "undecided"]

(* A participant promises to commit.                                        *)
Promise(p) ==
  /\ outcome[p] = "undecided"
  /\ promised' = promised \union {p}
  /\ UNCHANGED outcome

(* A participant commits, as all have promised to.                          *)
Commit(p) ==
  /\ outcome[p] = "undecided"
  /\ promised = Participant
  /\ outcome' = [outcome EXCEPT ![p] = "committed"]
  /\ UNCHANGED promised

(* A participant aborts, as none has committed. Its promise ends.           *)
Abort(p) ==
  /\ outcome[p] = "undecided"
  /\ \A q \in Participant : outcome[q] # "committed"
  /\ promised' = promised \ {p}
  /\ outcome' = [outcome EXCEPT ![p] = "aborted"]

Next == \E p \in Participant : Promise(p) \/ Commit(p) \/ Abort(p)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeInv ==
  /\ promised \subseteq Participant
  /\ outcome \in [Participant -> {"undecided", "committed", "aborted"}]

(* Agreement: no participant commits while another aborts.                  *)
AgreementInv ==
  \A p, q \in Participant : ~(outcome[p] = "committed" /\ outcome[q] = "aborted")

(* Validity: a participant commits only if every participant promised to.   *)
ValidityInv == (\E p \in Participant : outcome[p] = "committed") => promised = Participant

(* The outcome of a participant is final.                                   *)
FinalProp ==
  [][\A p \in Participant : outcome[p] # "undecided" => outcome'[p] = outcome[p]]_vars
=============================================================================
