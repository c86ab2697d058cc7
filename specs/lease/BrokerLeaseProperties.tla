------------------------ MODULE BrokerLeaseProperties ------------------------
(***************************************************************************)
(* What must be true of BrokerLease. Suffixes: Inv (every state), Prop     *)
(* (every step), Live (in the end), Reach (must be possible). Each says    *)
(* what it means, where it comes from, and what breaks it.                 *)
(***************************************************************************)
EXTENDS BrokerLease

------------------------------------------------------------------------------
(* Invariants                                                                *)

(* The epoch of a registration is the offset of the record that made it; a   *)
(* later record of the same incarnation has a later offset.                  *)
(* Source: KIP-631, BrokerRegistration. Broken by: an epoch kept over a new  *)
(* incarnation.                                                              *)
EpochIsRegistrationOffsetInv ==
  \A b \in Broker : Registered(b) =>
    /\ registrations[b].epoch <= registrations[b].record_offset
    /\ registrations[b].record_offset < log_end

(* No two registrations have the same epoch, so an epoch names one process.  *)
(* Source: KIP-631. Broken by: an epoch that is not taken from the log.      *)
EpochUniqueInv ==
  \A a, b \in Broker : (a # b /\ Registered(a) /\ Registered(b)) =>
    registrations[a].epoch # registrations[b].epoch

(* At most one live process of a broker id holds its registered epoch.       *)
(* Source: KIP-631, incarnation ids. Broken by: handing a newcomer the epoch *)
(* of the registered incarnation.                                            *)
OneLiveIncarnationInv ==
  \A i, j \in Incarnation :
    (i # j /\ BrokerOf[i] = BrokerOf[j] /\ broker_epoch[i] # NoEpoch) =>
      broker_epoch[i] # broker_epoch[j]

(* Who holds the registered epoch is the registered incarnation. (Not the    *)
(* other way round: after an UnregisterBroker an overtaken request of the    *)
(* same process registers it anew, under an epoch it never hears of.)        *)
(* Broken by: answering one incarnation with the registration of another.    *)
EpochBelongsToIncarnationInv ==
  \A i \in Incarnation :
    LET r == registrations[BrokerOf[i]] IN
    (broker_epoch[i] # NoEpoch /\ r # Nil) =>
      ((r.epoch = broker_epoch[i]) => (r.incarnation = i))

(* A fenced broker leads nothing.                                            *)
(* Source: KIP-631, broker leases. Broken by: fencing without moving leaders.*)
OnlyActiveBrokersLeadInv == \A b \in leads : Active(b)

(* An unfenced broker has a session: somebody watches over it.               *)
(* Source: Kafka, BrokerHeartbeatTracker. Broken by: a failover that starts  *)
(* no sessions (KAFKA-18138): a broker that then dies is never fenced.       *)
UnfencedHasSessionInv ==
  \A b \in Broker : (Registered(b) /\ ~registrations[b].fenced) => contact_age[b] # NoAge

(* The controller remembers a controlled shutdown only of an unfenced broker *)
(* that leads nothing any more.                                              *)
(* Source: Kafka, BrokerHeartbeatManager.touch. Broken by: fencing a broker  *)
(* without ending its controlled shutdown.                                   *)
ShuttingDownIsUnfencedInv ==
  \A b \in Broker : ShuttingDown(b) =>
    /\ Registered(b)
    /\ ~registrations[b].fenced
    /\ registrations[b].in_controlled_shutdown
    /\ b \notin leads

(* Soft state is kept of registered brokers only.                            *)
SoftStateOfRegisteredInv ==
  \A b \in Broker : ~Registered(b) =>
    /\ contact_age[b] = NoAge
    /\ metadata_offset[b] = NoOffset
    /\ controlled_shutdown_offset[b] = NoOffset

(* A process waits for exactly one answer, or for none.                      *)
(* Source: Kafka, BrokerLifecycleManager has one request in flight           *)
(* (KAFKA-15950). Broken by: sending without waiting.                        *)
OneRequestInFlightInv ==
  \A i \in Incarnation :
    LET mine == {m \in InFlight(messages) :
                   m.incarnation = i /\ (IsRequest(m) => m.awaited)}
    IN  /\ Cardinality(mine) <= 1
        /\ \A m \in mine : Waiting(i) /\ messages[m] = 1

(* A process that does not run keeps nothing in memory.                      *)
EndedKeepsNothingInv ==
  \A i \in Incarnation : ~Live(i) =>
    /\ broker_epoch[i] = NoEpoch
    /\ applied_offset[i] = NoOffset
    /\ request_age[i] = NoAge
    /\ lease_age[i] = NoAge

(* No process is ahead of the log.                                           *)
AppliedWithinLogInv == \A i \in Incarnation : applied_offset[i] < log_end

(* Serving: the process takes itself for a broker that may lead. One that    *)
(* asked to shut down does not count: it has asked for its leaderships to be *)
(* moved. KIP-343's broker stops when its lease is void.                     *)
Serving(i) ==
  /\ status[i] = "RUNNING"
  /\ SelfFence => (lease_age[i] # NoAge /\ lease_age[i] <= BrokerTimeout)

(* No process serves after the controller fenced it.                         *)
(* Source: KIP-343. True only with SelfFence, BrokerTimeout + MaxSkew <=     *)
(* SessionTimeout, requests that arrive in order, and nobody unregistering   *)
(* live brokers. Kafka as built does not promise it: epochs, not time,       *)
(* protect the data. Broken by: SelfFence off; a clock too fast; a lease     *)
(* counted from the answer; an overtaken heartbeat that still asks to fence. *)
NoOverlapInv ==
  \A i \in Incarnation : Serving(i) =>
    LET r == registrations[BrokerOf[i]] IN
    r # Nil /\ r.epoch = broker_epoch[i] /\ ~r.fenced

(* The same, of two processes with one broker id.                            *)
OneServerPerIdInv ==
  \A i, j \in Incarnation :
    (i # j /\ BrokerOf[i] = BrokerOf[j]) => ~(Serving(i) /\ Serving(j))
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* The log only grows.                                                       *)
LogGrowsProp == [][log_end' >= log_end]_vars

(* A registration changes only together with the log: what the controller    *)
(* believes of a broker is always what its records say.                      *)
(* Source: KIP-631, the image is a replay of the log. Broken by: a change    *)
(* without a record.                                                         *)
ChangesAreLoggedProp == [][registrations' # registrations => log_end' > log_end]_vars

(* A broker's epoch changes only with its incarnation, and then upwards.     *)
(* Source: KAFKA-16952. Broken by: a new epoch for the same incarnation.     *)
EpochFollowsIncarnationProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old # new) =>
         IF old.incarnation = new.incarnation
         THEN new.epoch = old.epoch
         ELSE new.epoch > old.epoch]_vars

(* A new registration is fenced and not shutting down.                       *)
(* Source: KIP-631. Broken by: registering unfenced.                         *)
NewRegistrationIsFencedProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.incarnation # new.incarnation))) =>
         new.fenced /\ ~new.in_controlled_shutdown]_vars

(* Registering again changes neither fencing nor shutdown.                   *)
(* Source: KAFKA-16757. Broken by: fencing on amendment.                     *)
AmendKeepsStateProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ old.record_offset # new.record_offset) =>
           new = [old EXCEPT !.record_offset = log_end]]_vars

(* A controlled shutdown is never taken back; only a new incarnation starts  *)
(* without it. Source: Kafka, BrokerRegistrationChangeRecord has no value    *)
(* that clears it.                                                           *)
ShutdownNotTakenBackProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ old.in_controlled_shutdown) => new.in_controlled_shutdown]_vars

(* A live incarnation with a valid session is not displaced by another one.  *)
(* Source: KIP-631, DUPLICATE_BROKER_REGISTRATION. Broken by: registering    *)
(* without looking at the session.                                           *)
SessionProtectsProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation # new.incarnation) =>
         ~HasValidSession(b)]_vars

(* A broker is unfenced only after it replayed its own registration.         *)
(* Source: KAFKA-13959. Broken by: unfencing at once.                        *)
UnfencedSawOwnRegistrationProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.fenced /\ ~new.fenced) =>
         \E m \in InFlight(messages) :
           /\ m.type = "HeartbeatRequest"
           /\ BrokerOf[m.incarnation] = b
           /\ m.epoch = old.epoch
           /\ ~m.want_fence
           /\ m.metadata_offset >= old.record_offset]_vars

