---------------------------- MODULE Reassignment ----------------------------
(***************************************************************************)
(* One partition of one topic: its state at the controller, and its state  *)
(* at the brokers that believe they lead it. The module covers             *)
(* reassignment, leader election, the in-sync replicas, and every answer   *)
(* to a leader that wants to change them.                                  *)
(*                                                                         *)
(* Sources: KIP-455, KIP-631 (partition reassignment, leader election),    *)
(* KIP-497 (AlterPartition), KIP-841 and KIP-903 (which replicas may join  *)
(* the ISR), and Kafka 4.1 as built. Where the KIPs and Kafka differ, the  *)
(* module follows Kafka, and docs/kip-differences.md has a row.            *)
(*                                                                         *)
(* PartitionChange says how a partition changes; this module says when.    *)
(* ReplicatedPartition extends this module with the data of the replicas.  *)
(* ReassignmentElr adds the eligible leader replicas of KIP-966.           *)
(*                                                                         *)
(* Kafka's handler -> actions here (ReplicationControlManager where no     *)
(* class is given)                                                         *)
(*   changePartitionReassignment -> StartReassignment                      *)
(*   cancelPartitionReassignment -> CancelReassignment                     *)
(*   electLeader -> ElectPreferredLeader, ElectUncleanLeader               *)
(*   maybeBalancePartitionLeaders -> ElectPreferredLeader                  *)
(*   maybeElectUncleanLeaders -> ElectUncleanLeader                        *)
(*   deleteTopics -> DeleteTopic                                           *)
(*   handleBrokerFenced -> FenceBroker                                     *)
(*   handleBrokerUnfenced -> UnfenceBroker                                 *)
(*   handleBrokerInControlledShutdown -> BeginControlledShutdown           *)
(*   ClusterControlManager.registerBroker -> RegisterBroker                *)
(*   handleBrokerUnregistered -> UnregisterBroker                          *)
(*   alterPartition -> RefuseAlterPartition, GrantAlterPartition           *)
(*   ReplicaManager.applyDelta -> LearnPartition                           *)
(*   Partition.makeLeader, makeFollower -> LearnPartition                  *)
(*   Partition.maybeExpandIsr, maybeShrinkIsr, submitAlterPartition ->     *)
(*     SendAlterPartition                                                  *)
(*   AlterPartitionManager.submit -> SendAlterPartition,                   *)
(*     RetryAlterPartition after an error of the connection                *)
(*   Partition.handleAlterPartitionUpdate, handleAlterPartitionError ->    *)
(*     HandleAlterPartitionResponse                                        *)
(*   no handler -> SendStrayRequest                                        *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. What the controller writes is committed at once, and it never  *)
(*    fails over. So NOT_CONTROLLER answers only a request whose epochs    *)
(*    are ahead of the log.                                                *)
(*  - Leases. A broker may be fenced and unfenced at any moment            *)
(*    (specs/lease).                                                       *)
(*  - A batch of several records. The effect of one event on the partition *)
(*    and on a registration is one step.                                   *)
(*  - Errors of an operator's request, which change nothing: a target that *)
(*    is empty, has a broker twice or one that is not registered           *)
(*    (INVALID_REPLICA_ASSIGNMENT), a cancellation when there is nothing   *)
(*    to cancel (NO_REASSIGNMENT_IN_PROGRESS). They are guards here.       *)
(*  - Brokers that learn every version in turn. A broker that learns the   *)
(*    partition here learns its latest version. Learning an older version  *)
(*    now equals having learned it earlier, unless an answer has moved the *)
(*    leader ahead since. Then Kafka's leader skips older versions         *)
(*    (Partition.makeLeader), and here there is nothing to skip. The       *)
(*    version that the answer told is not skipped: see                     *)
(*    MCReassignmentAnswered.                                              *)
(*  - Stale broker epochs at a leader. It asks for its members by the      *)
(*    epochs that they have in the registrations at that instant. Only a   *)
(*    message gets old. ReplicatedPartition takes the epochs from fetches. *)
(*  - A process that registers while its predecessor is still unfenced.    *)
(*  - A request that its sender repeats and that overtakes the first copy, *)
(*    unless a model allows it (RetryAlterPartition).                      *)
(***************************************************************************)
EXTENDS PartitionChange, Network

CONSTANTS
  Broker,           \* The broker ids.
  InitialReplicas,  \* The assignment with which the topic was created.
  UncleanEnabled,   \* unclean.leader.election.enable of the topic.
  LateHeartbeats,   \* TRUE: an overtaken heartbeat may unfence a broker that is shutting
                    \* down (specs/lease, Reorder).
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
  leading,        \* [Broker -> view or Nil]: what a broker knows of the partition while
                  \* it believes that it leads it.
  messages        \* The bag of AlterPartition requests and responses in flight.

vars == <<partition, registrations, leading, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

(* An unregistered broker keeps the epoch of its last registration: the next *)
(* epoch is greater.                                                         *)
Registration ==
  [epoch : Nat, registered : BOOLEAN, fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]

(* pending: the ISR that the broker asked for and has no answer to; {} if it *)
(* asked for nothing.                                                        *)
(* Kafka: Partition.partitionState.                                          *)
View ==
  [leader_epoch : Nat, partition_epoch : Nat, replicas : SUBSET Broker, isr : SUBSET Broker,
   pending : SUBSET Broker]

(* isr: in a message a function, from the members of the wanted ISR to the   *)
(* broker epochs that the sender knows.                                      *)
AlterPartitionRequest ==
  [type : {"AlterPartitionRequest"}, broker : Broker, broker_epoch : Nat, leader_epoch : Nat,
   partition_epoch : Nat, isr : SUBSET Broker, recovery : {"RECOVERED", "RECOVERING"}]

(* leader_epoch, partition_epoch: those of the request, which show which     *)
(* request this answers. new_isr, new_partition_epoch: the current values,   *)
(* if the error is NONE.                                                     *)
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
(* What the controller reads from its own state                              *)

Registered(b) == registrations[b].registered

(* A broker that may lead and be in sync.                                    *)
(* Kafka: ClusterControlManager.isActive.                                    *)
Active(b) ==
  /\ Registered(b)
  /\ ~registrations[b].fenced
  /\ ~registrations[b].in_controlled_shutdown

RegisteredBrokers == {b \in Broker : Registered(b)}
ActiveBrokers == {b \in Broker : Active(b)}

(* The partition changes by the record for `ask`.                            *)
ChangePartition(ask, acceptable) ==
  partition' = Replay(partition, Build(partition, ask, acceptable))

(* Broker b may no longer lead or be in sync. If it is in the ISR, it leaves *)
(* the ISR.                                                                  *)
(* Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates.             *)
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
(* at once: a mere reordering, or a removal while all replicas that stay   *)
(* are in sync. Given during another reassignment, it replaces that one.   *)
(* Targets may be fenced; then the reassignment waits for them. An         *)
(* election here never loses data, whatever the topic allows.              *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.changePartitionReassignment.           *)
(***************************************************************************)
StartReassignment(target) ==
  /\ Exists
  /\ IsAssignment(target, RegisteredBrokers)
  /\ ChangePartition(NewAssignment(partition, target), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The operator cancels a reassignment. If none of the original replicas   *)
(* is in sync, that needs an unclean election, and the topic must allow    *)
(* it. Otherwise the answer is INVALID_REPLICA_ASSIGNMENT.                 *)
(*                                                                         *)
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
(* this may still elect another replica, but only from the ISR.            *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.electLeader, and the periodic          *)
(* maybeBalancePartitionLeaders.                                           *)
(***************************************************************************)
ElectPreferredLeader ==
  /\ Exists
  /\ partition.leader # partition.replicas[1]
  /\ ChangePartition(NewLeader(partition, "PREFERRED"), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The operator wants a leader even at the price of data. Where the topic  *)
(* allows it, the controller does the same by itself. Only a partition     *)
(* without a leader can get one this way.                                  *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.electLeader, and the periodic          *)
(* maybeElectUncleanLeaders.                                               *)
(***************************************************************************)
ElectUncleanLeader ==
  /\ Exists
  /\ partition.leader = NoLeader
  /\ ChangePartition(NewLeader(partition, "UNCLEAN"), ActiveBrokers)
  /\ UNCHANGED <<registrations, leading, messages>>

(***************************************************************************)
(* The topic is deleted, together with any reassignment in progress.       *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.deleteTopics.                          *)
(***************************************************************************)
DeleteTopic ==
  /\ Exists
  /\ partition' = Nil
  /\ UNCHANGED <<registrations, leading, messages>>
------------------------------------------------------------------------------
(* Brokers are fenced, unfenced, registered and removed, at the controller   *)

(***************************************************************************)
(* A broker is fenced. It first leaves the ISR and the leadership. The     *)
(* last member stays in the ISR, and the partition then has no leader. A   *)
(* fenced broker is fenced again when its session ends. Then an unclean    *)
(* election may find another leader.                                       *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                    *)
(***************************************************************************)
FenceBroker(b) ==
  /\ Registered(b)
  /\ registrations' = [registrations EXCEPT ![b].fenced = TRUE]
  /\ TakeOutOfIsr(b)
  /\ UNCHANGED <<leading, messages>>

(***************************************************************************)
(* A broker is unfenced. If the partition has no leader, the broker may    *)
(* become its leader. Unfencing never adds the broker to an ISR: a leader  *)
(* must ask for it.                                                        *)
(*                                                                         *)
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
(* A broker wants to stop. Other replicas take over the leadership.        *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.      *)
(***************************************************************************)
BeginControlledShutdown(b) ==
  /\ Active(b)
  /\ registrations' = [registrations EXCEPT ![b].in_controlled_shutdown = TRUE]
  /\ TakeOutOfIsr(b)
  /\ UNCHANGED <<leading, messages>>

(* The answers in flight to the process of broker b. *)
AnswersTo(b) == {m \in InFlight(messages) : m.type = "AlterPartitionResponse" /\ m.broker = b}

(***************************************************************************)
(* A new process of broker b registers, under a greater epoch. The old     *)
(* process is gone, and its requests may still arrive. If the old one was  *)
(* the last in sync, an unclean election may now find another leader.      *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker,                            *)
(*   ReplicationControlManager.handleBrokerShutdown.                       *)
(***************************************************************************)
RegisterBroker(b) ==
  /\ Registered(b) => registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b] =
       [epoch |-> @.epoch + 1, registered |-> TRUE, fenced |-> TRUE,
        in_controlled_shutdown |-> FALSE]]
  /\ leading' = [leading EXCEPT ![b] = Nil]
  /\ messages' = Drop(messages, AnswersTo(b))
  /\ TakeOutOfIsr(b)

