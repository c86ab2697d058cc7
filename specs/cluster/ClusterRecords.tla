---------------------------- MODULE ClusterRecords ----------------------------
(***************************************************************************)
(* The metadata records of Cluster, and the effect of replaying them on an *)
(* image. Only this module defines the effect of a record. The active      *)
(* controller replays what it has just written; every other node replays   *)
(* what is committed. Nothing else changes an image.                       *)
(*                                                                         *)
(* Sources: KIP-631 (records, broker epoch), KIP-841 (controlled shutdown  *)
(* in the log), KIP-919 (controllers), and Kafka as built.                 *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Broker,               \* The broker ids.
  BrokerOrder,          \* The broker ids, as a sequence in ascending order.
  Incarnation,          \* All broker processes.
  Controller,           \* The controller ids.
  ControllerProcess,    \* All controller processes that ever register.
  ControllerOf,         \* [ControllerProcess -> Controller].
  Supported,            \* [ControllerProcess -> levels of the metadata version].
  Level,                \* The levels of the metadata version: numbers.
  GateLevel,            \* The first level that allows registrations of controllers.
  Nil                   \* No registration, no answer, no image.

Partitions == INSTANCE PartitionChange

NoEpoch == -1
NoOffset == -1
NoLeader == Partitions!NoLeader
------------------------------------------------------------------------------
(* Images                                                                    *)

Registration ==
  [incarnation : Incarnation, epoch : Nat, record_offset : Nat,
   fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]

ControllerRegistration ==
  [incarnation : ControllerProcess, supported : SUBSET Level]

(* end: the offset after the last record that was replayed. *)
Image ==
  [registrations : [Broker -> Registration \cup {Nil}],
   partition : Partitions!Partition(Broker),
   controllers : [Controller -> ControllerRegistration \cup {Nil}],
   metadata_version : Level,
   end : Nat]

Registered(image, b) == image.registrations[b] # Nil

(* The broker may lead and be in sync: it is registered, unfenced, and not   *)
(* in controlled shutdown.                                                   *)
(* Kafka: ClusterControlManager.isActive.                                    *)
ActiveIn(image, b) ==
  /\ Registered(image, b)
  /\ ~image.registrations[b].fenced
  /\ ~image.registrations[b].in_controlled_shutdown
ActiveBrokers(image) == {b \in Broker : ActiveIn(image, b)}
------------------------------------------------------------------------------
(* Records                                                                   *)

RegisterBrokerRecord(b, i, epoch, fenced, in_controlled_shutdown) ==
  [type |-> "RegisterBrokerRecord", broker |-> b, incarnation |-> i, epoch |-> epoch,
   fenced |-> fenced, in_controlled_shutdown |-> in_controlled_shutdown]

(* fenced: FENCE, UNFENCE, or NONE for no change. A controlled shutdown can  *)
(* only begin.                                                               *)
BrokerRegistrationChangeRecord(b, epoch, fenced, in_controlled_shutdown) ==
  [type |-> "BrokerRegistrationChangeRecord", broker |-> b, epoch |-> epoch,
   fenced |-> fenced, in_controlled_shutdown |-> in_controlled_shutdown]

(* change: a function from the names of the fields that change.              *)
PartitionChangeRecord(change) == [type |-> "PartitionChangeRecord", change |-> change]

RegisterControllerRecord(i) == [type |-> "RegisterControllerRecord", incarnation |-> i]
FeatureLevelRecord(level) == [type |-> "FeatureLevelRecord", level |-> level]

(* Raft's own record at the beginning of an epoch takes an offset, and       *)
(* changes nothing else in an image.                                         *)
LeaderChangeRecord(c) == [type |-> "LeaderChangeRecord", leader |-> c]

(* The record for a change of the partition; none if there is no change.     *)
PartitionRecords(change) ==
  IF change = Partitions!NoChange THEN << >> ELSE <<PartitionChangeRecord(change)>>
------------------------------------------------------------------------------
(* Replaying                                                                 *)

(* Kafka: ClusterControlManager.replay.                                      *)
ReplayRegisterBroker(image, r) ==
  [image EXCEPT !.registrations[r.broker] =
     [incarnation |-> r.incarnation, epoch |-> r.epoch, record_offset |-> image.end,
      fenced |-> r.fenced, in_controlled_shutdown |-> r.in_controlled_shutdown]]

(* Kafka: ClusterControlManager.replayRegistrationChange.                    *)
ReplayRegistrationChange(image, r) ==
  [image EXCEPT
     !.registrations[r.broker].fenced = IF r.fenced = "NONE" THEN @ ELSE r.fenced = "FENCE",
     !.registrations[r.broker].in_controlled_shutdown = @ \/ r.in_controlled_shutdown]

(* Kafka: ReplicationControlManager.replay.                                  *)
ReplayPartitionChange(image, r) ==
  [image EXCEPT !.partition = Partitions!Replay(@, r.change)]

ReplayRegisterController(image, r) ==
  [image EXCEPT !.controllers[ControllerOf[r.incarnation]] =
     [incarnation |-> r.incarnation, supported |-> Supported[r.incarnation]]]

ReplayRecord(image, r) ==
  LET changed ==
        CASE r.type = "RegisterBrokerRecord" -> ReplayRegisterBroker(image, r)
          [] r.type = "BrokerRegistrationChangeRecord" -> ReplayRegistrationChange(image, r)
          [] r.type = "PartitionChangeRecord" -> ReplayPartitionChange(image, r)
          [] r.type = "RegisterControllerRecord" -> ReplayRegisterController(image, r)
          [] r.type = "FeatureLevelRecord" -> [image EXCEPT !.metadata_version = r.level]
          [] OTHER -> image
  IN  [changed EXCEPT !.end = image.end + 1]

RECURSIVE ReplayBatch(_, _)
ReplayBatch(image, records) ==
  IF records = << >> THEN image
  ELSE ReplayBatch(ReplayRecord(image, Head(records)), Tail(records))
------------------------------------------------------------------------------
(* The records that the controller writes about a broker, by what it has     *)
(* written before. Each sequence is one batch, so no node ever sees a part   *)
(* of it.                                                                    *)

ElectedWith(image, ask, acceptable) ==
  PartitionRecords(Partitions!Build(image.partition, ask, acceptable))

(* Broker b leaves the ISR of the partition, and no longer leads it.         *)
(* Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates.             *)
WithoutBrokerRecords(image, b) ==
  IF b \in image.partition.isr
  THEN ElectedWith(image, Partitions!WithoutBroker(image.partition, b, FALSE),
                   ActiveBrokers(image) \ {b})
  ELSE << >>

(* The partition moves first: a node that sees a broker fenced has seen the  *)
(* move.                                                                     *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                      *)
FenceRecords(image, b) ==
  WithoutBrokerRecords(image, b)
  \o <<BrokerRegistrationChangeRecord(b, image.registrations[b].epoch, "FENCE", FALSE)>>

(* A partition without a leader may get one now.                             *)
(* Kafka: ReplicationControlManager.handleBrokerUnfenced.                    *)
UnfenceRecords(image, b) ==
  <<BrokerRegistrationChangeRecord(b, image.registrations[b].epoch, "UNFENCE", FALSE)>>
  \o IF image.partition.leader = NoLeader
     THEN ElectedWith(image, Partitions!NewLeader(image.partition, "ONLINE"),
                      ActiveBrokers(image) \cup {b})
     ELSE << >>

(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.        *)
ShutdownRecords(image, b) ==
  <<BrokerRegistrationChangeRecord(b, image.registrations[b].epoch, "NONE", TRUE)>>
  \o WithoutBrokerRecords(image, b)

(* A new incarnation registers. The partition that the previous one led      *)
(* moves first. The epoch is the offset at which the batch begins.           *)
(* Kafka: ClusterControlManager.registerBroker.                              *)
RegisterRecords(image, b, i) ==
  WithoutBrokerRecords(image, b)
  \o <<RegisterBrokerRecord(b, i, image.end, TRUE, FALSE)>>

(* The same incarnation registers again: all fields stay the same.           *)
(* Kafka: ClusterControlManager.registerBroker.                              *)
AmendRecords(image, b) ==
  LET r == image.registrations[b] IN
  <<RegisterBrokerRecord(b, r.incarnation, r.epoch, r.fenced, r.in_controlled_shutdown)>>

(* The brokers that may be in an ISR, with their epochs. *)
Eligible(image) == [b \in ActiveBrokers(image) |-> image.registrations[b].epoch]
==============================================================================
