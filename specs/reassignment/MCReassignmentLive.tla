-------------------------- MODULE MCReassignmentLive --------------------------
(***************************************************************************)
(* What Reassignment achieves once the faults end. Until then anything     *)
(* happens within bounds; from some moment on operators and faults rest,   *)
(* brokers come back, replicas catch up, and messages arrive. The bounds   *)
(* hold until that moment only: what heals is never cut short.             *)
(*                                                                         *)
(* That replicas catch up is taken for granted here: a leader asks for     *)
(* whoever is active. It is in ReplicatedPartition why that is allowed.    *)
(***************************************************************************)
EXTENDS MCReassignment

VARIABLE stable   \* The faults are over.

(* What goes on without faults, for each broker. *)
Learns(b) == LearnPartition(b)
ComesBack(b) == UnfenceBroker(b)
AsksFor(b, r) ==
  /\ Leads(b)
  /\ Active(r)
  /\ r \notin leading[b].isr
  /\ SendAlterPartition(b, leading[b].isr \cup {r})
Asks(b) == \E r \in Broker : AsksFor(b, r)
IsAnswered(b) ==
  \E m \in InFlight(messages) :
    m.broker = b /\ (RefuseAlterPartition(m) \/ GrantAlterPartition(m))
Hears(b) ==
  \E m \in InFlight(messages) : m.broker = b /\ HandleAlterPartitionResponse(m)

Healing ==
  \E b \in Broker : Learns(b) \/ ComesBack(b) \/ Asks(b) \/ IsAnswered(b) \/ Hears(b)

Stabilise == ~stable /\ stable' = TRUE /\ UNCHANGED vars
AnythingHappens == ~stable /\ Next /\ Bounds' /\ UNCHANGED stable
Heals(action) == stable /\ action /\ UNCHANGED stable

LiveInit == Init /\ stable = FALSE
LiveNext == Stabilise \/ AnythingHappens \/ Heals(Healing)

(* Each healing step brings the end nearer, none can be repeated for ever;   *)
(* so it is enough that some of them happens while one can.                  *)
live_vars == <<vars, stable>>
Fairness == WF_live_vars(Stabilise) /\ WF_live_vars(Heals(Healing))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

NeverComesBack(b) == Never

(* A reassignment ends: it is complete, or was taken back, or the topic is   *)
(* gone. Source: KIP-455. Broken by: a leader that is refused once and never *)
(* asks again; by a target that never comes back, see                        *)
(* broken/reassignment/TargetNeverBack.cfg.                                  *)
ReassignmentCompletesLive ==
  (Exists /\ InProgress(partition)) ~> (~Exists \/ ~InProgress(partition))

(* A partition with an active member in its ISR has a leader in the end, and *)
(* it knows that it leads. Source: KIP-631. Broken by: an unfencing without  *)
(* an election.                                                              *)
LeaderReturnsLive ==
  (Exists /\ partition.leader = NoLeader) ~>
    (~Exists \/ (partition.leader # NoLeader /\ Leads(partition.leader)))

(* The left-hand sides, when only healing was left to answer them. *)
StableInProgressReach == stable /\ Exists /\ InProgress(partition)
StableLeaderlessReach == stable /\ Exists /\ partition.leader = NoLeader
StableRefusedReach == stable /\ Answered("INELIGIBLE_REPLICA")
==============================================================================
