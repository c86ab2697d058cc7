----------------------- MODULE ReassignmentProperties -----------------------
(***************************************************************************)
(* The properties of Reassignment. Suffixes: Inv (every state), Prop       *)
(* (every step), Reach (must be possible). Each says what it means, where  *)
(* it comes from, and what breaks it. Liveness is in MCReassignmentLive.   *)
(* "Partition" means the partition in the log.                             *)
(***************************************************************************)
EXTENDS Reassignment

------------------------------------------------------------------------------
(* Invariants of the partition                                               *)

(* The ISR is not empty, and its members are replicas.                       *)
(* Source: Kafka, PartitionChangeBuilder keeps the last member; KIP-966      *)
(* allows an empty ISR, see ReassignmentElr.                                 *)
(* Broken by: completing without taking the removed replicas out of the ISR. *)
IsrSubsetReplicasInv ==
  Exists => partition.isr # {} /\ partition.isr \subseteq Members(partition.replicas)

(* The leader is in sync.                                                    *)
(* Source: Kafka, PartitionChangeBuilder.electLeader. Broken by: keeping the *)
(* leader when no replica can take over.                                     *)
LeaderInIsrOrNoneInv ==
  Exists => partition.leader = NoLeader \/ partition.leader \in partition.isr

(* The leader is active: registered, not fenced, not shutting down.          *)
(* Source: KIP-631, KIP-841. Broken by: fencing without an election. False   *)
(* with LateHeartbeats: see broken/reassignment/UnfencedOnTheWayOut.cfg.     *)
LeaderUsableInv ==
  Exists => partition.leader = NoLeader \/ Active(partition.leader)

(* If several replicas are in sync, all of them are active. A last member    *)
(* that is not active stays in sync, and does not lead.                      *)
(* Source: KIP-841. Broken by: granting an ISR with a fenced member          *)
(* (KAFKA-13916).                                                            *)
NoFencedInIsrInv ==
  Exists => \/ partition.isr \subseteq ActiveBrokers
            \/ Cardinality(partition.isr) = 1 /\ partition.leader = NoLeader

(* A partition has no leader only while no in-sync replica could lead it.    *)
(* Source: KIP-631. Broken by: an unfencing without an election.             *)
LeaderlessForAReasonInv ==
  (Exists /\ partition.leader = NoLeader) => partition.isr \cap ActiveBrokers = {}

(* The added and the removed are replicas, and at least one replica stays.   *)
(* Source: KIP-455. Broken by: cancelling and keeping the adding set.        *)
AddingRemovingInv ==
  Exists => /\ partition.adding \subseteq Members(partition.replicas)
            /\ partition.removing \subseteq Members(partition.replicas)
            /\ TargetReplicas(partition) # << >>

(* No replica is both added and removed. False as built once a reassignment  *)
(* is changed midway: see broken/reassignment/StaleAdding.cfg. True before.  *)
AddingRemovingDisjointInv == Exists => partition.adding \cap partition.removing = {}

(* A reassignment that can complete has completed.                           *)
(* Source: Kafka, PartitionChangeBuilder looks at every change. False after  *)
(* an unclean election: see broken/reassignment/CompletableNotCompleted.cfg. *)
NotCompletableInv == Exists => ~Completable(Unchanged(partition))

(* Asking for no change writes nothing.                                      *)
(* Source: KAFKA-16624.                                                      *)
(* Broken by: a leader field in every record.                                *)
BuilderIdempotentInv ==
  Exists => Build(partition, Unchanged(partition), ActiveBrokers) = NoChange

(* The leader epoch is never ahead of the partition epoch.                   *)
(* Source: Kafka, PartitionRegistration.merge. Broken by: a change that      *)
(* raises the leader epoch alone.                                            *)
EpochsOrderedInv == Exists => partition.leader_epoch <= partition.partition_epoch

(* The leader of a recovering partition is alone in sync.                    *)
(* Source: KIP-704. Broken by: granting a larger ISR to it.                  *)
RecoveringAloneInv ==
  (Exists /\ partition.recovery = "RECOVERING") => Cardinality(partition.isr) <= 1

(* A request is refused for a member of the wanted ISR only if that member   *)
(* is not active, or is another process than the sender knows.               *)
(* Source: KIP-841, KIP-903. Broken by: refusing a member whose epoch the    *)
(* sender does not know.                                                     *)
IneligibleForAReasonInv ==
  \A m \in InFlight(messages) :
    (m.type = "AlterPartitionRequest" /\ ErrorFor(m) = "INELIGIBLE_REPLICA") =>
      \E r \in DOMAIN m.isr :
        ~Active(r) \/ m.isr[r] \notin {NoEpoch, registrations[r].epoch}
