---------------------------- MODULE Reassignment ----------------------------
(***************************************************************************)
(* One partition of one topic, as the controller has it, and as the        *)
(* brokers that take themselves for its leader have it: reassignment,      *)
(* leader election, the in-sync replicas, and every answer to a leader     *)
(* that wants to change them.                                              *)
(*                                                                         *)
(* Sources: KIP-455, KIP-631 (partition reassignment, leader election),    *)
(* KIP-497 (AlterPartition), KIP-841 and KIP-903 (who may join the ISR),   *)
(* and Kafka 4.1 as built. Where they differ Kafka is followed, and        *)
(* docs/kip-differences.md has the row.                                    *)
(*                                                                         *)
(* How a partition changes is in PartitionChange: this module says when.   *)
(* What the replicas hold is in ReplicatedPartition, which extends it; the *)
(* eligible leader replicas of KIP-966 are in ReassignmentElr.             *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. What the controller writes is committed at once; it never      *)
(*    fails over. So NOT_CONTROLLER answers only a request from the future.*)
(*  - Leases: a broker is fenced and unfenced at will (specs/lease).       *)
(*  - A batch of several records: what one event does to the partition and *)
(*    to a registration is one step.                                       *)
(*  - Errors of an operator's request, which change nothing: a target that *)
(*    is empty, has a broker twice or one that is not registered           *)
(*    (INVALID_REPLICA_ASSIGNMENT), a cancellation when there is nothing   *)
(*    to cancel (NO_REASSIGNMENT_IN_PROGRESS). They are guards here.       *)
(*  - Brokers that learn every version in turn: who learns at all, learns  *)
(*    the latest. To learn an older one now is to have learned it then,    *)
(*    unless an answer has moved the leader ahead since: then Kafka's      *)
(*    leader passes over what is older (Partition.makeLeader), and here    *)
(*    there is nothing to pass over.                                       *)
(*  - Stale broker epochs at a leader: it asks for its members by the      *)
(*    epochs they have in the registrations at that instant. Only a        *)
(*    message gets old. ReplicatedPartition has the epochs from fetches.   *)
(*  - A process that registers while its predecessor is still unfenced.    *)
(*  - A request that its sender repeats and that overtakes the first copy, *)
(*    unless a model asks for it (RetryAlterPartition).                    *)
(***************************************************************************)
EXTENDS PartitionChange, Network

CONSTANTS
  Broker,           \* The broker ids.
  InitialReplicas,  \* The assignment the topic was created with.
  UncleanEnabled,   \* unclean.leader.election.enable of the topic.
  LateHeartbeats,   \* TRUE: a broker that is shutting down may be unfenced, by a heartbeat
                    \* that was overtaken (specs/lease, Reorder).
  Nil               \* No partition; no leadership.

ASSUME Constants ==
  /\ IsFiniteSet(Broker)
  /\ Members(BrokerOrder) = Broker /\ Len(BrokerOrder) = Cardinality(Broker)
  /\ IsAssignment(InitialReplicas, Broker)
  /\ UncleanEnabled \in BOOLEAN
  /\ LateHeartbeats \in BOOLEAN

VARIABLES
  partition,      \* The partition in the log; Nil once its topic is deleted.
  registrations,  \* [Broker -> registration]: the registrations in the log.
  leading,        \* [Broker -> view or Nil]: what a broker knows of the partition that,
                  \* as far as it knows, it leads.
  messages        \* The bag of AlterPartition requests and responses in flight.

vars == <<partition, registrations, leading, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

(* The epoch of a broker that is not registered is that of its last          *)
(* registration: the next one is greater.                                    *)
Registration ==
  [epoch : Nat, registered : BOOLEAN, fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]

(* pending: the ISR that it asked for and has no answer to; {}: it asked for *)
(* nothing. Kafka: Partition.partitionState.                                 *)
View ==
  [leader_epoch : Nat, partition_epoch : Nat, replicas : SUBSET Broker, isr : SUBSET Broker,
   pending : SUBSET Broker]

(* isr: in the message a function, from the members of the wanted ISR to the *)
(* broker epochs that the sender knows.                                      *)
AlterPartitionRequest ==
  [type : {"AlterPartitionRequest"}, broker : Broker, broker_epoch : Nat, leader_epoch : Nat,
   partition_epoch : Nat, isr : SUBSET Broker, recovery : {"RECOVERED", "RECOVERING"}]

(* leader_epoch, partition_epoch: those of the request, which tell to whom   *)
(* it is an answer. new_isr, new_partition_epoch: what holds now, if it is   *)
(* NONE.                                                                     *)
AlterPartitionResponse ==
  [type : {"AlterPartitionResponse"}, broker : Broker, leader_epoch : Nat,
   partition_epoch : Nat, error : {"NONE", "STALE_BROKER_EPOCH", "UNKNOWN_TOPIC_ID",
     "NOT_CONTROLLER", "FENCED_LEADER_EPOCH", "INVALID_REQUEST", "INVALID_UPDATE_VERSION",
     "INELIGIBLE_REPLICA", "NEW_LEADER_ELECTED"},
   new_isr : SUBSET Broker, new_partition_epoch : Nat]

IsMessage(m) ==
  IF m.type = "AlterPartitionRequest"
  THEN /\ [m EXCEPT !.isr = DOMAIN @] \in AlterPartitionRequest
       /\ \A r \in DOMAIN m.isr : m.isr[r] \in Nat \cup {NoEpoch}
  ELSE m \in AlterPartitionResponse

Exists == partition # Nil

TypeOK ==
  /\ Exists => partition \in Partition(Broker) /\ IsAssignment(partition.replicas, Broker)
  /\ registrations \in [Broker -> Registration]
  /\ leading \in [Broker -> View \cup {Nil}]
  /\ \A m \in InFlight(messages) : IsMessage(m) /\ messages[m] \in Nat \ {0}
------------------------------------------------------------------------------
(* What the controller asks of its own state                                 *)

Registered(b) == registrations[b].registered

(* A broker that may lead and be in sync. Kafka: ClusterControlManager.      *)
(* isActive.                                                                 *)
Active(b) ==
  /\ Registered(b)
  /\ ~registrations[b].fenced
  /\ ~registrations[b].in_controlled_shutdown

RegisteredBrokers == {b \in Broker : Registered(b)}
ActiveBrokers == {b \in Broker : Active(b)}

(* The partition becomes what the record for `ask` makes of it.              *)
ChangePartition(ask, acceptable) ==
  partition' = Replay(partition, Build(partition, ask, acceptable))

(* Broker b may no longer lead or be in sync: out of the ISR with it, if it  *)
(* is in. Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates.      *)
TakeOutOfIsr(b) ==
  IF Exists /\ b \in partition.isr
  THEN ChangePartition(WithoutBroker(partition, b, UncleanEnabled), ActiveBrokers \ {b})
  ELSE UNCHANGED partition
------------------------------------------------------------------------------
Init ==
  /\ partition = NewPartition(InitialReplicas, Broker)
  /\ registrations = [b \in Broker |->
       [epoch |-> 0, registered |-> TRUE, fenced |-> FALSE, in_controlled_shutdown |-> FALSE]]
  /\ leading = [b \in Broker |-> Nil]
  /\ messages = NoMessages
------------------------------------------------------------------------------
(* The operator, at the controller                                           *)

(***************************************************************************)
(* The operator gives the partition a new assignment. It may be complete   *)
(* at once: a mere reordering, or a removal while everybody who stays is   *)
(* in sync. Given while another reassignment is under way, it takes that   *)
(* one's place. Targets may be fenced: then it waits for them. An election *)
(* here never costs data, whatever the topic allows.                       *)
(*                                                                         *)
(* Python: alter_partition_reassignments.                                  *)
(* Kafka: ReplicationControlManager.changePartitionReassignment.           *)
(***************************************************************************)
StartReassignment(target) ==
  /\ Exists
  /\ IsAssignment(target, RegisteredBrokers)
  /\ ChangePartition(NewAssignment(partition, target), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The operator takes a reassignment back. If nobody who was there before  *)
(* is in sync, that needs an unclean election, and the topic must allow    *)
(* it: otherwise INVALID_REPLICA_ASSIGNMENT.                               *)
(*                                                                         *)
(* Python: alter_partition_reassignments.                                  *)
(* Kafka: ReplicationControlManager.cancelPartitionReassignment.           *)
(***************************************************************************)
CancelReassignment ==
  /\ Exists
  /\ InProgress(partition)
  /\ RevertNeedsForce(partition) => UncleanEnabled
  /\ ChangePartition(Reverted(partition, UncleanEnabled), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The preferred replica, the first of the list, is to lead. If it cannot, *)
(* this may still elect somebody else, but only out of the ISR.            *)
(*                                                                         *)
(* Python: elect_leaders.                                                  *)
(* Kafka: ReplicationControlManager.electLeader, and the periodic          *)
(* maybeBalancePartitionLeaders.                                           *)
(***************************************************************************)
ElectPreferredLeader ==
  /\ Exists
  /\ partition.leader # partition.replicas[1]
  /\ ChangePartition(NewLeader(partition, "PREFERRED"), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The operator wants a leader at any price, or the controller does so by  *)
(* itself where the topic allows it. Only for a partition without leader.  *)
(*                                                                         *)
(* Python: elect_leaders.                                                  *)
(* Kafka: ReplicationControlManager.electLeader, and the periodic          *)
(* maybeElectUncleanLeaders.                                               *)
(***************************************************************************)
ElectUncleanLeader ==
  /\ Exists
  /\ partition.leader = NoLeader
  /\ ChangePartition(NewLeader(partition, "UNCLEAN"), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The topic is deleted, and with it any reassignment under way.           *)
(*                                                                         *)
(* Python: delete_topics.                                                  *)
(* Kafka: ReplicationControlManager.deleteTopics.                          *)
(***************************************************************************)
DeleteTopic ==
  /\ Exists
  /\ partition' = Nil
  /\ UNCHANGED <<registrations, leading, messages>>
------------------------------------------------------------------------------
(* Brokers come and go, at the controller                                    *)

(***************************************************************************)
(* A broker is fenced: it leaves the ISR and leadership first. The last    *)
(* member stays in the ISR, and the partition has no leader.               *)
(*                                                                         *)
(* Python: fence_broker.                                                   *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                    *)
(***************************************************************************)
FenceBroker(b) ==
  /\ Registered(b)
  /\ ~registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b].fenced = TRUE]
  /\ TakeOutOfIsr(b)
  /\ UNCHANGED <<leading, messages>>

(***************************************************************************)
(* A broker is unfenced. If the partition has no leader, it may become the *)
(* leader. It never joins an ISR by this: a leader must ask for it.        *)
(*                                                                         *)
(* Python: unfence_broker.                                                 *)
(* Kafka: ReplicationControlManager.handleBrokerUnfenced.                  *)
(***************************************************************************)
UnfenceBroker(b) ==
  /\ Registered(b)
  /\ registrations[b].fenced
  /\ LateHeartbeats \/ ~registrations[b].in_controlled_shutdown
  /\ registrations' = [registrations EXCEPT ![b].fenced = FALSE]
  /\ IF Exists /\ partition.leader = NoLeader
     THEN ChangePartition(NewLeader(partition, ElectionOf(UncleanEnabled)),
                          ActiveBrokers \cup {b})
     ELSE UNCHANGED partition
  /\ UNCHANGED <<leading, messages>>

(***************************************************************************)
(* A broker wants to stop: the others take over what it leads.             *)
(*                                                                         *)
(* Python: begin_controlled_shutdown.                                      *)
(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.      *)
(***************************************************************************)
BeginControlledShutdown(b) ==
  /\ Active(b)
  /\ registrations' = [registrations EXCEPT ![b].in_controlled_shutdown = TRUE]
  /\ TakeOutOfIsr(b)
  /\ UNCHANGED <<leading, messages>>

(* The messages that process b would still have received. *)
AnswersTo(b) == {m \in InFlight(messages) : m.type = "AlterPartitionResponse" /\ m.broker = b}

(***************************************************************************)
(* A new process of broker b registers, under a greater epoch: the old one *)
(* is gone, and what it asked for may still arrive.                        *)
(*                                                                         *)
(* Python: register_broker.                                                *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RegisterBroker(b) ==
  /\ Registered(b) => registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b] =
       [epoch |-> @.epoch + 1, registered |-> TRUE, fenced |-> TRUE,
        in_controlled_shutdown |-> FALSE]]
  /\ leading' = [leading EXCEPT ![b] = Nil]
  /\ messages' = Drop(messages, AnswersTo(b))
  /\ UNCHANGED partition

