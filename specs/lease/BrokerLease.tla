----------------------------- MODULE BrokerLease -----------------------------
(***************************************************************************)
(* The lease of a broker: how a broker process registers with the active   *)
(* controller, is unfenced, keeps its session alive by heartbeats, is      *)
(* fenced when its heartbeats stop, and shuts down with the controller's   *)
(* permission.                                                             *)
(*                                                                         *)
(* Sources: KIP-631 (registration, heartbeats, fencing, controlled         *)
(* shutdown), KIP-343 (a broker that fences itself), and Kafka 4.1 as      *)
(* built. Where the KIP and Kafka differ, this module follows Kafka, and   *)
(* docs/kip-differences.md has the row.                                    *)
(*                                                                         *)
(* An incarnation is one broker process. A restart is another incarnation  *)
(* of the same broker id. Two processes may run with one id at once: only  *)
(* the protocol keeps them apart.                                          *)
(*                                                                         *)
(* Time is modelled as ages. An age is how long ago something happened, by *)
(* the clock of the node that reads it. An age past its timeout stops      *)
(* growing, since nothing distinguishes one expired age from another; so   *)
(* the model is finite without a last moment. The model never compares     *)
(* clocks, only the intervals they measure: clock_lead is how much more    *)
(* time has passed by a broker's clock than by the controller's.           *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - BrokerLifecycleManager.start -> StartBroker                          *)
(*  - BrokerLifecycleManager.sendBrokerRegistration -> SendRegistration    *)
(*  - BrokerLifecycleManager.BrokerRegistrationResponseEvent ->            *)
(*    HandleRegistrationResponse                                           *)
(*  - BrokerLifecycleManager.sendBrokerHeartbeat -> SendHeartbeat          *)
(*  - BrokerLifecycleManager.BrokerHeartbeatResponseEvent ->               *)
(*    HandleHeartbeatResponse                                              *)
(*  - BrokerLifecycleManager, the onTimeout handlers -> RequestTimeout     *)
(*  - BrokerLifecycleManager.beginControlledShutdown -> RequestShutdown    *)
(*  - MetadataLoader.handleCommit -> ReplayMetadata                        *)
(*  - ClusterControlManager.registerBroker -> RegisterBroker,              *)
(*    AmendRegistration, RefuseRegistration                                *)
(*  - ReplicationControlManager.processBrokerHeartbeat -> RejectHeartbeat, *)
(*    KeepFenced, UnfenceBroker, KeepUnfenced, FenceOnRequest,             *)
(*    BeginControlledShutdown, ContinueControlledShutdown, ShutDownNow     *)
(*  - ReplicationControlManager.maybeFenceOneStaleBroker ->                *)
(*    FenceStaleBroker                                                     *)
(*  - ReplicationControlManager.unregisterBroker -> UnregisterBroker       *)
(*  - ReplicationControlManager.electLeader -> ElectLeader                 *)
(*  - ClusterControlManager.activate -> FailOver                           *)
(*  - no handler -> Crash, Tick, LoseMessage, DuplicateMessage             *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. The controller is one atomic log: a record is committed as     *)
(*    soon as it is written, and a failover loses only soft state. So the  *)
(*    time between append and commit, and a batch that never commits, are  *)
(*    absent.                                                              *)
(*  - Partitions. A broker either leads something or leads nothing. The    *)
(*    records that move leaderships are part of the step that causes them. *)
(*  - The contact times of epochs other than the registered one. Kafka     *)
(*    keeps one for each (id, epoch) it hears from, but reads only that of *)
(*    the registered epoch.                                                *)
(*  - Listeners, features, racks, log directories, and every check of a    *)
(*    registration other than the session of the registered incarnation.   *)
(*  - A heartbeat that expires in the controller's queue (KAFKA-15019).    *)
(*  - The reasons why a process is ready. In RECOVERY a process may want   *)
(*    to stay fenced or not, and may change its mind. Kafka's process      *)
(*    becomes ready once and stays ready.                                  *)
(*  - Migration from ZooKeeper.                                            *)
(*  - Two controllers that both take themselves for active. A deposed      *)
(*    controller that still answers heartbeats renews leases of brokers    *)
(*    that the new one fences. The properties about serving assume one     *)
(*    active controller at a time. The answer NOT_CONTROLLER of a deposed  *)
(*    controller is a lost request here.                                   *)
(*  - A running broker that registers again because the metadata version   *)
(*    rose (resendBrokerRegistration).                                     *)
(*  - A broker that waits too long for permission to shut down and stops   *)
(*    without it. Here that is a crash.                                    *)
(*  - Records that clean up before a registration in the same operation,   *)
(*    so that the registration's epoch is less than its record's offset    *)
(*    (UntimedLease allows that).                                          *)
(*  - A broker that asked for permission to shut down, is cut off, and     *)
(*    goes on answering clients. Serving does not count it.                *)
(*  - Clocks that drift without bound. MaxSkew bounds how far a broker's   *)
(*    clock and the controller's come apart over a process's whole life.   *)
(***************************************************************************)
EXTENDS Network, FiniteSets

CONSTANTS
  Broker,          \* The broker ids.
  Incarnation,     \* Every broker process that ever exists.
  BrokerOf,        \* [Incarnation -> Broker]: the id a process is configured with.
  SessionTimeout,  \* broker.session.timeout.ms, by the controller's clock.
  BrokerTimeout,   \* KIP-343: a lease older than this is void, by the broker's clock.
  MaxSkew,         \* The most by which a broker's clock and the controller's differ.
  SelfFence,       \* TRUE: a broker stops serving when its lease is void. Kafka: FALSE.
  Reorder,         \* TRUE: a request may arrive twice, or, given up on, after the next one.
  Nil              \* No registration.

ASSUME Constants ==
  /\ Broker # {} /\ IsFiniteSet(Broker)
  /\ Incarnation # {} /\ IsFiniteSet(Incarnation)
  /\ BrokerOf \in [Incarnation -> Broker]
  /\ SessionTimeout \in Nat \ {0}
  /\ BrokerTimeout \in Nat \ {0}
  /\ MaxSkew \in Nat
  /\ SelfFence \in BOOLEAN
  /\ Reorder \in BOOLEAN

VARIABLES
  registrations,               \* [Broker -> registration or Nil]: the image of the log.
  log_end,                     \* The offset of the next record.
  contact_age,                 \* [Broker -> age]: since the last heartbeat of its registered epoch,
                               \* or since a failover began its session.
  metadata_offset,             \* [Broker -> offset]: what its last heartbeat reported, or NoOffset
                               \* after a record about the broker.
  controlled_shutdown_offset,  \* [Broker -> offset]: the others replay it before the broker stops.
  leads,                       \* The brokers that lead a partition.
  status,                      \* [Incarnation -> broker state], as BrokerState in Kafka.
  broker_epoch,                \* [Incarnation -> epoch]: from the answer to its registration.
  applied_offset,              \* [Incarnation -> offset]: the last record it replayed.
  request_age,                 \* [Incarnation -> age]: of the request whose answer it awaits.
  lease_age,                   \* [Incarnation -> age]: since it sent the last heartbeat that
                               \* was accepted. Always NoAge without SelfFence.
  clock_lead,                  \* [Incarnation -> 0..MaxSkew]: its clock ahead of the controller's.
  messages                     \* The bag of messages in flight.

controller_log == <<registrations, log_end, leads>>
soft_state == <<contact_age, metadata_offset, controlled_shutdown_offset>>
broker_clocks == <<request_age, lease_age, clock_lead>>
vars == <<registrations, log_end, leads, contact_age, metadata_offset,
          controlled_shutdown_offset, status, broker_epoch, applied_offset,
          request_age, lease_age, clock_lead, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

NoEpoch == -1     \* Kafka: the broker epoch of a process that is not registered.
NoOffset == -1    \* Kafka: no metadata offset reported, no controlled shutdown.
NoAge == -1       \* No session, no request in flight, no lease.

Epoch == Nat
Offset == Nat \cup {NoOffset}
Age(timeout) == NoAge .. (timeout + 1)

(* The age after more time has passed. Past its timeout an age stops         *)
(* growing.                                                                  *)
Older(age, elapsed, timeout) ==
  IF age = NoAge THEN NoAge
  ELSE IF age + elapsed > timeout THEN timeout + 1 ELSE age + elapsed

Status == {"NOT_RUNNING", "STARTING", "RECOVERY", "RUNNING",
           "PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN", "CRASHED"}

Registration ==
  [incarnation : Incarnation, epoch : Epoch, record_offset : Nat,
   fenced : BOOLEAN, in_controlled_shutdown : BOOLEAN]

ASSUME NilIsNoRegistration == Nil \notin Registration

(* awaited: the process still waits for the answer. A request that the       *)
(* process gave up on may arrive and take effect, but the process does not   *)
(* get its answer.                                                           *)
RegistrationRequest ==
  [type : {"RegistrationRequest"}, incarnation : Incarnation, awaited : BOOLEAN]
RegistrationResponse ==
  [type : {"RegistrationResponse"}, incarnation : Incarnation,
   error : {"NONE", "DUPLICATE_BROKER_REGISTRATION"}, epoch : Epoch \cup {NoEpoch}]
HeartbeatRequest ==
  [type : {"HeartbeatRequest"}, incarnation : Incarnation, awaited : BOOLEAN,
   epoch : Epoch, metadata_offset : Offset, want_fence : BOOLEAN, want_shut_down : BOOLEAN]
HeartbeatResponse ==
  [type : {"HeartbeatResponse"}, incarnation : Incarnation,
   error : {"NONE", "STALE_BROKER_EPOCH"},
   is_caught_up : BOOLEAN, is_fenced : BOOLEAN, should_shut_down : BOOLEAN]
Message ==
  RegistrationRequest \cup RegistrationResponse \cup HeartbeatRequest \cup HeartbeatResponse

IsRequest(m) == m.type \in {"RegistrationRequest", "HeartbeatRequest"}

TypeOK ==
  /\ registrations \in [Broker -> Registration \cup {Nil}]
  /\ log_end \in Nat
  /\ leads \subseteq Broker
  /\ contact_age \in [Broker -> Age(SessionTimeout)]
  /\ metadata_offset \in [Broker -> Offset]
  /\ controlled_shutdown_offset \in [Broker -> Offset]
  /\ status \in [Incarnation -> Status]
  /\ broker_epoch \in [Incarnation -> Epoch \cup {NoEpoch}]
  /\ applied_offset \in [Incarnation -> Offset]
  /\ request_age \in [Incarnation -> Age(BrokerTimeout)]
  /\ lease_age \in [Incarnation -> Age(BrokerTimeout)]
  /\ clock_lead \in [Incarnation -> 0 .. MaxSkew]
  /\ IsBagOf(messages, Message)
------------------------------------------------------------------------------
(* Questions that a node answers from its own state                          *)

(* The process exists and runs the broker's code. *)
Live(i) == status[i] \notin {"NOT_RUNNING", "SHUTTING_DOWN", "CRASHED"}

(* The process waits for an answer; it has one request in flight at most. *)
Waiting(i) == request_age[i] # NoAge

Registered(b) == registrations[b] # Nil

(* The registered broker is neither fenced nor shutting down: it may lead. *)
Active(b) ==
  /\ Registered(b)
  /\ ~registrations[b].fenced
  /\ ~registrations[b].in_controlled_shutdown

(* A session is valid up to and including its timeout. It belongs to the     *)
(* registered epoch, fenced or not.                                          *)
(* Kafka: BrokerHeartbeatTracker.hasValidSession.                            *)
HasValidSession(b) == contact_age[b] # NoAge /\ contact_age[b] <= SessionTimeout

(* The active controller remembers that b is shutting down. A new controller *)
(* does not.                                                                 *)
ShuttingDown(b) == controlled_shutdown_offset[b] # NoOffset

(* The brokers that stay in the cluster. Shutdown waits for the lowest       *)
(* offset that any of them has reported.                                     *)
(* Kafka: BrokerHeartbeatManager.lowestActiveOffset.                         *)
StayingBrokers == {b \in Broker : Registered(b) /\ ~registrations[b].fenced /\ ~ShuttingDown(b)}
CaughtUpWithShutdown(b) ==
  \A other \in StayingBrokers : metadata_offset[other] >= controlled_shutdown_offset[b]

(* The broker state with which the controller answers heartbeat m of broker  *)
(* b.                                                                        *)
(* Kafka: BrokerHeartbeatManager.calculateNextBrokerState.                   *)
NextBrokerState(b, m) ==
  IF ShuttingDown(b) THEN
    IF b \notin leads /\ CaughtUpWithShutdown(b)
    THEN "SHUTDOWN_NOW" ELSE "CONTROLLED_SHUTDOWN"
  ELSE IF registrations[b].fenced THEN
    IF m.want_shut_down THEN "SHUTDOWN_NOW"
    ELSE IF ~m.want_fence /\ m.metadata_offset >= registrations[b].record_offset
    THEN "UNFENCED" ELSE "FENCED"
  ELSE IF m.want_fence THEN
    IF m.want_shut_down THEN "SHUTDOWN_NOW" ELSE "FENCED"
  ELSE IF m.want_shut_down THEN
    IF b \in leads THEN "CONTROLLED_SHUTDOWN" ELSE "SHUTDOWN_NOW"
  ELSE "UNFENCED"
------------------------------------------------------------------------------
Init ==
  /\ registrations = [b \in Broker |-> Nil]
  /\ log_end = 0
  /\ leads = {}
  /\ contact_age = [b \in Broker |-> NoAge]
  /\ metadata_offset = [b \in Broker |-> NoOffset]
  /\ controlled_shutdown_offset = [b \in Broker |-> NoOffset]
  /\ status = [i \in Incarnation |-> "NOT_RUNNING"]
  /\ broker_epoch = [i \in Incarnation |-> NoEpoch]
  /\ applied_offset = [i \in Incarnation |-> NoOffset]
  /\ request_age = [i \in Incarnation |-> NoAge]
  /\ lease_age = [i \in Incarnation |-> NoAge]
  /\ clock_lead = [i \in Incarnation |-> 0]
  /\ messages = NoMessages
------------------------------------------------------------------------------
(* The broker process                                                        *)

(***************************************************************************)
(* A process starts. It cannot start twice: each start draws a new         *)
(* incarnation id.                                                         *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.start.                                    *)
(***************************************************************************)
StartBroker(i) ==
  /\ status[i] = "NOT_RUNNING"
  /\ status' = [status EXCEPT ![i] = "STARTING"]
  /\ UNCHANGED <<controller_log, soft_state, broker_epoch, applied_offset, broker_clocks, messages>>

(* The messages that stay in flight when process i sends its next request. A *)
(* network that keeps order delivers no older request after it.              *)
Overtaken(i) ==
  IF Reorder THEN messages
  ELSE Drop(messages, {m \in InFlight(messages) : m.incarnation = i /\ IsRequest(m)})

(***************************************************************************)
(* A process that has no epoch sends a registration to get one.            *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.sendBrokerRegistration.                   *)
(***************************************************************************)
SendRegistration(i) ==
  /\ Live(i)
  /\ broker_epoch[i] = NoEpoch
  /\ ~Waiting(i)
  /\ messages' = Put(Overtaken(i),
       [type |-> "RegistrationRequest", incarnation |-> i, awaited |-> TRUE])
  /\ request_age' = [request_age EXCEPT ![i] = 0]
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset,
                 lease_age, clock_lead>>

(***************************************************************************)
(* A process that has an epoch reports the offset it has replayed and what *)
(* it wants: to stay fenced while it starts, to be unfenced once it is     *)
(* ready, or to shut down when it was told to stop.                        *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.sendBrokerHeartbeat.                      *)
(***************************************************************************)
WantFence(i) == CASE status[i] = "STARTING" -> {TRUE}
                  [] status[i] = "RECOVERY" -> BOOLEAN
                  [] OTHER -> {FALSE}

SendHeartbeat(i, want_fence) ==
  /\ Live(i)
  /\ broker_epoch[i] # NoEpoch
  /\ ~Waiting(i)
  /\ want_fence \in WantFence(i)
  /\ messages' = Put(Overtaken(i),
       [type |-> "HeartbeatRequest", incarnation |-> i, awaited |-> TRUE,
        epoch |-> broker_epoch[i], metadata_offset |-> applied_offset[i],
        want_fence |-> want_fence,
        want_shut_down |-> status[i] = "PENDING_CONTROLLED_SHUTDOWN"])
  /\ request_age' = [request_age EXCEPT ![i] = 0]
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset,
                 lease_age, clock_lead>>

(***************************************************************************)
(* The answer to a registration arrives. It carries the epoch, or it is a  *)
(* refusal and the process will ask again.                                 *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager, BrokerRegistrationResponseEvent.         *)
(***************************************************************************)
HandleRegistrationResponse(m) ==
  /\ m.type = "RegistrationResponse"
  /\ Live(m.incarnation)
  /\ messages' = Take(messages, m)
  /\ request_age' = [request_age EXCEPT ![m.incarnation] = NoAge]
  /\ broker_epoch' = [broker_epoch EXCEPT ![m.incarnation] =
                        IF m.error = "NONE" THEN m.epoch ELSE @]
  /\ UNCHANGED <<controller_log, soft_state, status, applied_offset, lease_age, clock_lead>>

(* The bag after process i stops waiting. Its request may still arrive; an   *)
(* answer would find a closed connection.                                    *)
Unawaited(bag, i) ==
  LET answers == {m \in InFlight(bag) : m.incarnation = i /\ ~IsRequest(m)}
      asked   == {m \in InFlight(bag) : m.incarnation = i /\ IsRequest(m) /\ m.awaited}
      rest    == Drop(bag, answers \cup asked)
  IN  IF asked = {} THEN rest
      ELSE Put(rest, [(CHOOSE m \in asked : TRUE) EXCEPT !.awaited = FALSE])

(* Process i ends and loses everything that it kept in memory.               *)
Exit(i, last_status) ==
  /\ status' = [status EXCEPT ![i] = last_status]
  /\ broker_epoch' = [broker_epoch EXCEPT ![i] = NoEpoch]
  /\ applied_offset' = [applied_offset EXCEPT ![i] = NoOffset]
  /\ request_age' = [request_age EXCEPT ![i] = NoAge]
  /\ lease_age' = [lease_age EXCEPT ![i] = NoAge]
  /\ clock_lead' = [clock_lead EXCEPT ![i] = 0]
  /\ messages' = Unawaited(messages, i)

StatusAfter(current, m) ==
  IF m.error # "NONE" THEN current
  ELSE CASE current = "STARTING" /\ m.is_caught_up -> "RECOVERY"
         [] current = "RECOVERY" /\ ~m.is_fenced -> "RUNNING"
         [] current = "PENDING_CONTROLLED_SHUTDOWN" /\ m.should_shut_down -> "SHUTTING_DOWN"
         [] OTHER -> current

(***************************************************************************)
(* The answer to a heartbeat arrives. The lease it grants began when the   *)
(* heartbeat was SENT. The controller received the heartbeat no earlier,   *)
(* so counting from there can only end the lease too soon: the conjunct on *)
(* lease_age' takes over request_age, not 0.                               *)
(*                                                                         *)
(* A RUNNING broker ignores that it is fenced: Kafka has no self-fencing.  *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager, BrokerHeartbeatResponseEvent.            *)
(***************************************************************************)
HandleHeartbeatResponse(m) ==
  LET i == m.incarnation
      next == StatusAfter(status[i], m)
  IN
  /\ m.type = "HeartbeatResponse"
  /\ Live(i)
  /\ \/ /\ next # "SHUTTING_DOWN"
        /\ status' = [status EXCEPT ![i] = next]
        /\ messages' = Take(messages, m)
        /\ request_age' = [request_age EXCEPT ![i] = NoAge]
        /\ lease_age' = [lease_age EXCEPT ![i] =
                           IF SelfFence /\ m.error = "NONE"
                           THEN request_age[i] ELSE @]
        /\ UNCHANGED <<broker_epoch, applied_offset, clock_lead>>
     \/ /\ next = "SHUTTING_DOWN"
        /\ Exit(i, "SHUTTING_DOWN")
  /\ UNCHANGED <<controller_log, soft_state>>

(***************************************************************************)
(* A process stops waiting for an answer. The request may still arrive at  *)
(* the controller; an answer finds a closed connection.                    *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager, the onTimeout handlers.                  *)
(***************************************************************************)
RequestTimeout(i) ==
  /\ Live(i)
  /\ Waiting(i)
  /\ messages' = Unawaited(messages, i)
  /\ request_age' = [request_age EXCEPT ![i] = NoAge]
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset,
                 lease_age, clock_lead>>

(***************************************************************************)
(* A process replays committed metadata up to an offset.                   *)
(*                                                                         *)
(* Kafka: MetadataLoader.handleCommit.                                     *)
(***************************************************************************)
ReplayMetadata(i, offset) ==
  /\ Live(i)
  /\ offset > applied_offset[i]
  /\ offset < log_end
  /\ applied_offset' = [applied_offset EXCEPT ![i] = offset]
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, broker_clocks, messages>>

(***************************************************************************)
(* The operator tells a process to stop. Only a RUNNING broker asks the    *)
(* controller for permission; a process in any other state stops at once.  *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.beginControlledShutdown.                  *)
(***************************************************************************)
RequestShutdown(i) ==
  /\ status[i] \in {"STARTING", "RECOVERY", "RUNNING"}
  /\ \/ /\ status[i] = "RUNNING"
        /\ status' = [status EXCEPT ![i] = "PENDING_CONTROLLED_SHUTDOWN"]
        /\ UNCHANGED <<broker_epoch, applied_offset, broker_clocks, messages>>
     \/ /\ status[i] # "RUNNING"
        /\ Exit(i, "SHUTTING_DOWN")
  /\ UNCHANGED <<controller_log, soft_state>>

(***************************************************************************)
(* A process crashes. The messages that it sent stay in flight.            *)
(***************************************************************************)
Crash(i) ==
  /\ Live(i)
  /\ Exit(i, "CRASHED")
  /\ UNCHANGED <<controller_log, soft_state>>
------------------------------------------------------------------------------
(* The active controller                                                     *)

(* A request that no process waits for is handled without an answer.         *)
Reply(m, response) == IF m.awaited THEN Answer(messages, m, response) ELSE Take(messages, m)

(* The soft state of broker b is reset, including its session.               *)
ForgetSession(b) ==
  /\ contact_age' = [contact_age EXCEPT ![b] = NoAge]
  /\ metadata_offset' = [metadata_offset EXCEPT ![b] = NoOffset]
  /\ controlled_shutdown_offset' = [controlled_shutdown_offset EXCEPT ![b] = NoOffset]

(***************************************************************************)
(* A new incarnation registers. Its epoch is the offset of its record, so  *)
(* no two registrations ever share an epoch. It starts fenced, leads       *)
(* nothing, and has no session until its first heartbeat.                  *)
(*                                                                         *)
(* Enabled only when no other incarnation holds a valid session.           *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RegisterBroker(m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ m.type = "RegistrationRequest"
  /\ ~HasValidSession(b) \/ ~Registered(b)
  /\ Registered(b) => registrations[b].incarnation # m.incarnation
  /\ registrations' = [registrations EXCEPT ![b] =
       [incarnation |-> m.incarnation, epoch |-> log_end, record_offset |-> log_end,
        fenced |-> TRUE, in_controlled_shutdown |-> FALSE]]
  /\ log_end' = log_end + 1
  /\ leads' = leads \ {b}
  /\ ForgetSession(b)
  /\ messages' = Reply(m, [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
                           error |-> "NONE", epoch |-> log_end])
  /\ UNCHANGED <<status, broker_epoch, applied_offset, broker_clocks>>

(***************************************************************************)
(* The registered incarnation registers again: it lost the first answer,   *)
(* or an old copy of its request arrives. It keeps its epoch, and stays    *)
(* fenced or in controlled shutdown if it was (KAFKA-16952, KAFKA-16757).  *)
(* Only the record is new. The controller forgets its soft state of the    *)
(* broker, except for the session.                                         *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
AmendRegistration(m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ m.type = "RegistrationRequest"
  /\ Registered(b)
  /\ registrations[b].incarnation = m.incarnation
  /\ registrations' = [registrations EXCEPT ![b].record_offset = log_end]
  /\ log_end' = log_end + 1
  /\ metadata_offset' = [metadata_offset EXCEPT ![b] = NoOffset]
  /\ controlled_shutdown_offset' = [controlled_shutdown_offset EXCEPT ![b] = NoOffset]
  /\ messages' = Reply(m, [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
                           error |-> "NONE", epoch |-> registrations[b].epoch])
  /\ UNCHANGED <<leads, contact_age, status, broker_epoch, applied_offset, broker_clocks>>

(***************************************************************************)
(* Another incarnation of the id holds a valid session. The newcomer is    *)
(* refused until that session ends, even if the other incarnation has shut *)
(* down.                                                                   *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RefuseRegistration(m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ m.type = "RegistrationRequest"
  /\ Registered(b)
  /\ registrations[b].incarnation # m.incarnation
  /\ HasValidSession(b)
  /\ messages' = Reply(m, [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
                           error |-> "DUPLICATE_BROKER_REGISTRATION", epoch |-> NoEpoch])
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset, broker_clocks>>

(* Heartbeat m carries the registered epoch of its broker.                   *)
(* Kafka: ClusterControlManager.checkBrokerEpoch.                            *)
CurrentEpoch(m) ==
  LET b == BrokerOf[m.incarnation] IN Registered(b) /\ registrations[b].epoch = m.epoch

(***************************************************************************)
(* The controller refuses a heartbeat unless it carries the epoch that is  *)
(* registered now. The heartbeat changes nothing.                          *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.processBrokerHeartbeat.                *)
(***************************************************************************)
RejectHeartbeat(m) ==
  /\ m.type = "HeartbeatRequest"
  /\ ~CurrentEpoch(m)
  /\ messages' = Reply(m, [type |-> "HeartbeatResponse", incarnation |-> m.incarnation,
                           error |-> "STALE_BROKER_EPOCH", is_caught_up |-> FALSE,
                           is_fenced |-> TRUE, should_shut_down |-> FALSE])
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset, broker_clocks>>