------------------------------------------------------------------------------
(* Invariants of the brokers that believe they lead                          *)

(* In one leader epoch at most one broker believes that it leads.            *)
(* Source: KIP-631, leader epochs (Raft: ElectionSafety).                    *)
(* Broken by: a new leader under the old epoch.                              *)
OneLeaderPerEpochInv ==
  \A a, b \in Broker : (Leads(a) /\ Leads(b) /\ a # b) =>
    leading[a].leader_epoch # leading[b].leader_epoch

(* No broker is ahead of the log.                                            *)
(* Source: KIP-631. Broken by: a leader that acts on what it asked for,      *)
(* under an epoch that it raised itself.                                     *)
ViewsArePastInv ==
  \A b \in Broker : (Exists /\ Leads(b)) =>
    /\ leading[b].leader_epoch <= partition.leader_epoch
    /\ leading[b].partition_epoch <= partition.partition_epoch

(* The leader of the current epoch counts every replica that the log has in  *)
(* sync, also while its request is in flight. If it knows the latest         *)
(* version, it knows the ISR.                                                *)
(* Source: Kafka, PartitionState.maximalIsr; published as                    *)
(* ReplicationQuorumSupersetProperty (Vanlightly, kafka-tlaplus).            *)
(* Broken by: forgetting the wanted ISR when the answer is a refusal.        *)
MaximalIsrInv ==
  \A b \in Broker :
    (Exists /\ Leads(b) /\ leading[b].leader_epoch = partition.leader_epoch) =>
      /\ partition.isr \subseteq MaximalIsr(b)
      /\ (leading[b].partition_epoch = partition.partition_epoch) =>
           leading[b].isr = partition.isr
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* The partition changes in this step, and exists before and after it.       *)
Changes == Exists /\ Exists' /\ partition' # partition