(***************************************************************************)
(* The operator removes a broker. It stays in the list of replicas.        *)
(*                                                                         *)
(* Python: unregister_broker.                                              *)
(* Kafka: ReplicationControlManager.handleBrokerUnregistered.              *)
(***************************************************************************)
UnregisterBroker(b) ==
  /\ Registered(b)
  /\ registrations' = [registrations EXCEPT ![b] =
       [@ EXCEPT !.registered = FALSE, !.fenced = TRUE, !.in_controlled_shutdown = FALSE]]
  /\ TakeOutOfIsr(b)
  /\ UNCHANGED <<leading, messages>>
------------------------------------------------------------------------------
(* AlterPartition, at the controller                                         *)

EligibleEpochs == [b \in ActiveBrokers |-> registrations[b].epoch]

(* The answer to request m, the first that applies.                          *)
ErrorFor(m) ==
  IF ~Registered(m.broker) \/ registrations[m.broker].epoch # m.broker_epoch
  THEN "STALE_BROKER_EPOCH"
  ELSE IF ~Exists THEN "UNKNOWN_TOPIC_ID"
  ELSE AlterPartitionError(partition, m, EligibleEpochs)

Response(m, error, isr, new_partition_epoch) ==
  [type |-> "AlterPartitionResponse", broker |-> m.broker, leader_epoch |-> m.leader_epoch,
   partition_epoch |-> m.partition_epoch, error |-> error, new_isr |-> isr,
   new_partition_epoch |-> new_partition_epoch]