(* The controller fences a broker that asked neither for that nor to shut    *)
(* down only after its session ran out. Source: KIP-631, broker leases. Broken by: fencing at    *)
(* the timeout instead of after it.                                          *)
FencedOnlyWhenDueProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ ~old.fenced /\ new.fenced) =>
         \/ contact_age[b] > SessionTimeout
         \/ \E m \in InFlight(messages) :
              /\ m.type = "HeartbeatRequest"
              /\ BrokerOf[m.incarnation] = b
              /\ m.epoch = old.epoch
              /\ m.want_fence \/ m.want_shut_down \/ ShuttingDown(b)]_vars

(* A session is renewed by a heartbeat of the registered epoch, or by a      *)
(* failover, and by nothing else. Source: Kafka, BrokerHeartbeatTracker.     *)
(* Broken by: counting a stale heartbeat as contact.                         *)
SessionRenewedByHeartbeatProp ==
  [][\A b \in Broker :
       (contact_age'[b] # NoAge /\ (contact_age[b] = NoAge \/ contact_age'[b] < contact_age[b])) =>
         \/ \E m \in InFlight(messages) :
              /\ m.type = "HeartbeatRequest"
              /\ Registered(b)
              /\ BrokerOf[m.incarnation] = b
              /\ m.epoch = registrations[b].epoch
         \/ metadata_offset' = [other \in Broker |-> NoOffset]]_vars

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
       status'[i] # status[i] => <<status[i], status'[i]>> \in StatusMoves]_vars

