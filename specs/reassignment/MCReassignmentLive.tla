-------------------------- MODULE MCReassignmentLive --------------------------
(***************************************************************************)
(* What Reassignment achieves once the faults end. Until then anything     *)
(* happens within bounds. From some moment on, operators and faults rest,  *)
(* brokers come back, replicas catch up, and messages arrive. The bounds   *)
(* hold until that moment only: they never cut off a healing step.         *)
(*                                                                         *)
(* This module assumes that replicas catch up: a leader asks for every     *)
(* active replica. ReplicatedPartition says why it may.                    *)
(***************************************************************************)
EXTENDS MCReassignment

VARIABLE stable   \* The faults are over.

(* The steps that go on without faults, for each broker. *)
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

(* Each healing step brings the end nearer, and none can repeat forever. So  *)
(* it is enough that some healing step happens while one can.                *)
live_vars == <<vars, stable>>
Fairness == WF_live_vars(Stabilise) /\ WF_live_vars(Heals(Healing))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

NeverComesBack(b) == Never

(* A reassignment ends: it completes, or is cancelled, or the topic is gone. *)
(* Source: KIP-455. Broken by: a leader that is refused once and never asks  *)
(* again; a target that never comes back, see                                *)
(* broken/reassignment/TargetNeverBack.cfg.                                  *)
ReassignmentCompletesLive ==
  (Exists /\ InProgress(partition)) ~> (~Exists \/ ~InProgress(partition))

(* A partition with an active member in its ISR eventually has a leader, and *)
(* that broker knows that it leads.                                          *)
(* Source: KIP-631. Broken by: an unfencing without an election.             *)
LeaderReturnsLive ==
  (Exists /\ partition.leader = NoLeader) ~>
    (~Exists \/ (partition.leader # NoLeader /\ Leads(partition.leader)))

(* The left-hand sides, when only healing steps are left. *)
StableInProgressReach == stable /\ Exists /\ InProgress(partition)
StableLeaderlessReach == stable /\ Exists /\ partition.leader = NoLeader
StableRefusedReach == stable /\ Answered("INELIGIBLE_REPLICA")
==============================================================================
