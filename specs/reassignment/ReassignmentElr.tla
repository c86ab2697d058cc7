--------------------------- MODULE ReassignmentElr ---------------------------
(***************************************************************************)
(* Reassignment with the eligible leader replicas (ELR) of KIP-966. The    *)
(* brokers act, and the controller answers, as in Reassignment.            *)
(* PartitionChangeElr builds what the controller writes, which says more.  *)
(*                                                                         *)
(* Sources: KIP-966, and Kafka 4.1 as built with the feature               *)
(* eligible.leader.replicas.version 1. Every restart counts as unclean.    *)
(*                                                                         *)
(* Kafka's handler -> actions here (ReplicationControlManager where no     *)
(* class is given)                                                         *)
(*   changePartitionReassignment -> StartReassignmentElr                   *)
(*   cancelPartitionReassignment -> CancelReassignmentElr                  *)
(*   electLeader, maybeElectUncleanLeaders -> ElectUncleanLeaderElr        *)
(*   handleBrokerFenced -> FenceBrokerElr                                  *)
(*   handleBrokerUnfenced -> UnfenceBrokerElr                              *)
(*   ClusterControlManager.registerBroker, handleBrokerShutdown ->         *)
(*     RegisterBrokerElr                                                   *)
(*   alterPartition -> GrantAlterPartitionElr, RequestRefused              *)
(*   ReplicaManager.applyDelta -> PartitionLearned                         *)
(*   AlterPartitionManager.submit -> RequestSent                           *)
(*   Partition.handleAlterPartitionUpdate, handleAlterPartitionError ->    *)
(*     AnswerReceived                                                      *)
(*                                                                         *)
(* What is not modelled, besides what Reassignment leaves out              *)
(*  - A broker that shows by its previous epoch that it stopped cleanly.   *)
(*  - The effective min.insync.replicas counts the replicas of partition 0 *)
(*    of a topic. The partition here is partition 0.                       *)
(*  - Deleting the topic.                                                  *)
(*  - Unregistering a broker, controlled shutdown, preferred elections,    *)
(*    and requests that are repeated or strays.                            *)
(*  - Cancellations by force, and anything else that needs a topic that    *)
(*    allows unclean elections. No model allows them.                      *)
(***************************************************************************)
EXTENDS PartitionChangeElr, Reassignment

CONSTANT MinIsr   \* min.insync.replicas of the topic.

ASSUME MinIsr \in Nat \ {0}

VARIABLE eligibility   \* The ELR and the last known leader, in the log.

elr_vars == <<vars, eligibility>>

ElrTypeOK == eligibility \in Eligibility(Broker)

(* Kafka: ReplicationControlManager.getTopicEffectiveMinIsr.                 *)
EffectiveMinIsr ==
  IF MinIsr < Len(partition.replicas) THEN MinIsr ELSE Len(partition.replicas)

ElrInit == Init /\ eligibility = NoEligibility

(* The partition and the eligibility change by the record for `ask`.         *)
Change(ask, acceptable, unclean_shutdown) ==
  LET record == BuildElr(partition, eligibility, ask, acceptable, EffectiveMinIsr,
                         unclean_shutdown)
  IN  /\ partition' = Replay(partition, record)
      /\ eligibility' = ReplayElr(eligibility, record)

TakeOut(b, unclean_shutdown) ==
  IF b \in partition.isr \/ b \in unclean_shutdown \cap eligibility.elr
  THEN Change(WithoutBroker(partition, b, UncleanEnabled), ActiveBrokers \ {b},
              unclean_shutdown)
  ELSE UNCHANGED <<partition, eligibility>>
------------------------------------------------------------------------------
(* The actions of Reassignment, with the longer record. Each stands for the  *)
(* action that its name begins with, and cites the same code of Kafka.       *)

StartReassignmentElr(target) ==
  /\ IsAssignment(target, RegisteredBrokers)
  /\ Change(NewAssignment(partition, target), ActiveBrokers, {})
  /\ UNCHANGED <<registrations, leading, messages>>

