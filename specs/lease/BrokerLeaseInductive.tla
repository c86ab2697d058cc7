------------------------ MODULE BrokerLeaseInductive ------------------------
(***************************************************************************)
(* Why the properties of BrokerLease hold: invariants that every step      *)
(* keeps, whatever the number of brokers, the timeouts and the length of   *)
(* the log. `krafla prove lease` shows without bounds that Init implies    *)
(* them, that every action keeps them, and that they imply the properties. *)
(*                                                                         *)
(* TLC checks within bounds that they are true of the states it reaches:   *)
(*  - MCBrokerLeaseInductive: the clauses that hold in any order. Two      *)
(*    processes of one broker, failover, removal; no elections, shutdown   *)
(*    or crashes.                                                          *)
(*  - MCBrokerLeaseInductiveTwo: the clauses that hold in order, with two  *)
(*    brokers that run, elections and shutdown; no failover, removal or    *)
(*    time.                                                                *)
(*  - MCBrokerLeaseInductiveOverlap: the clauses that hold of one process  *)
(*    that fences itself in time, with crashes; no shutdown, failover or   *)
(*    removal.                                                             *)
(*                                                                         *)
(* Only z3 covers the rest: self-fencing together with failover, shutdown, *)
(* a stopped broker's removal or a second process of its id.               *)
(*                                                                         *)
(* An invariant is true of all reachable states. It is inductive if every  *)
(* step from ANY state in which it holds leads to another such state,      *)
(* reachable or not. So it must state everything that a step relies on.    *)
(* The sentence above each clause below says which step relies on it.      *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

------------------------------------------------------------------------------
(* Epochs. They hold in any order of requests, with and without SelfFence.   *)

(* Message m tells a process its epoch, or carries the epoch of its sender.  *)
GivesEpoch(m) == m.type = "RegistrationResponse" /\ m.error = "NONE"
ShowsEpoch(m) == m.type = "HeartbeatRequest"

(* Every epoch that a process or a message holds lies within the log. So the *)
(* epoch that RegisterBroker takes from the log's end is new to all.         *)
EpochWithinLogInv ==
  /\ \A i \in Incarnation : broker_epoch[i] < log_end
  /\ \A m \in InFlight(messages) : (GivesEpoch(m) \/ ShowsEpoch(m)) => m.epoch < log_end

(* No two processes hold one epoch, whatever their broker ids. No other      *)
(* clause relies on it: OneLiveIncarnationInv follows from it.               *)
(* HandleRegistrationResponse keeps it by GivenToHolderInv.                  *)
HeldByOneProcessInv ==
  \A i, j \in Incarnation :
    (i # j /\ broker_epoch[i] # NoEpoch) => broker_epoch[i] # broker_epoch[j]

(* The process that holds the epoch of a registration, of any broker, is the *)
(* registered process. AmendRegistration gives this epoch out again, to that *)
(* process only.                                                             *)
HeldByRegisteredProcessInv ==
  \A b \in Broker, i \in Incarnation :
    (Registered(b) /\ registrations[b].epoch = broker_epoch[i]) =>
      registrations[b].incarnation = i

(* No other process holds an epoch that is on its way to a process.          *)
(* HandleRegistrationResponse relies on this.                                *)
GivenToHolderInv ==
  \A m \in InFlight(messages), i \in Incarnation :
    (GivesEpoch(m) /\ broker_epoch[i] # NoEpoch /\ m.epoch = broker_epoch[i]) =>
      m.incarnation = i

(* No epoch is on its way to two processes. When HandleRegistrationResponse  *)
(* takes the first of two answers, GivenToHolderInv must hold of the second. *)
GivenToOneProcessInv ==
  \A m, n \in InFlight(messages) :
    (GivesEpoch(m) /\ GivesEpoch(n) /\ m.epoch = n.epoch) => m.incarnation = n.incarnation

(* A registered epoch is on its way to the registered process only. When the *)
(* answer arrives that process holds the epoch, and when AmendRegistration   *)
(* answers once more, both answers go to the same process.                   *)
GivenToRegisteredProcessInv ==
  \A b \in Broker, m \in InFlight(messages) :
    (Registered(b) /\ GivesEpoch(m) /\ m.epoch = registrations[b].epoch) =>
      registrations[b].incarnation = m.incarnation

(* A heartbeat of the registered epoch was sent by the registered process:   *)
(* no process renews the session of another. KeepFenced relies on it to keep *)
(* RememberedIsAppliedInv.                                                   *)
ShownByRegisteredProcessInv ==
  \A b \in Broker, m \in InFlight(messages) :
    (Registered(b) /\ ShowsEpoch(m) /\ m.epoch = registrations[b].epoch) =>
      registrations[b].incarnation = m.incarnation

EpochsInductiveInv ==
  /\ TypeOK
  /\ EpochIsRegistrationOffsetInv
  /\ EpochUniqueInv
  /\ EpochWithinLogInv
  /\ HeldByOneProcessInv
  /\ HeldByRegisteredProcessInv
  /\ GivenToHolderInv
  /\ GivenToOneProcessInv
  /\ GivenToRegisteredProcessInv
  /\ ShownByRegisteredProcessInv

(* The epoch of heartbeat m is the registered one of its broker. The         *)
(* definition repeats CurrentEpoch instead of using it, because the          *)
(* properties below judge the actions that rely on CurrentEpoch.             *)
ShowsRegisteredEpoch(m) ==
  /\ Registered(BrokerOf[m.incarnation])
  /\ registrations[BrokerOf[m.incarnation]].epoch = m.epoch

(* A step that takes a heartbeat of an unregistered epoch leaves the log and *)
(* the controller's memory as they were.                                     *)
(* Source: KIP-631, STALE_BROKER_EPOCH. Broken by: comparing no epochs.      *)
StaleHeartbeatIgnoredProp ==
  [][\A m \in InFlight(messages) :
       (Consumed(m) /\ ShowsEpoch(m) /\ ~ShowsRegisteredEpoch(m)) =>
         UNCHANGED <<controller_log, soft_state>>]_<<controller_log, soft_state>>

(* A heartbeat that is answered without an error carried the registered      *)
(* epoch.                                                                    *)
(* Source: KIP-631, STALE_BROKER_EPOCH. Broken by: refusing without an       *)
(* error.                                                                    *)
AnsweredIsCurrentProp ==
  [][\A n \in InFlight(messages') \ InFlight(messages) :
       (n.type = "HeartbeatResponse" /\ n.error = "NONE") =>
         \E m \in InFlight(messages) :
           /\ Consumed(m)
           /\ ShowsEpoch(m)
           /\ m.incarnation = n.incarnation
           /\ ShowsRegisteredEpoch(m)]_messages

(* An epoch that is newly registered lies past the old end of the log, and   *)
(* past every epoch that a process holds or a message carries. Every epoch   *)
(* registered before is within the log (EpochIsRegistrationOffsetInv), which *)
(* only grows (LogGrowsProp). So a stale epoch never becomes current again.  *)
(* Source: KIP-631. Broken by: an epoch that is not taken from the log.      *)
StaleStaysStaleProp ==
  [][\A b \in Broker :
       LET old == registrations[b] new == registrations'[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.epoch # new.epoch))) =>
         /\ new.epoch >= log_end
         /\ \A i \in Incarnation : broker_epoch[i] < new.epoch
         /\ \A m \in InFlight(messages) :
              (GivesEpoch(m) \/ ShowsEpoch(m)) => m.epoch < new.epoch]_registrations
------------------------------------------------------------------------------
(* Sessions, shutdown and processes. In any order, with and without          *)
(* SelfFence.                                                                *)

(* The process of message m waits for m, or for the answer to it.            *)
IsAwaited(m) == IsRequest(m) => m.awaited

(* OneRequestInFlightInv without counting. A process that sends is waiting   *)
(* for nothing, so it then waits only for what it sends.                     *)
(* HandleRegistrationResponse relies on it to keep AskerHoldsNothingInv.     *)
AwaitedOnceInv ==
  /\ \A m \in InFlight(messages) :
       IsAwaited(m) => Waiting(m.incarnation) /\ messages[m] = 1
  /\ \A m, n \in InFlight(messages) :
       (IsAwaited(m) /\ IsAwaited(n) /\ m.incarnation = n.incarnation) => m = n

(* No registration names a process that has not started, and no message is   *)
(* from it or for it. StartBroker relies on it.                              *)
UnstartedIsUnknownInv ==
  /\ \A m \in InFlight(messages) : status[m.incarnation] # "NOT_RUNNING"
  /\ \A b \in Broker :
       Registered(b) => status[registrations[b].incarnation] # "NOT_RUNNING"

(* A live process shows in its messages the epoch it holds, and takes no     *)
(* second epoch. So RejectHeartbeat, which answers such a process, keeps     *)
(* RunningHoldsEpochInv.                                                     *)
ShownIsHeldInv ==
  \A m \in InFlight(messages) :
    (ShowsEpoch(m) /\ Live(m.incarnation)) => m.epoch = broker_epoch[m.incarnation]

(* A process that waits for an epoch holds none. So                          *)
(* HandleRegistrationResponse keeps ShownIsHeldInv.                          *)
AskerHoldsNothingInv ==
  \A m \in InFlight(messages) :
    (m.type \in {"RegistrationRequest", "RegistrationResponse"} /\ IsAwaited(m)) =>
      broker_epoch[m.incarnation] = NoEpoch

(* A process has replayed what its heartbeats report, since its applied      *)
(* offset only grows. KeepFenced relies on it to keep                        *)
(* RememberedIsAppliedInv.                                                   *)
ReportedIsAppliedInv ==
  \A m \in InFlight(messages) :
    (ShowsEpoch(m) /\ Live(m.incarnation)) =>
      m.metadata_offset <= applied_offset[m.incarnation]

(* The registered process has replayed what the controller remembers of it.  *)
(* LeaveAwaitsOthersProp follows from this alone.                            *)
RememberedIsAppliedInv ==
  \A b \in Broker :
    (Registered(b) /\ Live(registrations[b].incarnation)) =>
      metadata_offset[b] <= applied_offset[registrations[b].incarnation]

ProcessesInductiveInv ==
  /\ EpochsInductiveInv
  /\ OnlyActiveBrokersLeadInv
  /\ UnfencedHasSessionInv
  /\ ShuttingDownIsUnfencedInv
  /\ SoftStateOfRegisteredInv
  /\ EndedKeepsNothingInv
  /\ AppliedWithinLogInv
  /\ AwaitedOnceInv
  /\ UnstartedIsUnknownInv
  /\ ShownIsHeldInv
  /\ AskerHoldsNothingInv
  /\ ReportedIsAppliedInv
  /\ RememberedIsAppliedInv
------------------------------------------------------------------------------
(* If requests arrive in order: a process is registered under the epoch it   *)
(* knows, and a request that it sent while it started does not arrive later. *)

(* How order is modelled: when a process sends a request, the older one that *)
(* it gave up on is dropped. That is stop-and-wait. It is less than the      *)
(* order of a connection, which may deliver the older request after the next *)
(* was sent, as long as it comes first.                                      *)
InOrder == ~Reorder

(* In order, at most one message of a process is in flight: when a process   *)
(* sends a request, it drops the one that it gave up on. So an answer tells  *)
(* the process that nothing it sent before can still take effect.            *)
OneMessageInv ==
  /\ \A m \in InFlight(messages) : messages[m] = 1
  /\ \A m, n \in InFlight(messages) : m.incarnation = n.incarnation => m = n

(* In order, a process that asks for an epoch holds none, even if it gave up *)
(* waiting. So RegisterBroker, after a removal, gives no second epoch to a   *)
(* process that has one.                                                     *)
AskerIsNewInv ==
  \A m \in InFlight(messages) :
    m.type \in {"RegistrationRequest", "RegistrationResponse"} =>
      broker_epoch[m.incarnation] = NoEpoch

(* The process of a registration is configured with the broker's id, so a    *)
(* process is registered at most once. RegisterBroker therefore gives no     *)
(* second epoch to a process that another broker's registration names.       *)
RegisteredByOwnProcessInv ==
  \A b \in Broker : Registered(b) => BrokerOf[registrations[b].incarnation] = b

(* The epoch on its way to the registered process is the registered one. So  *)
(* RegistrationIsKnownInv still holds when it arrives.                       *)
GivenIsRegisteredInv ==
  \A b \in Broker, m \in InFlight(messages) :
    (Registered(b) /\ GivesEpoch(m) /\ registrations[b].incarnation = m.incarnation) =>
      registrations[b].epoch = m.epoch

(* A process past STARTING holds an epoch, and so does a process whose       *)
(* heartbeat is answered. HandleRegistrationResponse relies on it to keep    *)
(* SawOwnRegistrationInv: a process past STARTING gets no epoch whose record *)
(* it has not replayed.                                                      *)
RunningHoldsEpochInv ==
  /\ \A i \in Incarnation :
       status[i] \in {"RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN"} =>
         broker_epoch[i] # NoEpoch
  /\ \A m \in InFlight(messages) :
       m.type = "HeartbeatResponse" => broker_epoch[m.incarnation] # NoEpoch

(* A heartbeat of a running process asks neither to be fenced nor to shut    *)
(* down, for it was sent while that process ran. Only a process that was     *)
(* told to stop, or that ended since, asks to shut down. FenceOnRequest      *)
(* relies on the first to keep ServingIsCoveredInv, BeginControlledShutdown  *)
(* on the second to keep ShuttingDownWasToldInv.                             *)
AsksForNothingInv ==
  \A m \in InFlight(messages) : ShowsEpoch(m) =>
    /\ status[m.incarnation] = "RUNNING" => ~m.want_fence
    /\ m.want_shut_down => status[m.incarnation] \notin {"STARTING", "RECOVERY", "RUNNING"}

(* The controller remembers a controlled shutdown only if the process was    *)
(* told to stop or has ended. Otherwise ShutDownNow would fence a process    *)
(* that serves.                                                              *)
ShuttingDownWasToldInv ==
  \A b \in Broker :
    (Registered(b) /\ ShuttingDown(b)) =>
      status[registrations[b].incarnation] \notin {"STARTING", "RECOVERY", "RUNNING"}

(* Past STARTING a process has replayed its registration, and its heartbeats *)
(* say so; an answer that tells it so is right. So the heartbeat of a        *)
(* running process unfences it or finds it unfenced. Otherwise KeepFenced    *)
(* would answer that it is fenced, which a RUNNING process ignores, and      *)
(* would break AnswerIsCoveredInv.                                           *)
SawOwnRegistrationInv ==
  /\ \A b \in Broker, i \in Incarnation :
       (Registered(b) /\ registrations[b].epoch = broker_epoch[i]
         /\ status[i] \in {"RECOVERY", "RUNNING"}) =>
           applied_offset[i] >= registrations[b].record_offset
  /\ \A b \in Broker, m \in InFlight(messages) :
       (Registered(b) /\ ShowsEpoch(m) /\ m.epoch = registrations[b].epoch
         /\ status[m.incarnation] \in {"RECOVERY", "RUNNING"}) =>
           m.metadata_offset >= registrations[b].record_offset
  /\ \A b \in Broker, m \in InFlight(messages) :
       (Registered(b) /\ m.type = "HeartbeatResponse" /\ m.error = "NONE" /\ m.is_caught_up
         /\ registrations[b].epoch = broker_epoch[m.incarnation]) =>
           applied_offset[m.incarnation] >= registrations[b].record_offset

InOrderInductiveInv ==
  /\ ProcessesInductiveInv
  /\ OneMessageInv
  /\ AskerIsNewInv
  /\ RegisteredByOwnProcessInv
  /\ GivenIsRegisteredInv
  /\ RegistrationIsKnownInv
  /\ RunningHoldsEpochInv
  /\ AsksForNothingInv
  /\ ShuttingDownWasToldInv
  /\ SawOwnRegistrationInv
------------------------------------------------------------------------------
(* No process serves after it was fenced.                                    *)

(* The conditions of the promise, besides order, one controller at a time,   *)
(* and OnlyStoppedRemoved. KIP-343 has the self-fencing, but asks for a      *)
(* broker's timeout that is longer than the controller's: with that the      *)
(* promise is false.                                                         *)
FencesItselfInTime == SelfFence /\ BrokerTimeout + MaxSkew <= SessionTimeout

(* A further condition: in this step the operator removes no broker that     *)
(* runs.                                                                     *)
OnlyStoppedRemoved ==
  \A b \in Broker : (Registered(b) /\ registrations'[b] = Nil) =>
    \A i \in Incarnation : BrokerOf[i] = b => ~Live(i)

(* Process i, with a lease of this age, has what a serving process must      *)
(* have: it is registered and unfenced, and the controller heard from it no  *)
(* earlier than the lease began, each by its own clock. clock_lead can still *)
(* rise by MaxSkew - clock_lead[i]; the last contact is older than the lease *)
(* by no more than that.                                                     *)
Covered(i, age) ==
  LET b == BrokerOf[i] IN
  /\ Registered(b)
  /\ registrations[b].epoch = broker_epoch[i]
  /\ ~registrations[b].fenced
  /\ contact_age[b] + clock_lead[i] <= age + MaxSkew

(* Answer m lets its process serve, with the lease that it grants.           *)
LetsServe(m) ==
  /\ m.type = "HeartbeatResponse"
  /\ m.error = "NONE"
  /\ \/ status[m.incarnation] = "RUNNING"
     \/ status[m.incarnation] = "RECOVERY" /\ ~m.is_fenced
  /\ request_age[m.incarnation] <= BrokerTimeout

(* A serving process is covered by its lease. A process that is about to     *)
(* serve is covered by the request whose answer is in flight.                *)
ServingIsCoveredInv == \A i \in Incarnation : Serving(i) => Covered(i, lease_age[i])
AnswerIsCoveredInv ==
  \A m \in InFlight(messages) :
    LetsServe(m) => Covered(m.incarnation, request_age[m.incarnation])

OverlapInductiveInv ==
  /\ InOrderInductiveInv
  /\ ServingIsCoveredInv
  /\ AnswerIsCoveredInv
------------------------------------------------------------------------------
(* Kafka as built: no process fences itself.                                 *)
NeverFencesItself == ~SelfFence

(* A process that does not fence itself measures nothing.                    *)
MeasuresNothingInv ==
  \A i \in Incarnation :
    /\ lease_age[i] = NoAge
    /\ clock_lead[i] = 0
    /\ request_age[i] \in {NoAge, 0}

(* A step from a reachable state breaks NoOverlapInv: a process serves after *)
(* it was fenced.                                                            *)
BrokenPromiseInv ==
  /\ InOrderInductiveInv
  /\ MeasuresNothingInv
  /\ NoOverlapInv
==============================================================================