(* Request m is handled in this step. *)
Handled(m) ==
  /\ m \in InFlight(messages)
  /\ m.type = "AlterPartitionRequest"
  /\ m \notin InFlight(messages') \/ messages'[m] < messages[m]
HandledRequests == {m \in InFlight(messages) : Handled(m)}

(* The replicas that a request handled in this step wants in sync. *)
AskedFor == UNION {DOMAIN m.isr : m \in HandledRequests}

(* Every change raises the partition epoch by one. The leader epoch rises by *)
(* one if the leader changes, also to none, or if a replica is dropped;      *)
(* otherwise it stays.                                                       *)
(* Source: Kafka, PartitionChangeBuilder; KAFKA-15021.                       *)
(* Broken by: dropping a replica under the old leader epoch.                 *)
EpochBumpProp ==
  [][Changes =>
       LET dropped == ~(Members(partition.replicas) \subseteq Members(partition'.replicas))
           bump    == partition'.leader # partition.leader \/ dropped
       IN  /\ partition'.partition_epoch = partition.partition_epoch + 1
           /\ partition'.leader_epoch = partition.leader_epoch + (IF bump THEN 1 ELSE 0)
    ]_partition

(* Replicas are dropped only when all that stay are in sync, or when the     *)
(* operator cancels the reassignment.                                        *)
(* Source: KAFKA-15665 (KIP-631 asks for less). Broken by: completing when   *)
(* only the added replicas are in sync.                                      *)
TargetIsrFullBeforeDropProp ==
  [][(Changes /\ ~(Members(partition.replicas) \subseteq Members(partition'.replicas))) =>
       \/ Members(partition'.replicas) \subseteq partition'.isr
       \/ CancelReassignment]_partition

(* A request that changes the assignment completes the reassignment: all of  *)
(* the target is in sync, and it leaves the target, in its order, and        *)
(* nothing to add or remove. A reassignment that only adds has its target in *)
(* the list already; then the adding set alone changes.                      *)
(* Source: KIP-455, KAFKA-15665. Broken by: completing without clearing the  *)
(* adding set; taking each replica that arrives out of it.                   *)
Assignment(p) == <<p.replicas, p.adding, p.removing>>
CompletionLeavesTargetProp ==
  [][(Changes /\ HandledRequests # {} /\ Assignment(partition') # Assignment(partition)) =>
       /\ partition'.replicas = TargetReplicas(partition)
       /\ Members(partition'.replicas) \subseteq partition'.isr
       /\ ~InProgress(partition')]_partition

(* Original: the replicas before a reassignment. A cancellation restores     *)
(* this set, but not its order. The set stays the same while the operator    *)
(* gives no other target. The first conjunct only repeats what a             *)
(* cancellation is. OriginalRestoredProp of MCReassignmentHistory says that  *)
(* a cancellation leads back to where the move began.                        *)
(* Source: KIP-455; Kafka, PartitionReassignmentRevert.                      *)
(* Broken by: cancelling and keeping what was added. After a change midway   *)
(* it is no longer the set before the first reassignment: see                *)
(* broken/reassignment/CancelAfterChange.cfg.                                *)
Original(p) == Members(p.replicas) \ p.adding
CancelRestoresOriginalProp ==
  [][Changes =>
       /\ CancelReassignment =>
            Members(partition'.replicas) = Original(partition) /\ ~InProgress(partition')
       /\ (InProgress(partition') /\ ~InProgress(partition)) =>
            Original(partition') = Members(partition.replicas)
       /\ (InProgress(partition) /\ InProgress(partition')
            /\ partition'.adding = partition.adding
            /\ partition'.removing = partition.removing) =>
            Original(partition') = Original(partition)]_partition

(* A stale request changes nothing: one with another broker epoch, leader    *)
(* epoch or partition epoch than the log has, or one that is not from the    *)
(* leader.                                                                   *)
(* Source: KIP-497, KAFKA-14154. Broken by: not checking one of them.        *)
StaleRequestRejectedProp ==
  [][Changes =>
       \A m \in HandledRequests :
         /\ Registered(m.broker) /\ registrations[m.broker].epoch = m.broker_epoch
         /\ m.leader_epoch = partition.leader_epoch
         /\ m.partition_epoch = partition.partition_epoch
         /\ m.broker = partition.leader]_partition

(* A request that changes the partition names only active members, and each  *)
(* is the process that the sender knows.                                     *)
(* Source: KIP-841, KIP-903.                                                 *)
(* Broken by: not comparing broker epochs (KAFKA-14617).                     *)
IneligibleStaysOutProp ==
  [][Changes =>
       \A m \in HandledRequests : \A r \in DOMAIN m.isr :
         Active(r) /\ m.isr[r] \in {NoEpoch, registrations[r].epoch}]_partition

(* A new leader was in sync, or a request asked for it to be. Any other      *)
(* leader loses data, and needs a topic that allows that, or an operator who *)
(* asks for it. A new assignment and an election of the preferred replica    *)
(* never elect such a leader.                                                *)
(* Source: KIP-631, KAFKA-13162.                                             *)
(* Broken by: an unclean election where the topic forbids it.                *)
NewLeaderOutside ==
  /\ partition'.leader # NoLeader
  /\ partition'.leader \notin partition.isr \cup AskedFor
UncleanOnlyIfAllowedProp ==
  [][(Changes /\ NewLeaderOutside) =>
       \/ ElectUncleanLeader
       \/ /\ UncleanEnabled
          /\ ~ElectPreferredLeader
          /\ \A target \in SomeTargets : ~StartReassignment(target)]_partition

(* A new leader is the first of the list that is active and, after the       *)
(* change, in sync. If it was elected at the price of data, it is alone in   *)
(* the ISR.                                                                  *)
(* Source: Kafka, PartitionChangeBuilder.electLeader. Broken by: looking for *)
(* a leader in another order than that of the assignment.                    *)
LeaderIsFirstProp ==
  [][(Changes /\ partition'.leader \notin {partition.leader, NoLeader}) =>
       partition'.leader = FirstIn(partition'.replicas,
                                   {b \in partition'.isr : Active(b)'})]_partition

(* A leader that stays active and in sync goes on leading. Only an election  *)
(* for the preferred replica replaces it, and only by that replica.          *)
(* Source: Kafka, PartitionChangeBuilder.electPreferredLeader and            *)
(* electAnyLeader. Broken by: giving the leadership back with every change;  *)
(* electing another replica if the preferred one cannot lead.                *)
LeaderStaysProp ==
  [][Changes =>
       \A b \in partition'.isr :
         (b = partition.leader /\ Active(b)') =>
           \/ partition'.leader = b
           \/ ElectPreferredLeader /\ partition'.leader = partition'.replicas[1]]_partition

(* An answer that grants a request tells the ISR and the partition epoch     *)
(* that the log has after it.                                                *)
(* Source: KIP-497. Broken by: repeating the ISR that was asked for; telling *)
(* the partition epoch from before the change.                               *)
GrantTellsTheLogProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "AlterPartitionResponse" /\ m.error = "NONE") =>
         /\ m.new_isr = partition'.isr
         /\ m.new_partition_epoch = partition'.partition_epoch]_messages

(* An answer reaches the process that asked, and says how its request stands *)
(* to the log. Only a request of the leader, for the version that the log    *)
(* has, is granted, or refused for the members that it names: so the leader  *)
(* may forget the ISR that it asked for. It is told NONE as long as it       *)
(* leads. INVALID_REQUEST is for a broker that does not lead, or that asks   *)
(* for what no leader may ask for, whatever became of the members.           *)
(* Source: Kafka, ReplicationControlManager.validateAlterPartitionData and   *)
(* alterPartition (KIP-497, KIP-903). Broken by: looking at the members      *)
(* before the version; telling NONE to a leader that its request removed;    *)
(* telling INVALID_REQUEST to a leader whose follower restarted, so that it  *)
(* never asks again; an answer that a later process of the broker takes for  *)
(* its own.                                                                  *)
AsksForInvalid(request) ==
  \/ ~(DOMAIN request.isr \subseteq Members(partition.replicas))
  \/ partition.leader \notin DOMAIN request.isr
  \/ /\ request.recovery = "RECOVERING"
     /\ Cardinality(DOMAIN request.isr) > 1 \/ partition.recovery = "RECOVERED"
AnswerTellsWhyProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       m.type = "AlterPartitionResponse" =>
         /\ \E request \in HandledRequests :
              /\ request.broker = m.broker
              /\ request.broker_epoch = registrations[m.broker].epoch
         /\ CASE m.error = "UNKNOWN_TOPIC_ID" -> ~Exists
              [] m.error = "NOT_CONTROLLER" ->
                   \/ m.leader_epoch > partition.leader_epoch
                   \/ m.partition_epoch > partition.partition_epoch
              [] m.error = "STALE_BROKER_EPOCH" -> ~Registered(m.broker)
              [] m.error = "FENCED_LEADER_EPOCH" ->
                   /\ m.leader_epoch < partition.leader_epoch
                   /\ m.partition_epoch <= partition.partition_epoch
              [] m.error = "INVALID_REQUEST" ->
                   /\ m.leader_epoch = partition.leader_epoch
                   /\ m.partition_epoch <= partition.partition_epoch
                   /\ \/ m.broker # partition.leader
                      \/ /\ m.partition_epoch = partition.partition_epoch
                         /\ \E request \in HandledRequests : AsksForInvalid(request)
              [] m.error = "INVALID_UPDATE_VERSION" ->
                   /\ m.broker = partition.leader
                   /\ m.leader_epoch = partition.leader_epoch
                   /\ m.partition_epoch < partition.partition_epoch
              [] m.error \in {"INELIGIBLE_REPLICA", "NONE", "NEW_LEADER_ELECTED"} ->
                   /\ m.broker = partition.leader
                   /\ m.leader_epoch = partition.leader_epoch
                   /\ m.partition_epoch = partition.partition_epoch
                   /\ (m.error = "NONE") => partition'.leader = m.broker
                   /\ (m.error = "NEW_LEADER_ELECTED") => partition'.leader # m.broker
              [] OTHER -> TRUE]_messages

(* A leader that learns of another version of the partition waits for no     *)
(* answer: its request was about an older version, and will be refused.      *)
(* Source: Kafka, Partition.makeLeader. Broken by: keeping the request.      *)
NewVersionVoidsRequestProp ==
  [][\A b \in Broker :
       (Leads(b) /\ Leads(b)' /\ leading'[b].partition_epoch # leading[b].partition_epoch) =>
         leading'[b].pending = {}]_leading

(* A leader asks under the version and the broker epochs that it knows, and  *)
(* counts the ISR that it asks for from then on. So the controller can tell  *)
(* whether it knows what it decides about. False of requests that no leader  *)
(* sent.                                                                     *)
(* Source: KIP-497, KIP-903; Kafka, Partition.submitAlterPartition. Broken   *)
(* by: naming the version of the log for an ISR that was chosen by an older  *)
(* one; naming no broker epochs, as before KIP-903.                          *)
AskedByViewProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       m.type = "AlterPartitionRequest" =>
         LET view == leading[m.broker] IN
         /\ view # Nil
         /\ m.leader_epoch = view.leader_epoch
         /\ m.partition_epoch = view.partition_epoch
         /\ m.broker_epoch = registrations[m.broker].epoch
         /\ \A r \in DOMAIN m.isr : m.isr[r] = registrations[r].epoch
         /\ leading'[m.broker].pending = DOMAIN m.isr]_messages

(* A leader from outside the ISR is marked as recovering.                    *)
(* Source: KIP-704. Broken by: not marking it. False for a cancellation by   *)
(* force: see broken/reassignment/ForcedCancel.cfg.                          *)
UncleanIsMarkedProp ==
  [][(Changes /\ NewLeaderOutside) => partition'.recovery = "RECOVERING"]_partition

(* A partition stops recovering only because its leader asks for that.       *)
(* Source: KIP-704. Broken by: a change of the leader that ends the          *)
(* recovery.                                                                 *)
RecoveryEndsByRequestProp ==
  [][(Changes /\ partition.recovery = "RECOVERING" /\ partition'.recovery = "RECOVERED") =>
       \E m \in HandledRequests :
         m.broker = partition.leader /\ m.recovery = "RECOVERED"]_partition

(* A cancellation by force leaves one replica in sync: the first of the      *)
(* original ones that is active, or, if none is, the first of all.           *)
(* Source: Kafka, PartitionReassignmentRevert and                            *)
(* PartitionChangeBuilder.electLeader. Broken by: putting all original       *)
(* replicas into the ISR, or the last of them.                               *)
ForcedTakesFirstProp ==
  [][(Changes /\ CancelReassignment /\ RevertNeedsForce(partition)) =>
       LET first == FirstIn(partition'.replicas, ActiveBrokers) IN
       partition'.isr =
         {IF first = NoLeader THEN partition'.replicas[1] ELSE first}]_partition

(* Where the topic allows unclean elections, the controller looks for a      *)
(* leader whenever a registration changes: a member of the ISR is fenced,    *)
(* stops, registers or is removed, or a broker is unfenced. The partition    *)
(* then has no leader only if no replica is active. (A broker that is fenced *)
(* again changes no registration: see FencedAgainReach.)                     *)
(* Source: Kafka, ReplicationControlManager.generateLeaderAndIsrUpdates.     *)
(* Broken by: a registration that leaves the partition as it was.            *)
LeaderSoughtProp ==
  [][\A b \in Broker :
       (/\ Exists /\ UncleanEnabled /\ registrations'[b] # registrations[b]
        /\ (b \in partition.isr \/ (registrations[b].fenced /\ ~registrations'[b].fenced))) =>
         \/ partition'.leader # NoLeader
         \/ \A r \in Members(partition'.replicas) : ~Active(r)']_registrations

(* A replica is added only while its broker is registered.                   *)
(* Source: Kafka,                                                            *)
(* ReplicationControlManager.validateManualPartitionAssignment. Broken by: a *)
(* new assignment that may name any broker.                                  *)
AddedIsRegisteredProp ==
  [][Changes =>
       \A r \in Members(partition'.replicas) \ Members(partition.replicas) :
         Registered(r)]_partition

(* The steps that may change each part of the partition.                     *)
(*  - Only the operator adds replicas.                                       *)
(*  - The replicas, the adding and the removing set change by the operator,  *)
(*    by a leader's request, or if an unclean election had left the          *)
(*    reassignment complete (CompletableNotCompleted): then any change ends  *)
(*    it.                                                                    *)
(*  - A replica gets in sync only if the leader asks for it; or alone, where *)
(*    the topic allows unclean elections or the operator forces one.         *)
(*  - A step that changes a registration changes no replicas, with the same  *)
(*    exception.                                                             *)
(*  - A partition begins to recover only with a leader from outside.         *)
(*                                                                           *)
(* Source: Kafka, ReplicationControlManager. Broken by: an unfencing that    *)
(* puts the broker into the ISR (as KIP-631 has it).                         *)
ByOperator == CancelReassignment \/ \E target \in SomeTargets : StartReassignment(target)
PermittedChangesProp ==
  [][Changes =>
       /\ Members(partition'.replicas) \subseteq Members(partition.replicas) \/ ByOperator
       /\ \/ Assignment(partition') = Assignment(partition)
          \/ HandledRequests # {}
          \/ ByOperator
          \/ Completable(Unchanged(partition))
       /\ \/ partition'.isr \subseteq partition.isr \cup AskedFor
          \/ Cardinality(partition'.isr) = 1 /\ UncleanEnabled
          \/ ElectUncleanLeader
       /\ \/ registrations' = registrations
          \/ partition'.replicas = partition.replicas
          \/ Completable(Unchanged(partition))
       /\ (partition'.recovery = "RECOVERING" /\ partition.recovery = "RECOVERED") =>
            NewLeaderOutside]_partition

(* A new assignment is the target of the reassignment from then on, and      *)
(* stands first in the list, so its order is preferred at once.              *)
(* Source: KIP-455. False as built once it is changed midway: see            *)
(* broken/reassignment/ForgottenTarget.cfg.                                  *)
TargetHonouredProp ==
  [][\A target \in SomeTargets :
       StartReassignment(target) =>
         /\ TargetReplicas(partition') = target
         /\ SubSeq(partition'.replicas, 1, Len(target)) = target]_partition
------------------------------------------------------------------------------
(* Must be possible                                                          *)

AddOnlyReach == Exists /\ partition.adding # {} /\ partition.removing = {}
RemoveOnlyReach == Exists /\ partition.removing # {} /\ partition.adding = {}
SwapReach == Exists /\ partition.adding # {} /\ partition.removing # {}
RemoveLeaderReach == Exists /\ partition.leader \in partition.removing
MovedReach ==
  Exists /\ ~InProgress(partition) /\ Members(partition.replicas) # Members(InitialReplicas)

(* The same replicas in another order: a cancellation restored only the set. *)
(* This is for models in which no target merely reorders.                    *)
CancelMidwayReach ==
  /\ Exists
  /\ ~InProgress(partition)
  /\ Members(partition.replicas) = Members(InitialReplicas)
  /\ partition.replicas # InitialReplicas

FenceDuringReassignReach ==
  Exists /\ \E r \in partition.adding : registrations[r].fenced
TargetChangedMidwayReach ==
  Exists /\ ~(partition.removing \subseteq Members(InitialReplicas))
CancelNeedsForceReach == Exists /\ InProgress(partition) /\ RevertNeedsForce(partition)
LeaderlessReach == Exists /\ partition.leader = NoLeader /\ InProgress(partition)
RecoveringReach == Exists /\ partition.recovery = "RECOVERING" /\ InProgress(partition)

(* No broker ever returned, and the reassignment gave a second replica that  *)
(* could lead. It leads since the fenced broker was fenced once more: only   *)
(* that step of this model looks for a leader by an unclean election.        *)
FencedAgainReach ==
  Exists /\ InProgress(partition) /\ partition.leader # NoLeader /\ partition.leader_epoch = 2

(* The topic is gone, and a broker still works on its reassignment. *)
DeletedMidwayReach ==
  ~Exists /\ \E b \in Broker : Leads(b) /\ leading[b].replicas # Members(InitialReplicas)

(* The operator removed a broker. *)
UnregisteredReach == \E b \in Broker : ~Registered(b)

(* A past leader still believes that it leads, beside the present one. *)
TwoLeadersReach == \E a, b \in Broker : a # b /\ Leads(a) /\ Leads(b)

Answered(error) ==
  \E m \in InFlight(messages) : m.type = "AlterPartitionResponse" /\ m.error = error
NoneReach == Answered("NONE")
StaleBrokerEpochReach ==
  \E m \in InFlight(messages) :
    m.type = "AlterPartitionRequest" /\ ErrorFor(m) = "STALE_BROKER_EPOCH"
UnknownTopicIdReach == Answered("UNKNOWN_TOPIC_ID")
NotControllerReach == Answered("NOT_CONTROLLER")
FencedLeaderEpochReach == Answered("FENCED_LEADER_EPOCH")
InvalidRequestReach == Answered("INVALID_REQUEST")
InvalidUpdateVersionReach == Answered("INVALID_UPDATE_VERSION")
IneligibleReplicaReach == Answered("INELIGIBLE_REPLICA")
NewLeaderElectedReach == Answered("NEW_LEADER_ELECTED")

(* Nothing was written: the answer gives the partition epoch of the request. *)
NothingToDoReach ==
  \E m \in InFlight(messages) :
    /\ m.type = "AlterPartitionResponse"
    /\ m.error = "NONE"
    /\ m.new_partition_epoch = m.partition_epoch
==============================================================================