(***************************************************************************)
(* The operator removes a broker. It stays in the list of replicas.        *)
(*                                                                         *)
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

(* The error for request m: the first that applies.                          *)
ErrorFor(m) ==
  IF ~Registered(m.broker) \/ registrations[m.broker].epoch # m.broker_epoch
  THEN "STALE_BROKER_EPOCH"
  ELSE IF ~Exists THEN "UNKNOWN_TOPIC_ID"
  ELSE AlterPartitionError(partition, m, EligibleEpochs)

Response(m, error, isr, new_partition_epoch) ==
  [type |-> "AlterPartitionResponse", broker |-> m.broker, leader_epoch |-> m.leader_epoch,
   partition_epoch |-> m.partition_epoch, error |-> error, new_isr |-> isr,
   new_partition_epoch |-> new_partition_epoch]

(* An answer reaches the process that asked, if that still runs.             *)
Reply(m, response) ==
  IF registrations[m.broker].epoch = m.broker_epoch
  THEN Answer(messages, m, response) ELSE Take(messages, m)

(***************************************************************************)
(* The controller refuses a request, and nothing changes.                  *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.alterPartition.                        *)
(***************************************************************************)
RefuseAlterPartition(m) ==
  /\ m.type = "AlterPartitionRequest"
  /\ ErrorFor(m) # "NONE"
  /\ messages' = Reply(m, Response(m, ErrorFor(m), {}, 0))
  /\ UNCHANGED <<partition, registrations, leading>>

