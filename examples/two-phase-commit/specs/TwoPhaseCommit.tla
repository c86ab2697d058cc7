--------------------------- MODULE TwoPhaseCommit ---------------------------
(* Two-phase commit of one transaction. Each decision, to abort as well, is  *)
(* in the coordinator's log before it is announced. Processes crash and lose *)
(* their memory, not their logs. Messages are lost, repeated and reordered:  *)
(* a message that was sent can be taken at any time, or never.               *)
EXTENDS FiniteSets
CONSTANTS Participant, Coordinator

VARIABLES
  log,              \* the log of each participant, on disk
  coordinator_log,  \* that of the coordinator
  votes,            \* the participants whose votes the coordinator has in memory
  up,               \* the processes that run
  shown,            \* the outcome that each participant shows its client
  sent              \* all messages that were ever sent

vars == <<log, coordinator_log, votes, up, shown, sent>>

Process == Participant \union {Coordinator}
Outcome == {"committed", "aborted"}

Vote(p, is_yes) == [participant |-> p, is_yes |-> is_yes]
Decision(outcome) == [outcome |-> outcome]
Message ==
  [participant : Participant, is_yes : BOOLEAN] \union [outcome : Outcome]

(* A participant that runs shows the outcome that is in its log.            *)
Shown(of_log, running) ==
  [p \in Participant |->
    IF p \in running /\ of_log[p] \in Outcome THEN of_log[p] ELSE "none"]

Init ==
  /\ log = [p \in Participant |-> "working"]
  /\ coordinator_log = "none"
  /\ votes = {}
  /\ up = Process
  /\ shown = Shown(log, up)
  /\ sent = {}

-----------------------------------------------------------------------------
(* What a participant does inside: only its disk sees it.                   *)

(* It promises to commit, and cannot go back alone.                         *)
Prepare(p) ==
  /\ p \in up
  /\ log[p] = "working"
  /\ log' = [log EXCEPT ![p] = "prepared"]
  /\ UNCHANGED <<coordinator_log, votes, up, shown, sent>>

(* It aborts alone, which it may until it has promised.                     *)
GiveUp(p) ==
  /\ p \in up
  /\ log[p] = "working"
  /\ log' = [log EXCEPT ![p] = "aborted"]
  /\ shown' = Shown(log', up)
  /\ UNCHANGED <<coordinator_log, votes, up, sent>>

(* It says yes: the promise is in its log.                                  *)
SendYes(p) ==
  /\ p \in up
  /\ log[p] = "prepared"
  /\ sent' = sent \union {Vote(p, TRUE)}
  /\ UNCHANGED <<log, coordinator_log, votes, up, shown>>

(* It says no: it has aborted.                                              *)
SendNo(p) ==
  /\ p \in up
  /\ log[p] = "aborted"
  /\ sent' = sent \union {Vote(p, FALSE)}
  /\ UNCHANGED <<log, coordinator_log, votes, up, shown>>

(* It does what was decided, and shows its client the outcome.              *)
Finish(p, outcome) ==
  /\ p \in up
  /\ Decision(outcome) \in sent
  /\ log[p] \in {"working", "prepared", outcome}
  /\ log' = [log EXCEPT ![p] = outcome]
  /\ shown' = Shown(log', up)
  /\ UNCHANGED <<coordinator_log, votes, up, sent>>

-----------------------------------------------------------------------------
(* What the coordinator does inside.                                        *)

(* It counts a vote, once.                                                  *)
TakeVote(p) ==
  /\ Coordinator \in up
  /\ Vote(p, TRUE) \in sent
  /\ votes' = votes \union {p}
  /\ UNCHANGED <<log, coordinator_log, up, shown, sent>>

(* It commits, as all have promised.                                        *)
DecideCommit ==
  /\ Coordinator \in up
  /\ coordinator_log = "none"
  /\ votes = Participant
  /\ coordinator_log' = "committed"
  /\ UNCHANGED <<log, votes, up, shown, sent>>

(* It aborts: a vote is no, or it waits no longer, or it has crashed.       *)
DecideAbort ==
  /\ Coordinator \in up
  /\ coordinator_log = "none"
  /\ coordinator_log' = "aborted"
  /\ UNCHANGED <<log, votes, up, shown, sent>>

(* It announces its decision, which is in its log by then.                  *)
SendDecision(outcome) ==
  /\ Coordinator \in up
  /\ coordinator_log = outcome
  /\ sent' = sent \union {Decision(outcome)}
  /\ UNCHANGED <<log, coordinator_log, votes, up, shown>>

-----------------------------------------------------------------------------
(* A process crashes and starts again.                                      *)

(* It loses what it had in memory.                                          *)
Crash(process) ==
  /\ process \in up
  /\ up' = up \ {process}
  /\ votes' = IF process = Coordinator THEN {} ELSE votes
  /\ shown' = Shown(log, up')
  /\ UNCHANGED <<log, coordinator_log, sent>>

(* Its log is all that it has.                                              *)
Recover(process) ==
  /\ process \notin up
  /\ up' = up \union {process}
  /\ shown' = Shown(log, up')
  /\ UNCHANGED <<log, coordinator_log, votes, sent>>

Next ==
  \/ \E p \in Participant :
       Prepare(p) \/ GiveUp(p) \/ SendYes(p) \/ SendNo(p) \/ TakeVote(p)
  \/ \E p \in Participant, outcome \in Outcome : Finish(p, outcome)
  \/ DecideCommit \/ DecideAbort
  \/ \E outcome \in Outcome : SendDecision(outcome)
  \/ \E process \in Process : Crash(process) \/ Recover(process)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeInv ==
  /\ log \in [Participant -> {"working", "prepared"} \union Outcome]
  /\ coordinator_log \in {"none"} \union Outcome
  /\ votes \subseteq Participant
  /\ up \subseteq Process
  /\ shown \in [Participant -> {"none"} \union Outcome]
  /\ sent \subseteq Message

(* No participant commits while another aborts.                             *)
AgreementInv == \A p, q \in Participant : ~(log[p] = "committed" /\ log[q] = "aborted")

(* The coordinator never announces two decisions.                           *)
OneDecisionInv == ~(\A outcome \in Outcome : Decision(outcome) \in sent)

(* A commit has the promise of every participant.                           *)
CommitIsPromisedInv ==
  coordinator_log = "committed" => \A p \in Participant : log[p] \in {"prepared", "committed"}

(* What is decided stays decided, through all crashes.                      *)
DurableProp == [][\A p \in Participant : log[p] \in Outcome => log'[p] = log[p]]_vars

(* A participant shows its client what is in its log, and nothing else.     *)
ShownInv == shown = Shown(log, up)

(* Reached: every participant commits.                                      *)
CommittedReach == \A p \in Participant : log[p] = "committed"

(* Reached: the protocol blocks. Every participant has promised, and runs,  *)
(* and can do nothing but wait, as the coordinator is gone.                 *)
BlockedReach ==
  /\ Coordinator \notin up
  /\ \A p \in Participant :
       /\ p \in up /\ log[p] = "prepared"
       /\ \A outcome \in Outcome : ~ENABLED Finish(p, outcome)

(* Two-phase commit is an atomic commit: a refinement, which TLC checks.    *)
(* A participant that has committed still has promised to.                  *)
Atomic == INSTANCE AtomicCommit WITH
  promised <- {p \in Participant : log[p] \in {"prepared", "committed"}},
  outcome <- [p \in Participant |-> IF log[p] \in Outcome THEN log[p] ELSE "undecided"]
AtomicProp == Atomic!Spec
=============================================================================