(* When a broker goes after a controlled shutdown, every broker that stays   *)
(* has replayed the record that took its leaderships away.                   *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState.           *)
(* False after a failover or an amended registration, which lose the offset: *)
(* see MCBrokerLeaseForgottenShutdown.                                       *)
ShutdownSeenByOthersProp ==
  [][\A b \in Broker :
       (/\ Registered(b) /\ registrations'[b] # Nil
        /\ registrations[b].in_controlled_shutdown /\ ~registrations[b].fenced
        /\ registrations'[b].fenced
        /\ ~(contact_age[b] > SessionTimeout)
        /\ \E m \in InFlight(messages) : /\ m.type = "HeartbeatRequest"
                                         /\ BrokerOf[m.incarnation] = b
                                         /\ m.want_shut_down) =>
         \A other \in Broker \ {b} : Active(other) =>
           metadata_offset[other] >= controlled_shutdown_offset[b]
           /\ controlled_shutdown_offset[b] # NoOffset]_vars
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot happen is too small.      *)

(* A failover gives an overdue broker another session.                       *)
FailOverRenewsSessionReach ==
  \E b \in Broker : Active(b) /\ contact_age[b] > SessionTimeout /\ log_end > 0

(* An unfenced broker's registration was amended. *)
AmendedWhileUnfencedReach ==
  \E b \in Broker : Registered(b) /\ ~registrations[b].fenced
    /\ registrations[b].record_offset > registrations[b].epoch

(* A newcomer is refused because the other incarnation's session is valid.   *)
DuplicateRefusedReach ==
  \E m \in InFlight(messages) :
    m.type = "RegistrationResponse" /\ m.error = "DUPLICATE_BROKER_REGISTRATION"

(* A second incarnation is registered in place of the first. *)
DisplacedReach ==
  \E i \in Incarnation : Live(i) /\ broker_epoch[i] # NoEpoch
    /\ Registered(BrokerOf[i]) /\ registrations[BrokerOf[i]].incarnation # i

(* A stale epoch is told so. *)
StaleEpochToldReach ==
  \E m \in InFlight(messages) : m.type = "HeartbeatResponse" /\ m.error = "STALE_BROKER_EPOCH"

(* Fencing ends a controlled shutdown that had begun. *)
ShutdownCancelledByFenceReach ==
  \E b \in Broker : Registered(b) /\ registrations[b].fenced
    /\ registrations[b].in_controlled_shutdown /\ contact_age[b] = NoAge

(* A process shut down with leave. *)
ShutDownReach == \E i \in Incarnation : status[i] = "SHUTTING_DOWN" /\ log_end > 3

(* A RUNNING process is fenced and does not know. *)
FencedWhileRunningReach ==
  \E i \in Incarnation : status[i] = "RUNNING" /\ Registered(BrokerOf[i])
    /\ registrations[BrokerOf[i]].incarnation = i /\ registrations[BrokerOf[i]].fenced
==============================================================================