(* The part that all accepted heartbeats share: the controller records the   *)
(* contact with broker b and answers with b's next state.                    *)
HeedHeartbeat(m, next) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ m.type = "HeartbeatRequest"
  /\ CurrentEpoch(m)
  /\ NextBrokerState(b, m) = next
  /\ contact_age' = [contact_age EXCEPT ![b] = 0]
  /\ messages' = Reply(m, [type |-> "HeartbeatResponse", incarnation |-> m.incarnation,
                           error |-> "NONE",
                           is_caught_up |-> m.metadata_offset >= registrations[b].record_offset,
                           is_fenced |-> next \in {"FENCED", "SHUTDOWN_NOW"},
                           should_shut_down |-> next = "SHUTDOWN_NOW"])
  /\ UNCHANGED <<status, broker_epoch, applied_offset, broker_clocks>>

(* Heartbeat m changes only the soft state about the broker that sent it.    *)
RenewSession(m) ==
  /\ metadata_offset' = [metadata_offset EXCEPT ![BrokerOf[m.incarnation]] = m.metadata_offset]
  /\ UNCHANGED <<controller_log, controlled_shutdown_offset>>

(* The controller writes a record about broker b. Replaying it makes the     *)
(* controller forget the offset that b had reported, until b's next          *)
(* heartbeat.                                                                *)
(* Kafka: BrokerHeartbeatManager.register, which every replay calls.         *)
WriteRegistrationChange(b, registration) ==
  /\ registrations' = [registrations EXCEPT ![b] = registration]
  /\ log_end' = log_end + 1
  /\ metadata_offset' = [metadata_offset EXCEPT ![b] = NoOffset]

(* The controller fences broker b: b then leads nothing, and the controller  *)
(* forgets the offset of its controlled shutdown. The registration keeps     *)
(* in_controlled_shutdown. Kafka writes the record also for a broker that is *)
(* already fenced.                                                           *)
WriteFence(b) ==
  /\ WriteRegistrationChange(b, [registrations[b] EXCEPT !.fenced = TRUE])
  /\ leads' = leads \ {b}
  /\ controlled_shutdown_offset' = [controlled_shutdown_offset EXCEPT ![b] = NoOffset]

(***************************************************************************)
(* The seven ways to accept a heartbeat, by the state the broker was in    *)
(* and the state NextBrokerState gives it.                                 *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.processBrokerHeartbeat.                *)
(***************************************************************************)
KeepFenced(m) ==
  /\ HeedHeartbeat(m, "FENCED")
  /\ registrations[BrokerOf[m.incarnation]].fenced
  /\ RenewSession(m)

(* Kafka: ReplicationControlManager.handleBrokerUnfenced. *)
UnfenceBroker(m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ HeedHeartbeat(m, "UNFENCED")
  /\ registrations[b].fenced
  /\ WriteRegistrationChange(b, [registrations[b] EXCEPT !.fenced = FALSE])
  /\ UNCHANGED <<leads, controlled_shutdown_offset>>

KeepUnfenced(m) ==
  /\ HeedHeartbeat(m, "UNFENCED")
  /\ ~registrations[BrokerOf[m.incarnation]].fenced
  /\ RenewSession(m)

(* The heartbeat asks to fence an unfenced broker. Either it was overtaken,  *)
(* or the broker is still in RECOVERY and has not heard that it was          *)
(* unfenced.                                                                 *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                      *)
FenceOnRequest(m) ==
  /\ HeedHeartbeat(m, "FENCED")
  /\ ~registrations[BrokerOf[m.incarnation]].fenced
  /\ WriteFence(BrokerOf[m.incarnation])

(* The broker leads something. The controller moves its leaderships, and     *)
(* lets it shut down once the brokers that stay have replayed the move       *)
(* (KIP-841, KAFKA-14292).                                                   *)
(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.        *)
BeginControlledShutdown(m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ HeedHeartbeat(m, "CONTROLLED_SHUTDOWN")
  /\ ~ShuttingDown(b)
  /\ WriteRegistrationChange(b, [registrations[b] EXCEPT !.in_controlled_shutdown = TRUE])
  /\ leads' = leads \ {b}
  /\ controlled_shutdown_offset' = [controlled_shutdown_offset EXCEPT ![b] = log_end]

ContinueControlledShutdown(m) ==
  /\ HeedHeartbeat(m, "CONTROLLED_SHUTDOWN")
  /\ ShuttingDown(BrokerOf[m.incarnation])
  /\ RenewSession(m)

(* Kafka: ReplicationControlManager.handleBrokerFenced, SHUTDOWN_NOW. *)
ShutDownNow(m) ==
  /\ HeedHeartbeat(m, "SHUTDOWN_NOW")
  /\ WriteFence(BrokerOf[m.incarnation])

(***************************************************************************)
(* A session has expired. The controller fences the broker and ends its    *)
(* session. It does so even if the broker is already fenced, as one that   *)
(* shut down is. It fences one broker at a time (KAFKA-13173), in no fixed *)
(* order among the overdue ones.                                           *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.maybeFenceOneStaleBroker.              *)
(***************************************************************************)
FenceStaleBroker(b) ==
  /\ Registered(b)
  /\ contact_age[b] > SessionTimeout
  /\ WriteFence(b)
  /\ contact_age' = [contact_age EXCEPT ![b] = NoAge]
  /\ UNCHANGED <<status, broker_epoch, applied_offset, broker_clocks, messages>>

(***************************************************************************)
(* The operator removes a registration, in any state.                      *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.unregisterBroker.                      *)
(***************************************************************************)
UnregisterBroker(b) ==
  /\ Registered(b)
  /\ registrations' = [registrations EXCEPT ![b] = Nil]
  /\ log_end' = log_end + 1
  /\ leads' = leads \ {b}
  /\ ForgetSession(b)
  /\ UNCHANGED <<status, broker_epoch, applied_offset, broker_clocks, messages>>

(***************************************************************************)
(* An active broker that leads nothing becomes the leader of a partition.  *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.electLeader.                           *)
(***************************************************************************)
ElectLeader(b) ==
  /\ Active(b)
  /\ b \notin leads
  /\ leads' = leads \cup {b}
  /\ log_end' = log_end + 1
  /\ UNCHANGED <<registrations, soft_state, status, broker_epoch, applied_offset,
                 broker_clocks, messages>>

(***************************************************************************)
(* Another controller becomes active and begins its epoch with a record.   *)
(* It knows only the log. Each unfenced broker gets a full new session;    *)
(* fenced brokers have none. The new controller does not know which        *)
(* brokers were shutting down, nor how far each broker had replayed.       *)
(*                                                                         *)
(* Kafka: ClusterControlManager.activate.                                  *)
(***************************************************************************)
FailOver ==
  /\ log_end' = log_end + 1
  /\ contact_age' = [b \in Broker |->
       IF Registered(b) /\ ~registrations[b].fenced THEN 0 ELSE NoAge]
  /\ metadata_offset' = [b \in Broker |-> NoOffset]
  /\ controlled_shutdown_offset' = [b \in Broker |-> NoOffset]
  /\ UNCHANGED <<registrations, leads, status, broker_epoch, applied_offset,
                 broker_clocks, messages>>
------------------------------------------------------------------------------
(* The world                                                                 *)

(***************************************************************************)
(* Time passes, by the controller's clock and by the clock of each running *)
(* process. Over any interval no process's clock differs from the          *)
(* controller's by more than MaxSkew. A process that does not run, or that *)
(* does not fence itself, does not use its clock; it advances with the     *)
(* controller's.                                                           *)
(***************************************************************************)
Tick(by_controller, by_broker) ==
  /\ by_controller \in Nat
  /\ \A i \in Incarnation : by_broker[i] \in Nat
  /\ \A i \in Incarnation :
       IF Live(i) /\ SelfFence
       THEN clock_lead[i] + by_broker[i] - by_controller \in 0 .. MaxSkew
       ELSE by_broker[i] = by_controller
  /\ clock_lead' = [i \in Incarnation |-> clock_lead[i] + by_broker[i] - by_controller]
  /\ contact_age' = [b \in Broker |-> Older(contact_age[b], by_controller, SessionTimeout)]
  /\ request_age' = IF ~SelfFence THEN request_age ELSE
       [i \in Incarnation |-> Older(request_age[i], by_broker[i], BrokerTimeout)]
  /\ lease_age' = [i \in Incarnation |-> Older(lease_age[i], by_broker[i], BrokerTimeout)]
  /\ UNCHANGED <<controller_log, metadata_offset, controlled_shutdown_offset, status,
                 broker_epoch, applied_offset, messages>>

(***************************************************************************)
(* The network loses one copy of a message.                                *)
(***************************************************************************)
LoseMessage(m) ==
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset, broker_clocks>>

(***************************************************************************)
(* The network delivers a request once more. The process gets no answer to *)
(* the copy, since it takes one answer for each request.                   *)
(***************************************************************************)
DuplicateMessage(m) ==
  /\ m \in InFlight(messages)
  /\ IsRequest(m)
  /\ Reorder
  /\ messages' = Put(messages, [m EXCEPT !.awaited = FALSE])
  /\ UNCHANGED <<controller_log, soft_state, status, broker_epoch, applied_offset, broker_clocks>>
------------------------------------------------------------------------------
ReplayableOffsets == 0 .. (log_end - 1)

(* Time passes in single units. In each step a clock advances by one unit or *)
(* by none.                                                                  *)
Elapsed == [Incarnation -> {0, 1}]

BrokerNext ==
  \/ \E i \in Incarnation : StartBroker(i)
  \/ \E i \in Incarnation : SendRegistration(i)
  \/ \E i \in Incarnation, want_fence \in BOOLEAN : SendHeartbeat(i, want_fence)
  \/ \E m \in InFlight(messages) : HandleRegistrationResponse(m)
  \/ \E m \in InFlight(messages) : HandleHeartbeatResponse(m)
  \/ \E i \in Incarnation : RequestTimeout(i)
  \/ \E i \in Incarnation, offset \in ReplayableOffsets : ReplayMetadata(i, offset)
  \/ \E i \in Incarnation : RequestShutdown(i)
  \/ \E i \in Incarnation : Crash(i)

ControllerNext ==
  \/ \E m \in InFlight(messages) : RegisterBroker(m)
  \/ \E m \in InFlight(messages) : AmendRegistration(m)
  \/ \E m \in InFlight(messages) : RefuseRegistration(m)
  \/ \E m \in InFlight(messages) : RejectHeartbeat(m)
  \/ \E m \in InFlight(messages) : KeepFenced(m)
  \/ \E m \in InFlight(messages) : UnfenceBroker(m)
  \/ \E m \in InFlight(messages) : KeepUnfenced(m)
  \/ \E m \in InFlight(messages) : FenceOnRequest(m)
  \/ \E m \in InFlight(messages) : BeginControlledShutdown(m)
  \/ \E m \in InFlight(messages) : ContinueControlledShutdown(m)
  \/ \E m \in InFlight(messages) : ShutDownNow(m)
  \/ \E b \in Broker : FenceStaleBroker(b)
  \/ \E b \in Broker : UnregisterBroker(b)
  \/ \E b \in Broker : ElectLeader(b)
  \/ FailOver

WorldNext ==
  \/ \E by_controller \in {0, 1}, by_broker \in Elapsed : Tick(by_controller, by_broker)
  \/ \E m \in InFlight(messages) : LoseMessage(m)
  \/ \E m \in InFlight(messages) : DuplicateMessage(m)

Next == BrokerNext \/ ControllerNext \/ WorldNext

Spec == Init /\ [][Next]_vars
==============================================================================
