---------------------------- MODULE UntimedLease -----------------------------
(***************************************************************************)
(* The broker lease as a committed metadata log shows it. There are no     *)
(* heartbeats and no time: the controller may fence and unfence at will.   *)
(* This module keeps the rules that tie each record to the records before  *)
(* it. BrokerLease refines this module (MCBrokerLeaseRefinement). The      *)
(* audit steps through it with the log of a real cluster, record by        *)
(* record: each action takes the offset of the record that it stands for.  *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - ClusterControlManager.registerBroker -> RegisterBroker,              *)
(*    AmendRegistration                                                    *)
(*  - ReplicationControlManager.handleBrokerFenced -> FenceBroker          *)
(*  - ReplicationControlManager.handleBrokerUnfenced -> UnfenceBroker      *)
(*  - ReplicationControlManager.handleBrokerInControlledShutdown ->        *)
(*    BeginControlledShutdown                                              *)
(*  - ReplicationControlManager.handleDirectoriesOffline ->                *)
(*    ChangeDirectories                                                    *)
(*  - ReplicationControlManager.unregisterBroker -> UnregisterBroker       *)
(*  - any other handler that writes a record -> OtherRecord                *)
(*  - no handler -> BeginBatch                                             *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - The controller's reasons: sessions, heartbeats, offsets that brokers *)
(*    report.                                                              *)
(*  - What records contain besides the lease: listeners, features, racks,  *)
(*    directories, partitions. Their records only take up offsets.         *)
(*  - Transactions: a record inside an aborted one counts like any other.  *)
(*    No record of this module is ever written inside one.                 *)
(***************************************************************************)
EXTENDS Integers, TLC

CONSTANTS
  Broker,        \* The broker ids. Bounds TypeOK and Next, not the actions.
  Incarnation    \* The incarnation ids. Bounds TypeOK and Next, not the actions.

VARIABLES
  registrations,  \* From each registered broker to its registration.
  log_end,        \* The offset after the last record.
  epoch_floor     \* No new epoch may be less: the first offset of this batch
                  \* from which on every record may belong to the same operation as the next.

vars == <<registrations, log_end, epoch_floor>>

Registration ==
  [incarnation : Incarnation, epoch : Nat, fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]

TypeOK ==
  /\ DOMAIN registrations \subseteq Broker
  /\ \A b \in DOMAIN registrations : registrations[b] \in Registration
  /\ log_end \in Nat
  /\ epoch_floor \in 0 .. log_end

Registered(b) == b \in DOMAIN registrations

Init ==
  /\ registrations = << >>
  /\ log_end = 0
  /\ epoch_floor = 0

(* The record of this step is at this offset; the next operation begins      *)
(* after.                                                                    *)
Write(offset) ==
  /\ offset >= log_end
  /\ log_end' = offset + 1
  /\ epoch_floor' = offset + 1

(***************************************************************************)
(* RegisterBrokerRecord of a new incarnation. Its epoch is the offset at   *)
(* which its operation began. In the same batch, records that clean up     *)
(* after the previous incarnation may come before it.                      *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RegisterBroker(b, incarnation, epoch, fenced, in_controlled_shutdown, offset) ==
  /\ Registered(b) => registrations[b].incarnation # incarnation
  /\ epoch >= epoch_floor
  /\ epoch <= offset
  /\ fenced
  /\ ~in_controlled_shutdown
  /\ registrations' =
       (b :> [incarnation |-> incarnation, epoch |-> epoch, fenced |-> fenced,
              in_controlled_shutdown |-> in_controlled_shutdown]) @@ registrations
  /\ Write(offset)

(***************************************************************************)
(* RegisterBrokerRecord of the registered incarnation. All of its state    *)
(* that matters to the lease stays as it is.                               *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
AmendRegistration(b, incarnation, epoch, fenced, in_controlled_shutdown, offset) ==
  /\ Registered(b)
  /\ registrations[b].incarnation = incarnation
  /\ registrations[b].epoch = epoch
  /\ registrations[b].fenced = fenced
  /\ registrations[b].in_controlled_shutdown = in_controlled_shutdown
  /\ UNCHANGED registrations
  /\ Write(offset)

(* A change record names the registration that it changes.                   *)
Names(b, epoch) ==
  /\ Registered(b)
  /\ registrations[b].epoch = epoch

(***************************************************************************)
(* BrokerRegistrationChangeRecord, or FenceBrokerRecord of old metadata    *)
(* versions. A fenced broker may be fenced again: the controller does so   *)
(* when the session of a broker that has shut down expires.                *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                    *)
(***************************************************************************)
FenceBroker(b, epoch, offset) ==
  /\ Names(b, epoch)
  /\ registrations' = [registrations EXCEPT ![b].fenced = TRUE]
  /\ Write(offset)

(***************************************************************************)
(* Kafka: ReplicationControlManager.handleBrokerUnfenced.                  *)
(***************************************************************************)
UnfenceBroker(b, epoch, offset) ==
  /\ Names(b, epoch)
  /\ registrations[b].fenced
  /\ registrations' = [registrations EXCEPT ![b].fenced = FALSE]
  /\ Write(offset)

(***************************************************************************)
(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.      *)
(***************************************************************************)
BeginControlledShutdown(b, epoch, offset) ==
  /\ Names(b, epoch)
  /\ ~registrations[b].fenced
  /\ ~registrations[b].in_controlled_shutdown
  /\ registrations' = [registrations EXCEPT ![b].in_controlled_shutdown = TRUE]
  /\ Write(offset)

(***************************************************************************)
(* A change record that leaves the lease as it is: a log directory failed. *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleDirectoriesOffline.              *)
(***************************************************************************)
ChangeDirectories(b, epoch, offset) ==
  /\ Names(b, epoch)
  /\ UNCHANGED registrations
  /\ Write(offset)

(***************************************************************************)
(* UnregisterBrokerRecord.                                                 *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.unregisterBroker.                      *)
(***************************************************************************)
UnregisterBroker(b, epoch, offset) ==
  /\ Names(b, epoch)
  /\ registrations' = [other \in DOMAIN registrations \ {b} |-> registrations[other]]
  /\ Write(offset)

(***************************************************************************)
(* A record outside the lease. Only a record that changes a partition can  *)
(* belong to the operation of a registration that follows it.              *)
(***************************************************************************)
OtherRecord(changes_partition, offset) ==
  /\ offset >= log_end
  /\ log_end' = offset + 1
  /\ epoch_floor' = IF changes_partition THEN epoch_floor ELSE offset + 1
  /\ UNCHANGED registrations

(***************************************************************************)
(* A batch begins. An operation whose records must appear together does    *)
(* not begin before its batch.                                             *)
(***************************************************************************)
BeginBatch(base_offset) ==
  /\ base_offset >= log_end
  /\ log_end' = base_offset
  /\ epoch_floor' = base_offset
  /\ UNCHANGED registrations
------------------------------------------------------------------------------
(* The values that Next tries: the next offset, and every epoch there is. A  *)
(* model may replace them by more values, to see that the guards above       *)
(* exclude the others.                                                       *)
SomeOffset == {log_end}
SomeEpoch == 0 .. log_end

Next ==
  \/ \E b \in Broker, i \in Incarnation, epoch \in SomeEpoch, offset \in SomeOffset,
        fenced, in_controlled_shutdown \in BOOLEAN :
       RegisterBroker(b, i, epoch, fenced, in_controlled_shutdown, offset)
  \/ \E b \in Broker, i \in Incarnation, epoch \in SomeEpoch, offset \in SomeOffset,
        fenced, in_controlled_shutdown \in BOOLEAN :
       AmendRegistration(b, i, epoch, fenced, in_controlled_shutdown, offset)
  \/ \E b \in Broker, epoch \in SomeEpoch, offset \in SomeOffset : FenceBroker(b, epoch, offset)
  \/ \E b \in Broker, epoch \in SomeEpoch, offset \in SomeOffset : UnfenceBroker(b, epoch, offset)
  \/ \E b \in Broker, epoch \in SomeEpoch, offset \in SomeOffset :
       BeginControlledShutdown(b, epoch, offset)
  \/ \E b \in Broker, epoch \in SomeEpoch, offset \in SomeOffset :
       ChangeDirectories(b, epoch, offset)
  \/ \E b \in Broker, epoch \in SomeEpoch, offset \in SomeOffset :
       UnregisterBroker(b, epoch, offset)
  \/ \E changes_partition \in BOOLEAN, offset \in SomeOffset :
       OtherRecord(changes_partition, offset)
  \/ \E base_offset \in SomeOffset : BeginBatch(base_offset)

Spec == Init /\ [][Next]_vars
------------------------------------------------------------------------------
(* Properties                                                                *)

(* An epoch is an offset of the log, and new ones come after it.             *)
(* Source: KIP-631. Broken by: an epoch past its own record.                 *)
EpochWithinLogInv ==
  \A b \in DOMAIN registrations :
    /\ registrations[b].epoch < log_end
    /\ registrations[b].epoch < epoch_floor

(* No two registered brokers have the same epoch.                            *)
(* Source: KIP-631. Broken by: an epoch that is not taken from the log.      *)
EpochUniqueInv ==
  \A a, b \in DOMAIN registrations :
    a # b => registrations[a].epoch # registrations[b].epoch

(* The log end and the floor under the next epoch never go back.             *)
LogGrowsProp == [][log_end' >= log_end /\ epoch_floor' >= epoch_floor]_vars

(* A registration changes only with a record, and a record changes one       *)
(* registration.                                                             *)
(* Source: KIP-631, the image is a replay of the log. Broken by: a batch     *)
(* that begins without the registrations before it.                          *)
IsChanged(b) ==
  IF b \in DOMAIN registrations \cap DOMAIN registrations'
  THEN registrations'[b] # registrations[b] ELSE TRUE
OneChangeARecordProp ==
  [][/\ log_end' > log_end
     /\ \A a, b \in DOMAIN registrations \cup DOMAIN registrations' :
          IsChanged(a) /\ IsChanged(b) => a = b]_registrations

(* The epoch of a broker id only grows, also after unregistration.           *)
(* Source: KIP-631. Broken by: reusing an epoch.                             *)
EpochGrowsProp ==
  [][\A b \in DOMAIN registrations' :
       LET new == registrations'[b] IN
       IF Registered(b)
       THEN new.epoch > registrations[b].epoch \/
            (new.epoch = registrations[b].epoch
             /\ new.incarnation = registrations[b].incarnation)
       ELSE new.epoch >= epoch_floor]_vars

(* A new registration is fenced and not shutting down.                       *)
(* Source: KIP-631. Broken by: registering unfenced, or in controlled        *)
(* shutdown.                                                                 *)
NewRegistrationIsFencedProp ==
  [][\A b \in DOMAIN registrations' :
       (~Registered(b) \/ registrations[b].incarnation # registrations'[b].incarnation) =>
         registrations'[b].fenced /\ ~registrations'[b].in_controlled_shutdown]_vars

(* Only an unfenced broker begins a controlled shutdown.                     *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState.           *)
(* Broken by: beginning one for a fenced broker, which leads nothing.        *)
ShutdownBeginsUnfencedProp ==
  [][\A b \in DOMAIN registrations \cap DOMAIN registrations' :
       (~registrations[b].in_controlled_shutdown /\ registrations'[b].in_controlled_shutdown)
         => ~registrations[b].fenced]_vars

(* Only a new incarnation takes back a controlled shutdown.                  *)
(* Source: Kafka, BrokerRegistrationChangeRecord has no value that clears it.*)
(* Broken by: clearing it when the broker is unfenced.                       *)
ShutdownNotTakenBackProp ==
  [][\A b \in DOMAIN registrations \cap DOMAIN registrations' :
       (registrations[b].in_controlled_shutdown /\ ~registrations'[b].in_controlled_shutdown)
         => registrations'[b].incarnation # registrations[b].incarnation]_vars
==============================================================================
