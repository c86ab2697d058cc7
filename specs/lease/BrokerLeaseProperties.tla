------------------------ MODULE BrokerLeaseProperties ------------------------
(***************************************************************************)
(* The properties of BrokerLease. Suffixes: Inv (every state), Prop (every *)
(* step), Live (in the end), Reach (must be possible). The sentences above *)
(* each property say what it means and, for most, where it comes from and  *)
(* what breaks it.                                                         *)
(***************************************************************************)
EXTENDS BrokerLease

------------------------------------------------------------------------------
(* Invariants                                                                *)

(* The epoch of a registration is no later than the offset of its newest     *)
(* registration record, and that record is in the log. EpochIsNewOffsetProp  *)
(* says that the epoch is the offset of the first one.                       *)
(* Source: KIP-631, BrokerRegistration. Broken by: an epoch that is the      *)
(* offset after the record.                                                  *)
EpochIsRegistrationOffsetInv ==
  \A b \in Broker : Registered(b) =>
    /\ registrations[b].epoch <= registrations[b].record_offset
    /\ registrations[b].record_offset < log_end

(* No two registrations have the same epoch, so an epoch names one process.  *)
(* Source: KIP-631. Broken by: an epoch that is not taken from the log.      *)
EpochUniqueInv ==
  \A a, b \in Broker : (a # b /\ Registered(a) /\ Registered(b)) =>
    registrations[a].epoch # registrations[b].epoch

(* No two live processes of a broker id hold the same epoch.                 *)
(* Source: KIP-631, incarnation ids. Broken by: handing a newcomer the epoch *)
(* of the registered incarnation.                                            *)
OneLiveIncarnationInv ==
  \A i, j \in Incarnation :
    (i # j /\ BrokerOf[i] = BrokerOf[j] /\ broker_epoch[i] # NoEpoch) =>
      broker_epoch[i] # broker_epoch[j]

(* The process that holds the registered epoch is the registered             *)
(* incarnation.                                                              *)
(* Source: KIP-631, incarnation ids.                                         *)
(* Broken by: answering one incarnation with the registration of another.    *)
EpochBelongsToIncarnationInv ==
  \A i \in Incarnation :
    LET r == registrations[BrokerOf[i]] IN
    (broker_epoch[i] # NoEpoch /\ r # Nil) =>
      ((r.epoch = broker_epoch[i]) => (r.incarnation = i))

(* A registered process that has an epoch has the registered one. True only  *)
(* if requests arrive in order: see broken/lease/UnknownRegistration.cfg.    *)
(* After the operator removed a registration, an overtaken request of the    *)
(* same process registers it anew, under an epoch that the process never     *)
(* learns.                                                                   *)
RegistrationIsKnownInv ==
  \A i \in Incarnation :
    LET r == registrations[BrokerOf[i]] IN
    (broker_epoch[i] # NoEpoch /\ r # Nil) =>
      ((r.incarnation = i) => (r.epoch = broker_epoch[i]))

(* Only a broker that is registered, unfenced and not in controlled shutdown *)
(* leads.                                                                    *)
(* Source: KIP-631, broker leases. Broken by: fencing without moving leaders.*)
OnlyActiveBrokersLeadInv == \A b \in leads : Active(b)

(* An unfenced broker has a session, so that its silence is noticed.         *)
(* Source: Kafka, BrokerHeartbeatTracker. Broken by: a failover that starts  *)
(* no sessions (KAFKA-18138): a broker that then dies is never fenced.       *)
UnfencedHasSessionInv ==
  \A b \in Broker : (Registered(b) /\ ~registrations[b].fenced) => contact_age[b] # NoAge

(* The controller remembers a controlled shutdown only of an unfenced broker *)
(* that no longer leads anything.                                            *)
(* Source: Kafka, BrokerHeartbeatManager.touch. Broken by: fencing a broker  *)
(* without forgetting its controlled shutdown.                               *)
ShuttingDownIsUnfencedInv ==
  \A b \in Broker : ShuttingDown(b) =>
    /\ Registered(b)
    /\ ~registrations[b].fenced
    /\ registrations[b].in_controlled_shutdown
    /\ b \notin leads

(* The controller keeps soft state of registered brokers only.               *)
SoftStateOfRegisteredInv ==
  \A b \in Broker : ~Registered(b) =>
    /\ contact_age[b] = NoAge
    /\ metadata_offset[b] = NoOffset
    /\ controlled_shutdown_offset[b] = NoOffset

(* At most one awaited request or answer of a process is in flight, in one   *)
(* copy, and only while the process waits.                                   *)
(* Source: Kafka, BrokerLifecycleManager has one request in flight           *)
(* (KAFKA-15950). Broken by: sending without waiting.                        *)
OneRequestInFlightInv ==
  \A i \in Incarnation :
    LET mine == {m \in InFlight(messages) :
                   m.incarnation = i /\ (IsRequest(m) => m.awaited)}
    IN  /\ Cardinality(mine) <= 1
        /\ \A m \in mine : Waiting(i) /\ messages[m] = 1

(* Process i holds the epoch that is registered for its broker. *)
HoldsRegisteredEpoch(i) ==
  /\ broker_epoch[i] # NoEpoch
  /\ Registered(BrokerOf[i])
  /\ registrations[BrokerOf[i]].epoch = broker_epoch[i]

(* A process that is past STARTING has replayed the first record of its      *)
(* registration. It may not have replayed a later one, if its registration   *)
(* was repeated: AnswerTellsTheLogProp says what counts as caught up.        *)
(* Source: KAFKA-13959; KIP-631, broker state machine.                       *)
(* Broken by: a process that recovers as soon as it has an epoch.            *)
CaughtUpBeforeRecoveryInv ==
  \A i \in Incarnation :
    status[i] \in {"RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN"} =>
      applied_offset[i] >= broker_epoch[i]

(* While the process of an unfenced broker lives, it is past STARTING.       *)
(* Source: KIP-631, broker state machine.                                    *)
(* Broken by: a process that asks to be unfenced before it has caught up.    *)
UnfencedHasRecoveredInv ==
  \A i \in Incarnation :
    (Live(i) /\ HoldsRegisteredEpoch(i) /\ ~registrations[BrokerOf[i]].fenced) =>
      status[i] # "STARTING"

(* A process that does not run keeps nothing in memory.                      *)
EndedKeepsNothingInv ==
  \A i \in Incarnation : ~Live(i) =>
    /\ broker_epoch[i] = NoEpoch
    /\ applied_offset[i] = NoOffset
    /\ request_age[i] = NoAge
    /\ lease_age[i] = NoAge

(* No process has replayed past the end of the log.                          *)
AppliedWithinLogInv == \A i \in Incarnation : applied_offset[i] < log_end

(* Serving: the process takes itself for a broker that may lead. A process   *)
(* that asked to shut down does not count: it has asked for its leaderships  *)
(* to be moved. KIP-343's broker stops serving when its lease is void.       *)
Serving(i) ==
  /\ status[i] = "RUNNING"
  /\ SelfFence => (lease_age[i] # NoAge /\ lease_age[i] <= BrokerTimeout)

ServingProcesses == {i \in Incarnation : Serving(i)}

(* A process serves only while its own registration is in the log and        *)
(* unfenced.                                                                 *)
(* Source: KIP-343's self-fencing with its timeouts reversed: the KIP asks   *)
(* for a broker's timeout longer than the controller's. True only if (1)     *)
(* SelfFence, (2) BrokerTimeout + MaxSkew <= SessionTimeout, (3) each clock  *)
(* stays within MaxSkew of the controller's over the process's whole life,   *)
(* (4) requests arrive in order, (5) one controller is active at a time, and *)
(* (6) no live broker is removed. Kafka as built does not promise it:        *)
(* epochs, not time, protect the data. Broken by: SelfFence off; a broker's  *)
(* clock that is too slow; a lease counted from the answer; an overtaken     *)
(* heartbeat that still asks to fence.                                       *)
NoOverlapInv ==
  \A i \in Incarnation : Serving(i) =>
    LET r == registrations[BrokerOf[i]] IN
    r # Nil /\ r.epoch = broker_epoch[i] /\ ~r.fenced

(* No two processes of one broker id serve at once. The conditions are those *)
(* of NoOverlapInv.                                                          *)
OneServerPerIdInv ==
  \A i, j \in Incarnation :
    (i # j /\ BrokerOf[i] = BrokerOf[j]) => ~(Serving(i) /\ Serving(j))
------------------------------------------------------------------------------
(* Steps. The subscript of each names the variables that it is about: a step *)
(* that leaves them unchanged cannot break the property.                     *)

(* A copy of message m is handled or lost in this step. A step that a        *)
(* message causes takes a copy of that message.                              *)
Consumed(m) ==
  /\ m \in InFlight(messages)
  /\ m \notin InFlight(messages') \/ messages'[m] < messages[m]

(* The log only grows.                                                       *)
LogGrowsProp == [][log_end' >= log_end]_log_end

(* A registration changes only with a new record.                            *)
(* Source: KIP-631, the image is a replay of the log. Broken by: a change    *)
(* without a record.                                                         *)
ChangesAreLoggedProp == [][registrations' # registrations => log_end' > log_end]_registrations

(* A broker's epoch changes only with its incarnation, and only upwards.     *)
(* Source: KAFKA-16952. Broken by: a new epoch for the same incarnation.     *)
EpochFollowsIncarnationProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old # new) =>
         IF old.incarnation = new.incarnation
         THEN new.epoch = old.epoch
         ELSE new.epoch > old.epoch]_registrations

(* A new registration is fenced and not shutting down.                       *)
(* Source: KIP-631. Broken by: registering unfenced.                         *)
NewRegistrationIsFencedProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.incarnation # new.incarnation))) =>
         new.fenced /\ ~new.in_controlled_shutdown]_registrations

(* The epoch of a new registration is the offset of the record that made it. *)
(* Source: KIP-631, BrokerRegistration. Broken by: an epoch that is an       *)
(* offset, but not of this record.                                           *)
EpochIsNewOffsetProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.incarnation # new.incarnation))) =>
         new.epoch = log_end /\ new.record_offset = log_end]_registrations

(* Registering again changes neither fencing nor controlled shutdown.        *)
(* Source: KAFKA-16757. Broken by: fencing on amendment.                     *)
AmendKeepsStateProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ old.record_offset # new.record_offset) =>
           new = [old EXCEPT !.record_offset = log_end]]_registrations

(* A controlled shutdown is never taken back; only a new incarnation starts  *)
(* without it. Source: Kafka, BrokerRegistrationChangeRecord has no value    *)
(* that clears it.                                                           *)
ShutdownNotTakenBackProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ old.in_controlled_shutdown) => new.in_controlled_shutdown]_registrations

(* No other incarnation displaces one whose session is valid, whether that   *)
(* one still runs or not.                                                    *)
(* Source: KIP-631, DUPLICATE_BROKER_REGISTRATION. Broken by: registering    *)
(* without looking at the session, or ending it one unit too early.          *)
SessionProtectsProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation # new.incarnation) =>
         contact_age[b] = NoAge \/ contact_age[b] > SessionTimeout]_registrations

(* A broker is unfenced only after it replayed its own registration, and not *)
(* if it asks to shut down.                                                  *)
(* Source: KAFKA-13959; Kafka: BrokerHeartbeatManager.calculateNextBroker-   *)
(* State. Broken by: unfencing at once; before a shutdown is looked at.      *)
UnfencedSawOwnRegistrationProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.fenced /\ ~new.fenced) =>
         \E m \in InFlight(messages) :
           /\ Consumed(m)
           /\ m.type = "HeartbeatRequest"
           /\ BrokerOf[m.incarnation] = b
           /\ m.epoch = old.epoch
           /\ ~m.want_fence
           /\ ~m.want_shut_down
           /\ m.metadata_offset >= old.record_offset]_registrations

(* Unless a broker asked to be fenced or to shut down, the controller fences *)
(* it only after its session has expired.                                    *)
(* Source: KIP-631, broker leases. Broken by: fencing at the timeout instead *)
(* of after it; fencing a broker whose request to shut down is still in      *)
(* flight.                                                                   *)
FencedOnlyWhenDueProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ ~old.fenced /\ new.fenced) =>
         \/ contact_age[b] > SessionTimeout
         \/ \E m \in InFlight(messages) :
              /\ Consumed(m)
              /\ m.type = "HeartbeatRequest"
              /\ BrokerOf[m.incarnation] = b
              /\ m.epoch = old.epoch
              /\ m.want_fence \/ m.want_shut_down \/ ShuttingDown(b)]_registrations

(* Only two things renew a session: a heartbeat of the registered epoch and, *)
(* for an unfenced broker, a failover.                                       *)
(* Source: Kafka, BrokerHeartbeatTracker.                                    *)
(* Broken by: counting a stale heartbeat as contact.                         *)
SessionRenewedByHeartbeatProp ==
  [][\A b \in Broker :
       (contact_age'[b] # NoAge /\ (contact_age[b] = NoAge \/ contact_age'[b] < contact_age[b])) =>
         \/ \E m \in InFlight(messages) :
              /\ Consumed(m)
              /\ m.type = "HeartbeatRequest"
              /\ Registered(b)
              /\ BrokerOf[m.incarnation] = b
              /\ m.epoch = registrations[b].epoch
         \/ FailOver /\ Registered(b) /\ ~registrations[b].fenced]_contact_age