(* An answer reaches the process that asked, if it is still there.           *)
Reply(m, response) ==
  IF registrations[m.broker].epoch = m.broker_epoch
  THEN Answer(messages, m, response) ELSE Take(messages, m)

(***************************************************************************)
(* A request is refused and changes nothing.                               *)
(*                                                                         *)
(* Python: validate_alter_partition.                                       *)
(* Kafka: ReplicationControlManager.alterPartition.                        *)
(***************************************************************************)
RefuseAlterPartition(m) ==
  /\ m.type = "AlterPartitionRequest"
  /\ ErrorFor(m) # "NONE"
  /\ messages' = Reply(m, Response(m, ErrorFor(m), {}, 0))
  /\ UNCHANGED <<partition, registrations, leading>>

(***************************************************************************)
(* A request is granted. The ISR may come out smaller than asked for, when *)
(* this completes a reassignment; the answer says what it is. If it is     *)
(* what it was, nothing is written.                                        *)
(*                                                                         *)
(* Python: alter_partition.                                                *)
(* Kafka: ReplicationControlManager.alterPartition.                        *)
(***************************************************************************)
GrantAlterPartition(m) ==
  LET ask    == NewIsr(partition, DOMAIN m.isr, m.recovery, UncleanEnabled)
      record == Build(partition, ask, ActiveBrokers)
      after  == Replay(partition, record)
      error  == AnswerAfter(m, record)
  IN
  /\ m.type = "AlterPartitionRequest"
  /\ ErrorFor(m) = "NONE"
  /\ partition' = after
  /\ messages' = Reply(m,
       IF error = "NONE" THEN Response(m, error, after.isr, after.partition_epoch)
       ELSE Response(m, error, {}, 0))
  /\ UNCHANGED <<registrations, leading>>
