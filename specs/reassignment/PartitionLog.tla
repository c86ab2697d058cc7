---------------------------- MODULE PartitionLog ----------------------------
(***************************************************************************)
(* A partition as a committed metadata log shows it. There are no requests *)
(* and no views of brokers. PartitionChange builds each record from a      *)
(* wanted state that may be asked for, given the active brokers.           *)
(* Reassignment refines this module (MCReassignmentRefinement), and so     *)
(* must any other spec that writes partition changes. The audit compares   *)
(* the changes of real partitions with it, record by record.               *)
(*                                                                         *)
(* Kafka's handler -> actions here (ReplicationControlManager where no     *)
(* class is given)                                                         *)
(*   changePartitionReassignment -> NewTarget                              *)
(*   cancelPartitionReassignment -> CancelTarget                           *)
(*   electLeader -> Elect                                                  *)
(*   maybeBalancePartitionLeaders -> Elect("PREFERRED")                    *)
(*   maybeElectUncleanLeaders -> Elect("UNCLEAN")                          *)
(*   alterPartition -> ChangeIsr                                           *)
(*   deleteTopics -> Delete                                                *)
(*   handleBrokerFenced -> Fence                                           *)
(*   handleBrokerUnfenced -> Unfence                                       *)
(*   handleBrokerInControlledShutdown -> ShutDown                          *)
(*   ClusterControlManager.registerBroker -> Register                      *)
(*   handleBrokerUnregistered -> Unregister                                *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Why a leader asks for an ISR, and every request that is refused.     *)
(*  - A batch of several records. The effect of one event on the partition *)
(*    and on a registration is one step.                                   *)
(***************************************************************************)
EXTENDS PartitionChange

CONSTANTS
  Broker,           \* The broker ids. Bounds Init and Next, not the actions.
  UncleanEnabled,   \* unclean.leader.election.enable of the topic.
  Nil               \* No partition.

VARIABLES
  partition,      \* The partition; Nil once its topic is deleted.
  registrations   \* [Broker -> registration]: as in Reassignment.

vars == <<partition, registrations>>

Active(b) ==
  /\ registrations[b].registered
  /\ ~registrations[b].fenced
  /\ ~registrations[b].in_controlled_shutdown
ActiveBrokers == {b \in DOMAIN registrations : Active(b)}

(* The partition changes as wanted; the registrations stay.                  *)
WriteChange(ask, acceptable) ==
  /\ partition # Nil
  /\ partition' = Replay(partition, Build(partition, ask, acceptable))
  /\ UNCHANGED registrations

(* The registration of one broker changes. *)
WriteRegistration(b, registration) ==
  registrations' = [registrations EXCEPT ![b] = registration]

LosesBroker(b) ==
  partition' =
    IF partition = Nil THEN Nil
    ELSE IF b \notin partition.isr THEN partition
    ELSE Replay(partition, Build(partition, WithoutBroker(partition, b, UncleanEnabled),
                                 ActiveBrokers \ {b}))

NewTarget(target) == WriteChange(NewAssignment(partition, target), ActiveBrokers)

CancelTarget ==
  /\ partition # Nil
  /\ InProgress(partition)
  /\ RevertNeedsForce(partition) => UncleanEnabled
  /\ WriteChange(Reverted(partition, UncleanEnabled), ActiveBrokers)

Elect(election) ==
  /\ partition # Nil
  /\ election = "PREFERRED" \/ partition.leader = NoLeader
  /\ WriteChange(NewLeader(partition, election), ActiveBrokers)

(* An ISR that the leader asked for: active replicas, the leader included.   *)
ChangeIsr(isr) ==
  /\ partition # Nil
  /\ partition.leader \in isr
  /\ isr \subseteq Members(partition.replicas) \cap ActiveBrokers
  /\ WriteChange(NewIsr(partition, isr, "RECOVERED", UncleanEnabled), ActiveBrokers)

Delete == partition # Nil /\ partition' = Nil /\ UNCHANGED registrations

Fence(b) ==
  /\ registrations[b].registered
  /\ WriteRegistration(b, [registrations[b] EXCEPT !.fenced = TRUE])
  /\ LosesBroker(b)

Unfence(b) ==
  /\ registrations[b].registered /\ registrations[b].fenced
  /\ WriteRegistration(b, [registrations[b] EXCEPT !.fenced = FALSE])
  /\ partition' =
       IF partition = Nil THEN Nil
       ELSE IF partition.leader # NoLeader THEN partition
       ELSE Replay(partition, Build(partition,
              NewLeader(partition, ElectionOf(UncleanEnabled)), ActiveBrokers \cup {b}))

ShutDown(b) ==
  /\ Active(b)
  /\ WriteRegistration(b, [registrations[b] EXCEPT !.in_controlled_shutdown = TRUE])
  /\ LosesBroker(b)

Register(b) ==
  /\ registrations[b].registered => registrations[b].fenced
  /\ \E epoch \in registrations[b].epoch + 1 .. registrations'[b].epoch :
       WriteRegistration(b, [epoch |-> epoch, registered |-> TRUE, fenced |-> TRUE,
                             in_controlled_shutdown |-> FALSE])
  /\ LosesBroker(b)

Unregister(b) ==
  /\ registrations[b].registered
  /\ WriteRegistration(b, [registrations[b] EXCEPT
       !.registered = FALSE, !.fenced = TRUE, !.in_controlled_shutdown = FALSE])
  /\ LosesBroker(b)

Init ==
  /\ \E replicas \in Assignments(Broker), active \in SUBSET Broker :
       partition = NewPartition(replicas, active)
  /\ registrations \in [Broker ->
       [epoch : {0}, registered : BOOLEAN, fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]]

Next ==
  \/ \E target \in Assignments(Broker) : NewTarget(target)
  \/ CancelTarget
  \/ \E election \in {"ONLINE", "PREFERRED", "UNCLEAN"} : Elect(election)
  \/ \E isr \in SUBSET Broker : ChangeIsr(isr)
  \/ Delete
  \/ \E b \in Broker : Fence(b)
  \/ \E b \in Broker : Unfence(b)
  \/ \E b \in Broker : ShutDown(b)
  \/ \E b \in Broker : Register(b)
  \/ \E b \in Broker : Unregister(b)

Spec == Init /\ [][Next]_vars
==============================================================================