CancelReassignmentElr ==
  /\ InProgress(partition)
  /\ RevertNeedsForce(partition) => UncleanEnabled
  /\ Change(Reverted(partition, UncleanEnabled), ActiveBrokers, {})
  /\ UNCHANGED <<registrations, leading, messages>>

ElectUncleanLeaderElr ==
  /\ partition.leader = NoLeader
  /\ Change(NewLeader(partition, "UNCLEAN"), ActiveBrokers, {})
  /\ UNCHANGED <<registrations, leading, messages>>

FenceBrokerElr(b) ==
  /\ Registered(b)
  /\ registrations' = [registrations EXCEPT ![b].fenced = TRUE]
  /\ TakeOut(b, {})
  /\ UNCHANGED <<leading, messages>>

UnfenceBrokerElr(b) ==
  /\ Registered(b)
  /\ registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b].fenced = FALSE]
  /\ IF partition.leader = NoLeader
     THEN Change(NewLeader(partition, ElectionOf(UncleanEnabled)), ActiveBrokers \cup {b}, {})
     ELSE UNCHANGED <<partition, eligibility>>
  /\ UNCHANGED <<leading, messages>>

(***************************************************************************)
(* A new process registers. It may have lost the data of the old process,  *)
(* so it leaves the ISR and the ELR.                                       *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerShutdown.                  *)
(***************************************************************************)
RegisterBrokerElr(b) ==
  /\ Registered(b) => registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b] =
       [epoch |-> @.epoch + 1, registered |-> TRUE, fenced |-> TRUE,
        in_controlled_shutdown |-> FALSE]]
  /\ leading' = [leading EXCEPT ![b] = Nil]
  /\ messages' = Drop(messages, AnswersTo(b))
  /\ TakeOut(b, {b})

GrantAlterPartitionElr(m) ==
  LET ask    == NewIsr(partition, DOMAIN m.isr, m.recovery, UncleanEnabled)
      record == BuildElr(partition, eligibility, ask, ActiveBrokers, EffectiveMinIsr, {})
      after  == Replay(partition, record)
      error  == AnswerAfter(m, record)
  IN
  /\ m.type = "AlterPartitionRequest"
  /\ ErrorFor(m) = "NONE"
  /\ partition' = after
  /\ eligibility' = ReplayElr(eligibility, record)
  /\ messages' = Reply(m,
       IF error = "NONE" THEN Response(m, error, after.isr, after.partition_epoch)
       ELSE Response(m, error, {}, 0))
  /\ UNCHANGED <<registrations, leading>>

(* The steps of the brokers are the same as without an ELR. *)
PartitionLearned(b) == LearnPartition(b) /\ UNCHANGED eligibility
RequestSent(b, isr) == SendAlterPartition(b, isr) /\ UNCHANGED eligibility
RequestRefused(m) == RefuseAlterPartition(m) /\ UNCHANGED eligibility
AnswerReceived(m) == HandleAlterPartitionResponse(m) /\ UNCHANGED eligibility

ElrNext ==
  \/ \E target \in SomeTargets : StartReassignmentElr(target)
  \/ CancelReassignmentElr
  \/ ElectUncleanLeaderElr
  \/ \E b \in Broker : FenceBrokerElr(b)
  \/ \E b \in Broker : UnfenceBrokerElr(b)
  \/ \E b \in Broker : RegisterBrokerElr(b)
  \/ \E b \in Broker : PartitionLearned(b)
  \/ \E b \in Broker, isr \in SUBSET Broker : RequestSent(b, isr)
  \/ \E m \in InFlight(messages) : RequestRefused(m)
  \/ \E m \in InFlight(messages) : GrantAlterPartitionElr(m)
  \/ \E m \in InFlight(messages) : AnswerReceived(m)

ElrSpec == ElrInit /\ [][ElrNext]_elr_vars
==============================================================================