------------------------------------------------------------------------------
(* The brokers                                                               *)

Leads(b) == leading[b] # Nil

(* What broker b knows once it has replayed partition p.                     *)
ViewOf(b, p) ==
  IF p = Nil THEN Nil
  ELSE IF p.leader # b THEN Nil
  ELSE [leader_epoch |-> p.leader_epoch, partition_epoch |-> p.partition_epoch,
        replicas |-> Members(p.replicas), isr |-> p.isr, pending |-> {}]

(* The latest metadata tells broker b something about its leadership.        *)
IsNews(b) ==
  LET new == ViewOf(b, partition)
  IN  IF new = Nil \/ ~Leads(b) THEN leading[b] # new
      ELSE <<leading[b].leader_epoch, leading[b].partition_epoch>>
             # <<new.leader_epoch, new.partition_epoch>>

(***************************************************************************)
(* A broker replays the metadata: it begins to lead, no longer leads, or   *)
(* learns of a change. What it had asked for is void then.                 *)
(*                                                                         *)
(* Python: learn_partition.                                                *)
(* Kafka: ReplicaManager.applyDelta, Partition.makeLeader, makeFollower.   *)
(***************************************************************************)
LearnPartition(b) ==
  /\ IsNews(b)
  /\ leading' = [leading EXCEPT ![b] = ViewOf(b, partition)]
  /\ UNCHANGED <<partition, registrations, messages>>

