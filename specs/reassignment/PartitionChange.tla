--------------------------- MODULE PartitionChange ---------------------------
(***************************************************************************)
(* How the controller changes a partition, as pure operators. A wanted     *)
(* state becomes a PartitionChangeRecord, and only replaying that record   *)
(* changes the partition. Reassignment uses the operators, and so can any  *)
(* spec that has partitions and a log.                                     *)
(*                                                                         *)
(* Sources: KIP-455 and KIP-631 (reassignment), KIP-497 (AlterPartition),  *)
(* KIP-704 (recovery state), KIP-841 and KIP-903 (which replicas may join  *)
(* the ISR), and Kafka as built.                                           *)
(*                                                                         *)
(* Kafka's code -> operators here                                          *)
(*   PartitionRegistration -> Partition                                    *)
(*   PartitionRegistration.merge -> Replay                                 *)
(*   ReplicationControlManager.changePartitionReassignment,                *)
(*     PartitionReassignmentReplicas -> NewAssignment                      *)
(*   PartitionReassignmentReplicas.maybeCompleteReassignment ->            *)
(*     Completable, Completed                                              *)
(*   PartitionReassignmentRevert -> RevertNeedsForce, Reverted             *)
(*   PartitionChangeBuilder.electLeader -> Elected, CleanLeader,           *)
(*     UncleanLeader                                                       *)
(*   PartitionChangeBuilder.build -> Build, ChangeRecord                   *)
(*   ReplicationControlManager.generateLeaderAndIsrUpdates ->              *)
(*     WithoutBroker                                                       *)
(*   ReplicationControlManager.validateAlterPartitionData ->               *)
(*     AlterPartitionError                                                 *)
(*   ReplicationControlManager.alterPartition -> NewIsr, AnswerAfter       *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Log directories. Every replica's directory is online.                *)
(*  - Metadata versions before 3.6, in which a shrinking ISR raises the    *)
(*    leader epoch.                                                        *)
(*  - The order of the ISR, of adding and of removing. They are sets here. *)
(*    Kafka writes a record when an ISR is only put in another order.      *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT
  BrokerOrder   \* The broker ids, each once, in ascending order.

NoLeader == -1  \* Kafka: LeaderConstants.NO_LEADER.
NoEpoch == -1   \* Kafka: the sender does not know the broker epoch.

Members(sequence) == {sequence[k] : k \in DOMAIN sequence}
Without(sequence, set) == SelectSeq(sequence, LAMBDA r : r \notin set)
InOrder(set) == SelectSeq(BrokerOrder, LAMBDA r : r \in set)

(* The first member of a list that is in a set, or NoLeader. *)
FirstIn(sequence, set) ==
  LET found == SelectSeq(sequence, LAMBDA r : r \in set)
  IN  IF found = << >> THEN NoLeader ELSE found[1]

(* A list of brokers, each at most once, and not empty. *)
IsAssignment(list, brokers) ==
  /\ list \in Seq(brokers)
  /\ list # << >>
  /\ Cardinality(Members(list)) = Len(list)

Lists(set) == {list \in [1 .. Cardinality(set) -> set] : Members(list) = set}
Assignments(brokers) == UNION {Lists(set) : set \in SUBSET brokers \ {{}}}
------------------------------------------------------------------------------
(* A partition in the log.                                                   *)
(* Kafka: PartitionRegistration.                                             *)

Partition(brokers) ==
  [replicas : Seq(brokers),                \* An assignment, in order of preference.
   isr : SUBSET brokers,                   \* The in-sync replicas.
   leader : brokers \cup {NoLeader},
   leader_epoch : Nat,                     \* Raised by every record with a leader field.
   partition_epoch : Nat,                  \* Raised by every record.
   adding : SUBSET brokers,                \* The replicas that a reassignment adds.
   removing : SUBSET brokers,              \* The replicas that it removes when complete.
   recovery : {"RECOVERED", "RECOVERING"}]

(* A new partition: its active replicas are in sync. *)
NewPartition(replicas, active) ==
  [replicas |-> replicas, isr |-> Members(replicas) \cap active,
   leader |-> FirstIn(replicas, active), leader_epoch |-> 0, partition_epoch |-> 0,
   adding |-> {}, removing |-> {}, recovery |-> "RECOVERED"]

InProgress(p) == p.adding # {} \/ p.removing # {}

(* The assignment that a reassignment leads to. *)
TargetReplicas(p) == Without(p.replicas, p.removing)
------------------------------------------------------------------------------
(* A wanted state: the fields that a partition should get, and the kind of   *)
(* election to use. Unchanged wants nothing to change.                       *)

Unchanged(p) ==
  [replicas |-> p.replicas, isr |-> p.isr, adding |-> p.adding, removing |-> p.removing,
   recovery |-> p.recovery, election |-> "ONLINE"]

(* The topic's configuration may let the controller look beyond the ISR. *)
ElectionOf(unclean_enabled) == IF unclean_enabled THEN "UNCLEAN" ELSE "ONLINE"

WithoutBroker(p, b, unclean_enabled) ==
  [Unchanged(p) EXCEPT !.isr = @ \ {b}, !.election = ElectionOf(unclean_enabled)]

NewIsr(p, isr, recovery, unclean_enabled) ==
  [Unchanged(p) EXCEPT !.isr = isr, !.recovery = recovery,
                       !.election = ElectionOf(unclean_enabled)]

NewLeader(p, election) == [Unchanged(p) EXCEPT !.election = election]

(* A target assignment. Replicas to be removed stay at the end of the list   *)
(* until it is complete. The current replicas include those that an earlier, *)
(* unfinished reassignment added. An empty set does not overwrite the old    *)
(* one (IF removing = {} THEN @, and the same for adding). This is Kafka as  *)
(* built, and makes adding and removing overlap: see StaleAdding.            *)
(* Kafka: ReplicationControlManager.changePartitionReassignment,             *)
(* PartitionReassignmentReplicas.                                            *)
NewAssignment(p, target) ==
  LET removing == Members(p.replicas) \ Members(target)
      adding   == Members(target) \ Members(p.replicas)
  IN  [Unchanged(p) EXCEPT
         !.replicas = target \o InOrder(removing),
         !.removing = IF removing = {} THEN @ ELSE removing,
         !.adding   = IF adding = {} THEN @ ELSE adding]

(* A cancellation: the added replicas go. The original replicas keep the     *)
(* order that they have in the list now, so the original order is not        *)
(* restored. If none of them is in sync, the first one is put into the ISR   *)
(* by force.                                                                 *)
(* Kafka: PartitionReassignmentRevert.                                       *)
RevertNeedsForce(p) == p.isr \ p.adding = {}
Reverted(p, unclean_enabled) ==
  LET replicas == Without(p.replicas, p.adding)
  IN  [Unchanged(p) EXCEPT
         !.replicas = replicas,
         !.isr = IF RevertNeedsForce(p) THEN {replicas[1]} ELSE @ \ p.adding,
         !.adding = {},
         !.removing = {},
         !.election = ElectionOf(unclean_enabled)]
------------------------------------------------------------------------------
(* From a wanted state to a record.                                          *)
(* Kafka: PartitionChangeBuilder.build.                                      *)

(* A reassignment is complete when every replica that stays is in sync       *)
(* (KAFKA-15665). The removed replicas also leave the ISR.                   *)
(* Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment.           *)
Completable(ask) ==
  LET stays == Members(ask.replicas) \ ask.removing
  IN  /\ InProgress(ask)
      /\ stays # {}
      /\ stays \subseteq ask.isr \ ask.removing

(* The rule of KIP-631: a reassignment that only removes replicas is         *)
(* complete at once if one in-sync replica stays. See                        *)
(* broken/reassignment/KipCompletion.cfg.                                    *)
KipCompletable(ask) ==
  LET stays == Members(ask.replicas) \ ask.removing
  IN  /\ InProgress(ask)
      /\ stays # {}
      /\ \/ stays \subseteq ask.isr \ ask.removing
         \/ ask.adding = {} /\ ask.isr \ ask.removing # {}

Completed(ask) ==
  IF ~Completable(ask) THEN ask
  ELSE [ask EXCEPT !.replicas = Without(@, ask.removing),
                   !.isr = @ \ ask.removing,
                   !.adding = {},
                   !.removing = {}]

(* The leader that loses no data: the current one if it is valid. Only an    *)
(* election for the preferred replica tries that replica first.              *)
CleanLeader(p, ask, valid) ==
  IF ask.election = "PREFERRED" /\ ask.replicas[1] \in valid THEN ask.replicas[1]
  ELSE IF p.leader \in valid THEN p.leader
  ELSE FirstIn(ask.replicas, valid)

(* The leader of last resort: any acceptable replica. *)
UncleanLeader(ask, acceptable) ==
  IF ask.election = "UNCLEAN" THEN FirstIn(ask.replicas, acceptable) ELSE NoLeader

(* The elected leader, and whether the election may lose data.               *)
(* Kafka: PartitionChangeBuilder.electLeader.                                *)
Elected(p, ask, acceptable) ==
  LET clean   == CleanLeader(p, ask, ask.isr \cap acceptable)
      unclean == UncleanLeader(ask, acceptable)
  IN  IF clean # NoLeader THEN [leader |-> clean, unclean |-> FALSE]
      ELSE [leader |-> unclean, unclean |-> unclean # NoLeader]

(* A PartitionChangeRecord: a function from the names of its fields to their *)
(* values. A record without fields is not written.                           *)
NoChange == << >>
Field(name, value, present) == IF present THEN name :> value ELSE NoChange

(* The record for a wanted state, once the leader is elected. It has the     *)
(* leader field, and so a new leader epoch, also when a replica is dropped:  *)
(* a leader that counted that replica must ask again. The last member stays  *)
(* in the ISR unless an empty ISR is allowed.                                *)
ChangeRecord(p, ask, election, empty_isr_allowed) ==
  LET changed == election.leader # p.leader
      dropped == ~(Members(p.replicas) \subseteq Members(ask.replicas))
      forced  == changed /\ election.unclean
      recovery == IF ask.recovery # p.recovery THEN ask.recovery
                  ELSE IF forced THEN "RECOVERING" ELSE p.recovery
  IN  Field("leader", election.leader, changed \/ dropped)
      @@ Field("isr", IF forced THEN {election.leader} ELSE ask.isr,
               forced \/ (ask.isr # p.isr /\ (ask.isr # {} \/ empty_isr_allowed)))
      @@ Field("replicas", ask.replicas, ask.replicas # p.replicas)
      @@ Field("removing", ask.removing, ask.removing # p.removing)
      @@ Field("adding", ask.adding, ask.adding # p.adding)
      @@ Field("recovery", recovery, recovery # p.recovery)

(* The whole way: complete the reassignment, elect a leader, and write the   *)
(* difference. acceptable: the brokers that may lead.                        *)
Build(p, ask, acceptable) ==
  LET done == Completed(ask)
  IN  ChangeRecord(p, done, Elected(p, done, acceptable), FALSE)

(* The effect of a record on a partition. Every record raises the partition  *)
(* epoch. A record with a leader also raises the leader epoch, even if it    *)
(* names the same leader.                                                    *)
(* Kafka: PartitionRegistration.merge.                                       *)
Replay(p, record) ==
  LET New(name, old) == IF name \in DOMAIN record THEN record[name] ELSE old
  IN  IF record = NoChange THEN p
      ELSE [replicas |-> New("replicas", p.replicas),
            isr |-> New("isr", p.isr),
            leader |-> New("leader", p.leader),
            leader_epoch |-> p.leader_epoch + (IF "leader" \in DOMAIN record THEN 1 ELSE 0),
            partition_epoch |-> p.partition_epoch + 1,
            adding |-> New("adding", p.adding),
            removing |-> New("removing", p.removing),
            recovery |-> New("recovery", p.recovery)]
------------------------------------------------------------------------------
(* AlterPartition: the leader m.broker asks for another ISR. m.isr gives     *)
(* each member the broker epoch that the leader knows, or NoEpoch. eligible: *)
(* from each broker that may be in an ISR to its epoch.                      *)

(* The error for a partition: the first that applies.                        *)
(* Kafka: ReplicationControlManager.validateAlterPartitionData.              *)
AlterPartitionError(p, m, eligible) ==
  IF m.leader_epoch > p.leader_epoch THEN "NOT_CONTROLLER"
  ELSE IF m.partition_epoch > p.partition_epoch THEN "NOT_CONTROLLER"
  ELSE IF m.leader_epoch < p.leader_epoch THEN "FENCED_LEADER_EPOCH"
  ELSE IF m.broker # p.leader THEN "INVALID_REQUEST"
  ELSE IF m.partition_epoch < p.partition_epoch THEN "INVALID_UPDATE_VERSION"
  ELSE IF ~(DOMAIN m.isr \subseteq Members(p.replicas)) THEN "INVALID_REQUEST"
  ELSE IF p.leader \notin DOMAIN m.isr THEN "INVALID_REQUEST"
  ELSE IF m.recovery = "RECOVERING" /\ Cardinality(DOMAIN m.isr) > 1 THEN "INVALID_REQUEST"
  ELSE IF p.recovery = "RECOVERED" /\ m.recovery = "RECOVERING" THEN "INVALID_REQUEST"
  ELSE IF \E r \in DOMAIN m.isr :
            \/ r \notin DOMAIN eligible
            \/ m.isr[r] # NoEpoch /\ m.isr[r] # eligible[r]
       THEN "INELIGIBLE_REPLICA"
  ELSE "NONE"

(* The answer to a granted request. The sender loses the leadership if the   *)
(* request completes a reassignment that removes the sender.                 *)
AnswerAfter(m, record) ==
  IF "leader" \in DOMAIN record /\ record.leader # m.broker
  THEN "NEW_LEADER_ELECTED" ELSE "NONE"
==============================================================================