(***************************************************************************)
(* The controller grants a request. If that completes a reassignment, the  *)
(* ISR may be smaller than the wanted one; the answer says what it is. If  *)
(* the ISR stays what it was, nothing is written.                          *)
(*                                                                         *)
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

(* The latest metadata has news for broker b about its leadership.           *)
IsNews(b) ==
  LET new == ViewOf(b, partition)
  IN  IF new = Nil \/ ~Leads(b) THEN leading[b] # new
      ELSE <<leading[b].leader_epoch, leading[b].partition_epoch>>
             # <<new.leader_epoch, new.partition_epoch>>

(***************************************************************************)
(* A broker replays the metadata. It begins to lead, stops leading, or     *)
(* learns of a change. That voids the request it has pending.              *)
(*                                                                         *)
(* Kafka: ReplicaManager.applyDelta, Partition.makeLeader, makeFollower.   *)
(***************************************************************************)
LearnPartition(b) ==
  /\ IsNews(b)
  /\ leading' = [leading EXCEPT ![b] = ViewOf(b, partition)]
  /\ UNCHANGED <<partition, registrations, messages>>

(* The ISR that a leader asks for has one member more, or fewer members.     *)
(* Kafka: Partition.maybeExpandIsr, maybeShrinkIsr.                          *)
MayAskFor(view, b, isr) ==
  /\ b \in isr
  /\ isr \subseteq view.replicas
  /\ \/ \E r \in view.replicas \ view.isr : isr = view.isr \cup {r}
     \/ isr \subseteq view.isr /\ isr # view.isr