(* An ISR that a leader asks for: one member more, or some less.             *)
(* Kafka: Partition.maybeExpandIsr, maybeShrinkIsr.                          *)
MayAskFor(view, b, isr) ==
  /\ b \in isr
  /\ isr \subseteq view.replicas
  /\ \/ \E r \in view.replicas \ view.isr : isr = view.isr \cup {r}
     \/ isr \subseteq view.isr /\ isr # view.isr

(* A leader sends a request; epochs: from each member of the wanted ISR to   *)
(* the broker epoch that the leader knows of it.                             *)
RequestIsr(b, epochs) ==
  /\ leading[b].pending = {}
  /\ MayAskFor(leading[b], b, DOMAIN epochs)
  /\ messages' = Put(messages,
       [type |-> "AlterPartitionRequest", broker |-> b,
        broker_epoch |-> registrations[b].epoch,
        leader_epoch |-> leading[b].leader_epoch,
        partition_epoch |-> leading[b].partition_epoch,
        isr |-> epochs, recovery |-> "RECOVERED"])
  /\ leading' = [leading EXCEPT ![b].pending = DOMAIN epochs]
  /\ UNCHANGED <<partition, registrations>>

(***************************************************************************)
(* A leader asks for another ISR. It knows its followers' broker epochs as *)
(* they are now (in ReplicatedPartition: by their fetches), and that its   *)
(* recovery is over. One request at a time.                                *)
(*                                                                         *)
(* Python: send_alter_partition.                                           *)
(* Kafka: Partition.submitAlterPartition, AlterPartitionManager.submit.    *)
(***************************************************************************)
SendAlterPartition(b, isr) ==
  /\ Leads(b)
  /\ RequestIsr(b, [r \in isr |-> registrations[r].epoch])

(***************************************************************************)
(* A leader hears nothing and sends its request once more.                 *)
(*                                                                         *)
(* Kafka: AlterPartitionManager, retry after an error of the connection.   *)
(***************************************************************************)
RetryAlterPartition(m) ==
  /\ m.type = "AlterPartitionRequest"
  /\ Leads(m.broker)
  /\ leading[m.broker].pending = DOMAIN m.isr
  /\ leading[m.broker].leader_epoch = m.leader_epoch
  /\ leading[m.broker].partition_epoch = m.partition_epoch
  /\ messages' = Put(messages, m)
  /\ UNCHANGED <<partition, registrations, leading>>

(* Response m answers what its receiver waits for.                           *)
IsAwaited(m) ==
  /\ Leads(m.broker)
  /\ leading[m.broker].pending # {}
  /\ leading[m.broker].leader_epoch = m.leader_epoch
  /\ leading[m.broker].partition_epoch = m.partition_epoch

(***************************************************************************)
(* The answer arrives. Granted: the ISR is what the answer says. A replica *)
(* that may not join: the ISR is what it was, and the leader may ask again *)
(* later. Any other refusal tells of metadata that the leader has yet to   *)
(* learn: until then it must reckon with both (!), and asks nothing.       *)
(*                                                                         *)
(* Python: on_alter_partition_response.                                    *)
(* Kafka: Partition.handleAlterPartitionUpdate, handleAlterPartitionError. *)
(***************************************************************************)
HandleAlterPartitionResponse(m) ==
  LET view == leading[m.broker] IN
  /\ m.type = "AlterPartitionResponse"
  /\ messages' = Take(messages, m)
  /\ leading' = IF ~IsAwaited(m) THEN leading
                ELSE [leading EXCEPT ![m.broker] =
                  CASE m.error = "NONE" ->
                         [view EXCEPT !.isr = m.new_isr, !.pending = {},
                                      !.partition_epoch = m.new_partition_epoch]
                    [] m.error = "INELIGIBLE_REPLICA" -> [view EXCEPT !.pending = {}]
                    [] OTHER -> view]                                        \* (!)
  /\ UNCHANGED <<partition, registrations>>

(***************************************************************************)
(* Somebody sends a request that no correct leader sends: the checks must  *)
(* hold against it. A model says which.                                    *)
(***************************************************************************)
StrayRequests == {}
SendStrayRequest(m) ==
  /\ messages' = Put(messages, m)
  /\ UNCHANGED <<partition, registrations, leading>>
------------------------------------------------------------------------------
(* The ISR that a leader must reckon with: what it knows, and what the       *)
(* controller may have made of it by now. The high watermark waits for all   *)
(* of these. Kafka: PartitionState.maximalIsr.                               *)
MaximalIsr(b) == leading[b].isr \cup leading[b].pending

(* The assignments an operator may think of. *)
SomeTargets == Assignments(Broker)

OperatorNext ==
  \/ \E target \in SomeTargets : StartReassignment(target)
  \/ CancelReassignment
  \/ ElectPreferredLeader
  \/ ElectUncleanLeader
  \/ DeleteTopic
  \/ \E b \in Broker : UnregisterBroker(b)

BrokerNext ==
  \/ \E b \in Broker : FenceBroker(b)
  \/ \E b \in Broker : UnfenceBroker(b)
  \/ \E b \in Broker : BeginControlledShutdown(b)
  \/ \E b \in Broker : RegisterBroker(b)

LeaderNext ==
  \/ \E b \in Broker : LearnPartition(b)
  \/ \E b \in Broker, isr \in SUBSET Broker : SendAlterPartition(b, isr)
  \/ \E m \in InFlight(messages) : RetryAlterPartition(m)
  \/ \E m \in InFlight(messages) : RefuseAlterPartition(m)
  \/ \E m \in InFlight(messages) : GrantAlterPartition(m)
  \/ \E m \in InFlight(messages) : HandleAlterPartitionResponse(m)
  \/ \E m \in StrayRequests : SendStrayRequest(m)

Next == OperatorNext \/ BrokerNext \/ LeaderNext

Spec == Init /\ [][Next]_vars
==============================================================================