(* A broker whose heartbeat is accepted has a new session, fenced or not.    *)
(* Source: KAFKA-17793. Broken by: a heartbeat that is no contact because    *)
(* the broker stays fenced.                                                  *)
HeartbeatIsContactProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "HeartbeatResponse" /\ m.error = "NONE") =>
         contact_age'[BrokerOf[m.incarnation]] = 0]_messages

(* The answer to a heartbeat says whether the offset that it reported has    *)
(* reached the newest record of the registration, and whether the broker is  *)
(* fenced after it.                                                          *)
(* Source: Kafka, ReplicationControlManager.processBrokerHeartbeat and       *)
(* ClusterControlManager.registerBrokerRecordOffset (KAFKA-13959). Broken    *)
(* by: comparing with the first record of the registration; telling whether  *)
(* the broker was fenced before.                                             *)
AnswerTellsTheLogProp ==
  [][\A answer \in InFlight(messages') \ InFlight(messages) :
       (answer.type = "HeartbeatResponse" /\ answer.error = "NONE") =>
         LET b == BrokerOf[answer.incarnation] IN
         /\ answer.is_fenced = registrations'[b].fenced
         /\ \E m \in InFlight(messages) :
              /\ Consumed(m)
              /\ m.type = "HeartbeatRequest"
              /\ m.incarnation = answer.incarnation
              /\ answer.is_caught_up =
                   (m.metadata_offset >= registrations[b].record_offset)]_messages

(* A record that changes a registration makes the controller forget the      *)
(* offset that the broker had reported, until its next heartbeat.            *)
(* Source: Kafka, BrokerHeartbeatManager.register, which every replay calls. *)
(* It would keep the offset if fencing changed; but touch and fence have     *)
(* noted that before.                                                        *)
(* Broken by: remembering what the heartbeat reported that caused it.        *)
RecordForgetsOffsetProp ==
  [][\A b \in Broker :
       registrations'[b] # registrations[b] => metadata_offset'[b] = NoOffset]_registrations

(* A new registration has no session, and the controller remembers nothing   *)
(* of the incarnation before.                                                *)
(* Source: Kafka, BrokerHeartbeatManager.register; KAFKA-17793.              *)
(* Broken by: a newcomer that inherits a session that is over.               *)
NewRegistrationIsForgottenProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.incarnation # new.incarnation))) =>
         /\ contact_age'[b] = NoAge
         /\ metadata_offset'[b] = NoOffset
         /\ controlled_shutdown_offset'[b] = NoOffset]_registrations

(* A new controller gives each unfenced broker a full session.               *)
(* Source: Kafka, ClusterControlManager.activate (KAFKA-18138). Broken by:   *)
(* a session that counts from the last contact with the former controller.   *)
FailOverGivesFullSessionsProp ==
  [][FailOver =>
       \A b \in Broker :
         (Registered(b) /\ ~registrations[b].fenced) => contact_age'[b] = 0]_vars

(* A process keeps its epoch as long as it runs.                             *)
(* Source: Kafka, BrokerLifecycleManager. Broken by: a process that drops    *)
(* its epoch when it hears that the epoch is stale, and registers again.     *)
EpochHeldForLifeProp ==
  [][\A i \in Incarnation :
       (broker_epoch[i] # NoEpoch /\ Live(i)') => broker_epoch'[i] = broker_epoch[i]]_broker_epoch

(* Only an answer that accepts the heartbeat renews a lease, and only a      *)
(* broker that fences itself keeps one.                                      *)
(* Source: KIP-343. Broken by: renewing it with a refusal.                   *)
LeaseRenewedByAnswerProp ==
  [][\A i \in Incarnation :
       (lease_age'[i] # NoAge /\ (lease_age[i] = NoAge \/ lease_age'[i] < lease_age[i])) =>
         /\ SelfFence
         /\ \E m \in InFlight(messages) :
              /\ Consumed(m)
              /\ m.type = "HeartbeatResponse"
              /\ m.incarnation = i
              /\ m.error = "NONE"]_lease_age

(* A broker process moves only along the states of its lifecycle.            *)
(* Source: KIP-631, broker state machine; Kafka, BrokerLifecycleManager.     *)
StatusMoves ==
  {<<"NOT_RUNNING", "STARTING">>, <<"STARTING", "RECOVERY">>, <<"RECOVERY", "RUNNING">>,
   <<"RUNNING", "PENDING_CONTROLLED_SHUTDOWN">>,
   <<"PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN">>,
   <<"STARTING", "SHUTTING_DOWN">>, <<"RECOVERY", "SHUTTING_DOWN">>,
   <<"STARTING", "CRASHED">>, <<"RECOVERY", "CRASHED">>, <<"RUNNING", "CRASHED">>,
   <<"PENDING_CONTROLLED_SHUTDOWN", "CRASHED">>}
StatusMovesProp ==
  [][\A i \in Incarnation :
       status'[i] # status[i] => <<status[i], status'[i]>> \in StatusMoves]_status

(* The offset that others must replay before a broker may shut down is that  *)
(* of the record that began its controlled shutdown. While the controller    *)
(* remembers it, further heartbeats do not change it.                        *)
(* Source: KAFKA-14292. Broken by: raising it with every heartbeat.          *)
ShutdownOffsetFixedProp ==
  [][\A b \in Broker :
       ShuttingDown(b)' =>
         IF ShuttingDown(b)
         THEN controlled_shutdown_offset'[b] = controlled_shutdown_offset[b]
         ELSE /\ controlled_shutdown_offset'[b] = log_end
              /\ log_end' = log_end + 1
              /\ registrations[b] # Nil /\ ~registrations[b].in_controlled_shutdown
              /\ registrations'[b] # Nil /\ registrations'[b].in_controlled_shutdown
         ]_controlled_shutdown_offset

(* The controller answers process i that it may stop. *)
LeaveGiven(i) ==
  \E m \in InFlight(messages') \ InFlight(messages) :
    m.type = "HeartbeatResponse" /\ m.incarnation = i /\ m.should_shut_down

(* Process i runs, is the registered process of an unfenced broker, and the  *)
(* controller does not remember that this broker is shutting down. After a   *)
(* failover that may be a broker which the log says is shutting down. (This  *)
(* does not rest on StayingBrokers, which may be what is wrong.)             *)
StayingProcess(i) ==
  /\ Live(i)
  /\ Registered(BrokerOf[i])
  /\ registrations[BrokerOf[i]].epoch = broker_epoch[i]
  /\ ~registrations[BrokerOf[i]].fenced
  /\ ~ShuttingDown(BrokerOf[i])

(* If the controller remembers that a broker is shutting down, the broker    *)
(* gets permission only when the registered process of every other broker    *)
(* that stays has replayed the record that took its leaderships away. A      *)
(* broker stays unless the controller remembers its shutdown, whatever the   *)
(* log says.                                                                 *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState and        *)
(* lowestActiveOffset. Broken by: not waiting for the others; not waiting    *)
(* for a broker whose shutdown only the log remembers.                       *)
(* ShutdownSeenByOthersProp in MCBrokerLeaseShutdown covers a controller     *)
(* that forgets the shutdown of the broker that asks.                        *)
LeaveAwaitsOthersProp ==
  [][\A i \in Incarnation :
       (LeaveGiven(i) /\ ShuttingDown(BrokerOf[i])) =>
         \A j \in Incarnation :
           StayingProcess(j) /\ BrokerOf[j] # BrokerOf[i] =>
             applied_offset[j] >= controlled_shutdown_offset[BrokerOf[i]]]_messages

(* A broker that is shutting down is kept waiting only for a broker that is  *)
(* unfenced, not shutting down as far as the controller remembers, and has   *)
(* not reported the offset of the shutdown.                                  *)
(* Source: KAFKA-14292; Kafka, BrokerHeartbeatManager.lowestActiveOffset.    *)
(* Broken by: waiting for brokers that are fenced, and may be gone; two      *)
(* brokers that shut down and wait for each other.                           *)
WaitsForAReasonProp ==
  [][\A i \in Incarnation :
       LET b == BrokerOf[i] IN
       (/\ ShuttingDown(b)
        /\ \E m \in InFlight(messages') \ InFlight(messages) :
             /\ m.type = "HeartbeatResponse" /\ m.incarnation = i
             /\ m.error = "NONE" /\ ~m.should_shut_down) =>
         \E other \in Broker \ {b} :
           /\ Registered(other)
           /\ ~registrations[other].fenced
           /\ ~ShuttingDown(other)
           /\ metadata_offset[other] < controlled_shutdown_offset[b]]_messages

(* While the controller remembers that a broker is shutting down, it fences  *)
(* the broker only in its turn, once the others have replayed the shutdown,  *)
(* or for its silence. What a heartbeat wants does not count.                *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState. Broken    *)
(* by: looking at what an overtaken heartbeat wants before the shutdown.     *)
ShutdownEndsInTurnProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (ShuttingDown(b) /\ new # Nil /\ old.incarnation = new.incarnation /\ new.fenced) =>
         contact_age[b] > SessionTimeout \/ CaughtUpWithShutdown(b)]_registrations

(* The step that permits a process to shut down also fences its broker,      *)
(* which therefore leads nothing.                                            *)
(* Source: KIP-631, controlled shutdown. Broken by: letting a leader go.     *)
LeaveIsFencedProp ==
  [][\A i \in Incarnation :
       LeaveGiven(i) =>
         /\ Registered(BrokerOf[i])
         /\ Registered(BrokerOf[i])'
         /\ registrations'[BrokerOf[i]].fenced
         /\ BrokerOf[i] \notin leads']_messages
------------------------------------------------------------------------------
(* In the end. These hold once the faults are over, under the fairness of    *)
(* MCBrokerLeaseLive. A network that never delivers breaks all of them.      *)

(* Process i is the registered process of its broker. *)
RegisteredProcess(i) ==
  /\ Registered(BrokerOf[i])
  /\ registrations[BrokerOf[i]].incarnation = i

RegisteredIsLive(b) == \E i \in Incarnation : BrokerOf[i] = b /\ Live(i) /\ RegisteredProcess(i)

(* If only one process of a broker id runs, and it was not told to stop, it  *)
(* is unfenced in the end.                                                   *)
(* Source: KIP-631, broker states. Broken by: comparing its offset with the  *)
(* end of the log, which moves on, instead of its own registration's         *)
(* (KAFKA-13959).                                                            *)
Wanted(i) ==
  /\ status[i] \in {"STARTING", "RECOVERY", "RUNNING"}
  /\ \A j \in Incarnation : (j # i /\ BrokerOf[j] = BrokerOf[i]) => ~Live(j)
RunningUnfenced(i) ==
  /\ status[i] = "RUNNING"
  /\ RegisteredProcess(i)
  /\ ~registrations[BrokerOf[i]].fenced
FencedEventuallyUnfencedLive ==
  \A i \in Incarnation : (Wanted(i) ~> (RunningUnfenced(i) \/ ~Wanted(i)))

(* A process that asks for permission to shut down gets it.                  *)
(* Source: KIP-631, controlled shutdown. Broken by: raising the offset that  *)
(* the others must replay with each heartbeat (KAFKA-14292).                 *)
ShutdownCompletesLive ==
  \A i \in Incarnation :
    ((status[i] = "PENDING_CONTROLLED_SHUTDOWN") ~> (status[i] \in {"SHUTTING_DOWN", "CRASHED"}))

(* An unfenced broker whose process is gone is fenced.                       *)
(* Source: KIP-631, broker leases. Broken by: a failover that starts no      *)
(* sessions (KAFKA-18138).                                                   *)
DeadBrokerFencedLive ==
  \A b \in Broker :
    ((Registered(b) /\ ~RegisteredIsLive(b)) ~>
       (~Registered(b) \/ registrations[b].fenced \/ RegisteredIsLive(b)))

(* A broker loses its leaderships only by ceasing to be active: no other     *)
(* change of a registration, and no failover, takes them.                    *)
(* Source: KIP-631. Broken by: an amended registration or a failover that    *)
(* moves leaders.                                                            *)
LeaderLostForAReasonProp == [][\A b \in leads \ leads' : ~Active(b)']_leads

(* A process that waits to shut down stops only if it is told so. If it is   *)
(* only told that it is fenced, it goes on waiting.                          *)
(* Source: Kafka, BrokerLifecycleManager.BrokerHeartbeatResponseEvent.       *)
(* Broken by: stopping because of a fence.                                   *)
StopsByLeaveProp ==
  [][\A i \in Incarnation :
       (status[i] = "PENDING_CONTROLLED_SHUTDOWN" /\ status'[i] = "SHUTTING_DOWN") =>
         \E m \in InFlight(messages) :
           /\ Consumed(m)
           /\ m.type = "HeartbeatResponse"
           /\ m.incarnation = i
           /\ m.should_shut_down]_status

------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)
(* Each is true only in states that follow the event it names.               *)

(* An unfenced broker's registration was amended. The amendment is the last  *)
(* record, so the broker was unfenced before it.                             *)
AmendedWhileUnfencedReach ==
  \E b \in Broker :
    /\ Registered(b)
    /\ ~registrations[b].fenced
    /\ registrations[b].record_offset > registrations[b].epoch
    /\ registrations[b].record_offset = log_end - 1

(* A newcomer was refused because the other incarnation's session is valid.  *)
DuplicateRefusedReach ==
  \E m \in InFlight(messages) :
    m.type = "RegistrationResponse" /\ m.error = "DUPLICATE_BROKER_REGISTRATION"

(* Another incarnation was registered in place of one that still runs. *)
DisplacedReach ==
  \E i \in Incarnation :
    /\ Live(i)
    /\ broker_epoch[i] # NoEpoch
    /\ Registered(BrokerOf[i])
    /\ registrations[BrokerOf[i]].incarnation # i

(* A process was told that its epoch is stale. *)
StaleEpochToldReach ==
  \E m \in InFlight(messages) : m.type = "HeartbeatResponse" /\ m.error = "STALE_BROKER_EPOCH"

(* A controlled shutdown had begun, and then the broker's session expired    *)
(* and it was fenced. At least four records follow a registration until      *)
(* then: unfence, elect, begin, fence. With no more than these, the broker   *)
(* did not get permission to shut down.                                      *)
ShutdownCancelledByFenceReach ==
  \E i \in Incarnation :
    /\ status[i] = "PENDING_CONTROLLED_SHUTDOWN"
    /\ RegisteredProcess(i)
    /\ LET r == registrations[BrokerOf[i]] IN
         r.in_controlled_shutdown /\ r.fenced /\ log_end = r.epoch + 5
    /\ contact_age[BrokerOf[i]] = NoAge

(* A process stopped with permission, after a controlled shutdown. (A        *)
(* process that stopped without permission had never asked for it.)          *)
ShutDownWithLeaveReach ==
  \E i \in Incarnation :
    /\ status[i] = "SHUTTING_DOWN"
    /\ RegisteredProcess(i)
    /\ registrations[BrokerOf[i]].in_controlled_shutdown

(* The log says that a broker is shutting down, and the controller has       *)
(* forgotten the offset at which that began.                                 *)
ShutdownForgottenReach ==
  \E b \in Broker :
    /\ Registered(b)
    /\ registrations[b].in_controlled_shutdown
    /\ ~registrations[b].fenced
    /\ ~ShuttingDown(b)

(* A broker that is shutting down asked again, and must wait for the others. *)
WaitsForOthersReach ==
  \E b \in Broker :
    ShuttingDown(b) /\ metadata_offset[b] # NoOffset /\ ~CaughtUpWithShutdown(b)

(* A broker that is shutting down asked again, and waits for a broker whose  *)
(* own shutdown the controller has forgotten.                                *)
ForgottenStaysReach ==
  \E b, other \in Broker :
    /\ ShuttingDown(b) /\ metadata_offset[b] # NoOffset
    /\ Registered(other) /\ ~registrations[other].fenced /\ ~ShuttingDown(other)
    /\ registrations[other].in_controlled_shutdown
    /\ metadata_offset[other] < controlled_shutdown_offset[b]

(* A RUNNING process was fenced and does not know it. *)
FencedWhileRunningReach ==
  \E i \in Incarnation :
    /\ status[i] = "RUNNING"
    /\ RegisteredProcess(i)
    /\ registrations[BrokerOf[i]].fenced

(* A broker serves on a lease that is not fresh. *)
ServingReach == \E i \in Incarnation : Serving(i) /\ lease_age[i] > 0

(* A broker stopped serving because its lease is void. *)
LeaseVoidReach ==
  \E i \in Incarnation : status[i] = "RUNNING" /\ lease_age[i] > BrokerTimeout
==============================================================================