(* A leader sends a request. epochs: from each member of the wanted ISR to   *)
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
(* A leader asks for another ISR. It knows its followers' current broker   *)
(* epochs (in ReplicatedPartition: from their fetches), and knows that its *)
(* recovery is over. It has one request at a time.                         *)
(*                                                                         *)
(* Kafka: Partition.submitAlterPartition, AlterPartitionManager.submit.    *)
(***************************************************************************)
SendAlterPartition(b, isr) ==
  /\ Leads(b)
  /\ RequestIsr(b, [r \in isr |-> registrations[r].epoch])

(***************************************************************************)
(* A leader gets no answer and sends its request again.                    *)
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

(* Response m answers the request that its receiver has pending.             *)
IsAwaited(m) ==
  /\ Leads(m.broker)
  /\ leading[m.broker].pending # {}
  /\ leading[m.broker].leader_epoch = m.leader_epoch
  /\ leading[m.broker].partition_epoch = m.partition_epoch

(***************************************************************************)
(* The leader gets the answer. If the request was granted, the ISR is the  *)
(* one in the answer. If a replica may not join, the ISR stays what it     *)
(* was, and the leader may ask again later. Any other refusal means that   *)
(* the leader has metadata to learn. Until it does, its view keeps the     *)
(* pending ISR (OTHER -> view): it must count both ISRs, and asks for      *)
(* nothing. (After NOT_CONTROLLER, Kafka's leader sends the request again: *)
(* the controller has metadata to learn. Here only a stray request gets    *)
(* that answer.)                                                           *)
(*                                                                         *)
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
                    [] OTHER -> view]
  /\ UNCHANGED <<partition, registrations>>

(***************************************************************************)
(* A request arrives that no correct leader sends. The checks must hold    *)
(* against it. A model says which requests there are.                      *)
(***************************************************************************)
StrayRequests == {}
SendStrayRequest(m) ==
  /\ messages' = Put(messages, m)
  /\ UNCHANGED <<partition, registrations, leading>>
------------------------------------------------------------------------------
(* The replicas that a leader must count as in sync: those of the ISR it     *)
(* knows, and those of the ISR that the controller may have written by now.  *)
(* The high watermark waits for all of them.                                 *)
(* Kafka: PartitionState.maximalIsr.                                         *)
MaximalIsr(b) == leading[b].isr \cup leading[b].pending

(* The assignments that an operator may give. *)
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
