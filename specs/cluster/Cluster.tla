-------------------------------- MODULE Cluster --------------------------------
(***************************************************************************)
(* A whole cluster. The metadata log drives the leases of brokers, the     *)
(* reassignment of one partition and the registration of controllers. It   *)
(* does so through records and in no other way.                            *)
(*                                                                         *)
(* The active controller judges each request by what it has written, which *)
(* may never be committed. It appends a batch, replays it into its own     *)
(* image, and answers when the batch is committed. Brokers and standbys    *)
(* know only what is committed. Another controller may be elected at any   *)
(* moment. It begins with what is committed. The former leader may not     *)
(* have heard of the election, and goes on writing batches that will never *)
(* be committed.                                                           *)
(*                                                                         *)
(* The log is kept as images, not as a sequence. `committed` is the image  *)
(* of its committed part, like a snapshot, and `tail` holds the batches    *)
(* after it. The rules come from other specs: those of heartbeats from     *)
(* BrokerLease, those of partitions from PartitionChange.                  *)
(*                                                                         *)
(* Sources: KIP-631, KIP-500, KIP-841, KIP-919, and Kafka 4.1 as built.    *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*                                                                         *)
(* BrokerLifecycleManager                                                  *)
(*   start -> StartBroker                                                  *)
(*   sendBrokerRegistration -> SendRegistration                            *)
(*   BrokerRegistrationResponseEvent -> HandleRegistrationResponse         *)
(*   sendBrokerHeartbeat -> SendHeartbeat                                  *)
(*   BrokerHeartbeatResponseEvent -> HandleHeartbeatResponse               *)
(*   the onTimeout handlers -> RequestTimeout                              *)
(*   beginControlledShutdown -> RequestShutdown                            *)
(*                                                                         *)
(* other classes of a broker                                               *)
(*   AlterPartitionManager.submit -> SendAlterPartition                    *)
(*   AlterPartitionManager.handleAlterPartitionResponse ->                 *)
(*     HandleAlterPartitionResponse                                        *)
(*   MetadataLoader.handleCommit -> ReplayMetadata                         *)
(*   the end of a process -> Crash                                         *)
(*                                                                         *)
(* ClusterControlManager                                                   *)
(*   registerBroker -> RegisterBroker, AmendRegistration,                  *)
(*     RefuseRegistration                                                  *)
(*   checkBrokerEpoch -> RejectHeartbeat, RefuseAlterPartition             *)
(*   registerController -> RegisterController                              *)
(*   activate -> ElectLeader                                               *)
(*                                                                         *)
(* ReplicationControlManager                                               *)
(*   processBrokerHeartbeat -> RejectHeartbeat, KeepState, UnfenceBroker,  *)
(*     BeginControlledShutdown, FenceOnRequest, ShutDownNow                *)
(*   handleBrokerUnfenced -> UnfenceBroker                                 *)
(*   handleBrokerInControlledShutdown -> BeginControlledShutdown           *)
(*   handleBrokerFenced -> FenceOnRequest, ShutDownNow, FenceStaleBroker   *)
(*   maybeFenceOneStaleBroker -> FenceStaleBroker                          *)
(*   alterPartition -> AlterPartition, RefuseAlterPartition                *)
(*   validateAlterPartitionData -> RefuseAlterPartition                    *)
(*   changePartitionReassignment -> StartReassignment                      *)
(*   cancelPartitionReassignment -> CancelReassignment                     *)
(*                                                                         *)
(* FeatureControlManager                                                   *)
(*   updateFeatures -> UpgradeFeature                                      *)
(*                                                                         *)
(* QuorumController                                                        *)
(*   ControllerWriteEvent -> every action that uses Write, WriteFor or     *)
(*     AnswerFor                                                           *)
(*   handleCommit, DeferredEventQueue.completeUpTo -> Commit               *)
(*   claim -> ElectLeader                                                  *)
(*   renounce -> Renounce                                                  *)
(*                                                                         *)
(* no handler                                                              *)
(*   the passing of time -> SessionsRunOut                                 *)
(*   the network -> LoseMessage                                            *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. A controller may be elected at any moment. It has all that is  *)
(*    committed, and any number of the first batches of the former         *)
(*    leader's tail. Its claim is one step. specs/raft models elections.   *)
(*  - Standbys. They replay what is committed and do nothing else until    *)
(*    they claim, so they have no variables.                               *)
(*  - Requests to a controller that is not active. To the sender they are  *)
(*    lost. So are the answers that a controller owes when it renounces.   *)
(*  - Time. A session is valid or over, and may be over at any moment.     *)
(*  - Requests of controllers. One may be handled at any moment.           *)
(*  - More than one partition, the data in it, unclean elections, ELR.     *)
(*  - A new target while a reassignment is in progress, the deletion of a  *)
(*    topic, elections of the preferred replica.                           *)
(*  - Unregistering brokers; a broker that fences itself (KIP-343).        *)
(*  - What a leader learns from the answer to AlterPartition before it has *)
(*    replayed the change (specs/reassignment).                            *)
(*  - Several requests of one process in flight. A process has one, of     *)
(*    whatever kind. Kafka's sends AlterPartition on a connection of its   *)
(*    own.                                                                 *)
(*  - Intermediate states. A broker that replays, replays all there is.    *)
(***************************************************************************)
EXTENDS Network, ClusterRecords

CONSTANTS
  BrokerOf,            \* [Incarnation -> Broker].
  RunningProcess,      \* [Controller -> ControllerProcess]: what runs under each id.
  Replicas             \* The initial replicas of the partition, in order.

ASSUME Constants ==
  /\ Broker # {} /\ IsFiniteSet(Broker)
  /\ Incarnation # {} /\ IsFiniteSet(Incarnation)
  /\ Controller # {} /\ IsFiniteSet(Controller)
  /\ {BrokerOrder[k] : k \in DOMAIN BrokerOrder} = Broker
  /\ Len(BrokerOrder) = Cardinality(Broker)
  /\ BrokerOf \in [Incarnation -> Broker]
  /\ ControllerOf \in [ControllerProcess -> Controller]
  /\ RunningProcess \in [Controller -> ControllerProcess]
  /\ \A c \in Controller : ControllerOf[RunningProcess[c]] = c
  /\ Supported \in [ControllerProcess -> SUBSET Level]
  /\ Level \subseteq Nat
  /\ GateLevel \in Level
  /\ Replicas \in Partitions!Assignments(Broker)

VARIABLES
  committed,       \* The image at the high watermark, the same for all.
  leader,          \* The controller whose appends can be committed.
  active,          \* The controllers that believe they are active.
  stable,          \* [Controller -> image]: what it knows to be committed.
  tail,            \* [Controller -> batches]: what it wrote after `stable`.
  written,         \* [Controller -> image]: `stable` with its tail replayed.
  contact_age,     \* [Controller -> [Broker -> age]]: sessions in its memory.
  metadata_offset, \* [Controller -> [Broker -> offset]]: the offset each broker reported.
  controlled_shutdown_offset,  \* [Controller -> [Broker -> offset]]: what the others must replay.
  status,          \* [Incarnation -> broker state].
  broker_epoch,    \* [Incarnation -> epoch]: the broker epoch its registration returned.
  applied,         \* [Incarnation -> image]: what it has replayed, or Nil.
  waiting,         \* [Incarnation -> whether it waits for an answer].
  messages         \* The bag of messages in flight.

log == <<committed, leader>>
controllers == <<active, stable, tail, written>>
soft_state == <<contact_age, metadata_offset, controlled_shutdown_offset>>
processes == <<status, broker_epoch, applied, waiting>>
vars == <<committed, leader, active, stable, tail, written, contact_age, metadata_offset,
          controlled_shutdown_offset, status, broker_epoch, applied, waiting, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

(* A session is valid (Fresh) or over (Overdue), or there is none. *)
NoAge == -1
Fresh == 0
Overdue == 2
Ages == {NoAge, Fresh, Overdue}

Status == {"NOT_RUNNING", "STARTING", "RECOVERY", "RUNNING",
           "PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN", "CRASHED"}

(* The rules of the lease, as controller c applies them to what it has       *)
(* written and to what it keeps in memory. Only the pure operators of        *)
(* BrokerLease are used.                                                     *)
Lease(c) == INSTANCE BrokerLease WITH
  SessionTimeout <- 1, BrokerTimeout <- 1, MaxSkew <- 0, SelfFence <- FALSE, Reorder <- TRUE,
  registrations <- written[c].registrations,
  log_end <- written[c].end,
  leads <- {written[c].partition.leader} \ {NoLeader},
  contact_age <- contact_age[c],
  metadata_offset <- metadata_offset[c],
  controlled_shutdown_offset <- controlled_shutdown_offset[c],
  status <- status, broker_epoch <- broker_epoch,
  applied_offset <- [i \in Incarnation |-> NoOffset],
  request_age <- [i \in Incarnation |-> NoAge],
  lease_age <- [i \in Incarnation |-> NoAge],
  clock_lead <- [i \in Incarnation |-> 0],
  messages <- messages

RegistrationRequest ==
  [type : {"RegistrationRequest"}, incarnation : Incarnation, awaited : BOOLEAN]
RegistrationResponse ==
  [type : {"RegistrationResponse"}, incarnation : Incarnation,
   error : {"NONE", "DUPLICATE_BROKER_REGISTRATION"}, epoch : Nat \cup {NoEpoch}]
HeartbeatRequest ==
  [type : {"HeartbeatRequest"}, incarnation : Incarnation, awaited : BOOLEAN,
   epoch : Nat, metadata_offset : Nat \cup {NoOffset}, want_fence : BOOLEAN,
   want_shut_down : BOOLEAN]
HeartbeatResponse ==
  [type : {"HeartbeatResponse"}, incarnation : Incarnation,
   error : {"NONE", "STALE_BROKER_EPOCH"},
   is_caught_up : BOOLEAN, is_fenced : BOOLEAN, should_shut_down : BOOLEAN]
(* isr: from each member of the wanted ISR to the broker epoch under which   *)
(* the sender knows it.                                                      *)
IsAlterPartitionRequest(m) ==
  /\ [m EXCEPT !.isr = {}] \in
       [type : {"AlterPartitionRequest"}, incarnation : Incarnation, awaited : BOOLEAN,
        broker : Broker, epoch : Nat, leader_epoch : Nat, partition_epoch : Nat,
        isr : {{}}, recovery : {"RECOVERED"}]
  /\ DOMAIN m.isr \subseteq Broker
  /\ \A b \in DOMAIN m.isr : m.isr[b] \in Nat \cup {NoEpoch}
AlterPartitionResponse ==
  [type : {"AlterPartitionResponse"}, incarnation : Incarnation,
   error : {"NONE", "NEW_LEADER_ELECTED", "STALE_BROKER_EPOCH", "NOT_CONTROLLER",
            "FENCED_LEADER_EPOCH", "INVALID_REQUEST", "INVALID_UPDATE_VERSION",
            "INELIGIBLE_REPLICA"}]
Response == RegistrationResponse \cup HeartbeatResponse \cup AlterPartitionResponse
IsMessage(m) ==
  IF m.type = "AlterPartitionRequest" THEN IsAlterPartitionRequest(m)
  ELSE m \in RegistrationRequest \cup HeartbeatRequest \cup Response

IsRequest(m) ==
  m.type \in {"RegistrationRequest", "HeartbeatRequest", "AlterPartitionRequest"}

(* A batch of the tail, and the answer to give when it is committed. A batch *)
(* without records only waits for the batches before it.                     *)
IsBatch(batch) == batch.reply \in Response \cup {Nil}

TypeOK ==
  /\ committed \in Image
  /\ leader \in Controller
  /\ active \subseteq Controller
  /\ stable \in [Controller -> Image \cup {Nil}]
  /\ \A c \in Controller : \A k \in DOMAIN tail[c] : IsBatch(tail[c][k])
  /\ written \in [Controller -> Image \cup {Nil}]
  /\ contact_age \in [Controller -> [Broker -> Ages]]
  /\ metadata_offset \in [Controller -> [Broker -> Nat \cup {NoOffset}]]
  /\ controlled_shutdown_offset \in [Controller -> [Broker -> Nat \cup {NoOffset}]]
  /\ status \in [Incarnation -> Status]
  /\ broker_epoch \in [Incarnation -> Nat \cup {NoEpoch}]
  /\ applied \in [Incarnation -> Image \cup {Nil}]
  /\ waiting \in [Incarnation -> BOOLEAN]
  /\ \A m \in InFlight(messages) : IsMessage(m) /\ messages[m] \in Nat \ {0}
------------------------------------------------------------------------------
(* What the nodes read from their own state                                  *)

Live(i) == status[i] \notin {"NOT_RUNNING", "SHUTTING_DOWN", "CRASHED"}

(* The last offset that process i has replayed. *)
AppliedOffset(i) == IF applied[i] = Nil THEN NoOffset ELSE applied[i].end - 1

(* Process i believes that its broker leads, by what it has replayed. *)
TakesItselfForLeader(i) ==
  /\ status[i] \in {"RUNNING", "PENDING_CONTROLLED_SHUTDOWN"}
  /\ applied[i] # Nil
  /\ applied[i].partition.leader = BrokerOf[i]

NoSessions == [b \in Broker |-> NoAge]
NoOffsets == [b \in Broker |-> NoOffset]
------------------------------------------------------------------------------
(* The initial state: an empty log, and the first leader elected. *)
EmptyImage ==
  [registrations |-> [b \in Broker |-> Nil],
   partition |-> Partitions!NewPartition(Replicas, {Replicas[1]}),
   controllers |-> [c \in Controller |-> Nil],
   metadata_version |-> CHOOSE level \in Level : \A other \in Level : level <= other,
   end |-> 0]

(* The image at the start: the partition exists, and its leader is gone. *)
FirstImage == [EmptyImage EXCEPT !.partition.leader = NoLeader]

Init ==
  /\ committed = FirstImage
  /\ leader \in Controller
  /\ active = {leader}
  /\ stable = [c \in Controller |-> IF c = leader THEN committed ELSE Nil]
  /\ tail = [c \in Controller |-> << >>]
  /\ written = stable
  /\ contact_age = [c \in Controller |-> NoSessions]
  /\ metadata_offset = [c \in Controller |-> NoOffsets]
  /\ controlled_shutdown_offset = [c \in Controller |-> NoOffsets]
  /\ status = [i \in Incarnation |-> "NOT_RUNNING"]
  /\ broker_epoch = [i \in Incarnation |-> NoEpoch]
  /\ applied = [i \in Incarnation |-> Nil]
  /\ waiting = [i \in Incarnation |-> FALSE]
  /\ messages = NoMessages
------------------------------------------------------------------------------
(* Broker processes. They know what they have replayed of the committed log, *)
(* and the answers they got.                                                 *)

(***************************************************************************)
(* A process starts.                                                       *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.start.                                    *)
(***************************************************************************)
StartBroker(i) ==
  /\ status[i] = "NOT_RUNNING"
  /\ status' = [status EXCEPT ![i] = "STARTING"]
  /\ UNCHANGED <<log, controllers, soft_state, broker_epoch, applied, waiting, messages>>

Send(i, m) ==
  /\ ~waiting[i]
  /\ waiting' = [waiting EXCEPT ![i] = TRUE]
  /\ messages' = Put(messages, m)

(***************************************************************************)
(* A process without a broker epoch asks for one.                          *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.sendBrokerRegistration.                   *)
(***************************************************************************)
SendRegistration(i) ==
  /\ Live(i)
  /\ broker_epoch[i] = NoEpoch
  /\ Send(i, [type |-> "RegistrationRequest", incarnation |-> i, awaited |-> TRUE])
  /\ UNCHANGED <<log, controllers, soft_state, status, broker_epoch, applied>>

(***************************************************************************)
(* A registered process sends a heartbeat. It reports the offset that it   *)
(* has replayed, which is committed, and says what it wants.               *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.sendBrokerHeartbeat.                      *)
(***************************************************************************)
SendHeartbeat(i) ==
  /\ Live(i)
  /\ broker_epoch[i] # NoEpoch
  /\ Send(i, [type |-> "HeartbeatRequest", incarnation |-> i, awaited |-> TRUE,
              epoch |-> broker_epoch[i], metadata_offset |-> AppliedOffset(i),
              want_fence |-> status[i] = "STARTING",
              want_shut_down |-> status[i] = "PENDING_CONTROLLED_SHUTDOWN"])
  /\ UNCHANGED <<log, controllers, soft_state, status, broker_epoch, applied>>

(* The ISRs that a leader may ask for: itself alone, or the ISR with one     *)
(* more broker that is active by what the leader has replayed.               *)
WantedIsrs(i) ==
  LET image == applied[i]
      self == BrokerOf[i]
  IN  {isr \in {{self}} \cup {image.partition.isr \cup {b} : b \in ActiveBrokers(image)} :
         /\ isr # image.partition.isr
         /\ isr \subseteq Partitions!Members(image.partition.replicas)}

(***************************************************************************)
(* A leader asks for another ISR. It names the broker epoch under which it *)
(* knows each member.                                                      *)
(*                                                                         *)
(* Kafka: AlterPartitionManager.submit.                                    *)
(***************************************************************************)
SendAlterPartition(i, isr) ==
  /\ TakesItselfForLeader(i)
  /\ broker_epoch[i] # NoEpoch
  /\ isr \in WantedIsrs(i)
  /\ LET image == applied[i] IN
     Send(i, [type |-> "AlterPartitionRequest", incarnation |-> i, awaited |-> TRUE,
              broker |-> BrokerOf[i], epoch |-> broker_epoch[i],
              leader_epoch |-> image.partition.leader_epoch,
              partition_epoch |-> image.partition.partition_epoch,
              isr |-> [b \in isr |-> IF Registered(image, b) THEN image.registrations[b].epoch
                                     ELSE NoEpoch],
              recovery |-> "RECOVERED"])
  /\ UNCHANGED <<log, controllers, soft_state, status, broker_epoch, applied>>

(***************************************************************************)
(* A process gets the answer to its registration: an epoch, or a refusal.  *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager, BrokerRegistrationResponseEvent.         *)
(***************************************************************************)
HandleRegistrationResponse(m) ==
  /\ m.type = "RegistrationResponse"
  /\ Live(m.incarnation)
  /\ waiting' = [waiting EXCEPT ![m.incarnation] = FALSE]
  /\ broker_epoch' = [broker_epoch EXCEPT ![m.incarnation] =
                        IF m.error = "NONE" THEN m.epoch ELSE @]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<log, controllers, soft_state, status, applied>>

(* The messages in flight once process i has stopped waiting. Its request    *)
(* may still arrive. An answer finds a closed connection and is lost.        *)
Unawaited(bag, i) ==
  LET answers == {m \in InFlight(bag) : m.incarnation = i /\ ~IsRequest(m)}
      asked   == {m \in InFlight(bag) : m.incarnation = i /\ IsRequest(m) /\ m.awaited}
      rest    == Drop(bag, answers \cup asked)
  IN  IF asked = {} THEN rest
      ELSE Put(rest, [(CHOOSE m \in asked : TRUE) EXCEPT !.awaited = FALSE])

(* Process i no longer takes an answer that a batch still owes it. *)
UnawaitedReplies(batches, i) ==
  [k \in DOMAIN batches |->
     IF batches[k].reply # Nil /\ batches[k].reply.incarnation = i
     THEN [batches[k] EXCEPT !.reply = Nil] ELSE batches[k]]

Forget(i) ==
  /\ messages' = Unawaited(messages, i)
  /\ tail' = [c \in Controller |-> UnawaitedReplies(tail[c], i)]
  /\ waiting' = [waiting EXCEPT ![i] = FALSE]

(* Process i ends, and loses all that it kept in memory.                     *)
Exit(i, last_status) ==
  /\ status' = [status EXCEPT ![i] = last_status]
  /\ broker_epoch' = [broker_epoch EXCEPT ![i] = NoEpoch]
  /\ applied' = [applied EXCEPT ![i] = Nil]
  /\ Forget(i)

(* Kafka: BrokerLifecycleManager, BrokerHeartbeatResponseEvent.              *)
StatusAfter(current, m) == Lease(CHOOSE c \in Controller : TRUE)!StatusAfter(current, m)

(***************************************************************************)
(* A process gets the answer to its heartbeat.                             *)
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
        /\ waiting' = [waiting EXCEPT ![i] = FALSE]
        /\ messages' = Take(messages, m)
        /\ UNCHANGED <<broker_epoch, applied, tail>>
     \/ /\ next = "SHUTTING_DOWN"
        /\ Exit(i, "SHUTTING_DOWN")
  /\ UNCHANGED <<log, active, stable, written, soft_state>>

(***************************************************************************)
(* A leader gets the answer to AlterPartition. Here it learns the new      *)
(* state of the partition from the log only; Kafka's takes it from the     *)
(* answer (Reassignment!HandleAlterPartitionResponse).                     *)
(*                                                                         *)
(* Kafka: AlterPartitionManager.handleAlterPartitionResponse.              *)
(***************************************************************************)
HandleAlterPartitionResponse(m) ==
  /\ m.type = "AlterPartitionResponse"
  /\ Live(m.incarnation)
  /\ waiting' = [waiting EXCEPT ![m.incarnation] = FALSE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<log, controllers, soft_state, status, broker_epoch, applied>>

(***************************************************************************)
(* A process stops waiting: the request was lost, or its answer, or the    *)
(* controller that owed the answer.                                        *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager, the onTimeout handlers.                  *)
(***************************************************************************)
RequestTimeout(i) ==
  /\ Live(i)
  /\ waiting[i]
  /\ Forget(i)
  /\ UNCHANGED <<log, active, stable, written, soft_state, status, broker_epoch, applied>>

(***************************************************************************)
(* A process replays what is committed, in whole batches.                  *)
(*                                                                         *)
(* Kafka: MetadataLoader.handleCommit.                                     *)
(***************************************************************************)
ReplayMetadata(i) ==
  /\ Live(i)
  /\ applied[i] # committed
  /\ applied' = [applied EXCEPT ![i] = committed]
  /\ UNCHANGED <<log, controllers, soft_state, status, broker_epoch, waiting, messages>>

(***************************************************************************)
(* The operator tells a running broker to stop.                            *)
(*                                                                         *)
(* Kafka: BrokerLifecycleManager.beginControlledShutdown.                  *)
(***************************************************************************)
RequestShutdown(i) ==
  /\ status[i] = "RUNNING"
  /\ status' = [status EXCEPT ![i] = "PENDING_CONTROLLED_SHUTDOWN"]
  /\ UNCHANGED <<log, controllers, soft_state, broker_epoch, applied, waiting, messages>>

(***************************************************************************)
(* A process dies. The requests that it sent are still in flight.          *)
(***************************************************************************)
Crash(i) ==
  /\ Live(i)
  /\ Exit(i, "CRASHED")
  /\ UNCHANGED <<log, active, stable, written, soft_state>>
------------------------------------------------------------------------------
(* Writing. Controller c believes it is active.                              *)

(* The controller appends a batch, replays it, and keeps the answer until    *)
(* the batch is committed.                                                   *)
(* Kafka: QuorumController, ControllerWriteEvent.                            *)
Write(c, records, reply) ==
  /\ tail' = [tail EXCEPT ![c] = Append(@, [records |-> records, reply |-> reply])]
  /\ written' = [written EXCEPT ![c] = ReplayBatch(@, records)]
  /\ UNCHANGED <<active, stable>>

Reply(m, response) == IF m.awaited THEN response ELSE Nil

(* The controller writes records because of request m.                       *)
WriteFor(c, m, records, response) ==
  /\ Write(c, records, Reply(m, response))
  /\ messages' = Take(messages, m)

(* The controller writes nothing. The answer may rest on what is not         *)
(* committed yet. So it waits for all that was written before: the           *)
(* controller answers at once only if its tail is empty (tail[c] = << >>).   *)
AnswerFor(c, m, response) ==
  IF ~m.awaited THEN messages' = Take(messages, m) /\ UNCHANGED controllers
  ELSE IF tail[c] = << >>
  THEN messages' = Answer(messages, m, response) /\ UNCHANGED controllers
  ELSE WriteFor(c, m, << >>, response)

SetOf(c, variable, b, value) == [variable EXCEPT ![c][b] = value]
------------------------------------------------------------------------------
(* The active controller and the leases of brokers. BrokerLease explains     *)
(* each rule. Here the controller judges by what it has written, and the     *)
(* records of each step are one batch.                                       *)

(***************************************************************************)
(* A new incarnation registers. Its epoch is the offset at which its batch *)
(* begins. If the batch is lost, another process may get the same epoch.   *)
(* So no process learns the epoch before the commit.                       *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RegisterBroker(c, m) ==
  LET b == BrokerOf[m.incarnation]
      image == written[c]
  IN
  /\ c \in active
  /\ m.type = "RegistrationRequest"
  /\ ~Lease(c)!HasValidSession(b) \/ ~Registered(image, b)
  /\ Registered(image, b) => image.registrations[b].incarnation # m.incarnation
  /\ WriteFor(c, m, RegisterRecords(image, b, m.incarnation),
              [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
               error |-> "NONE", epoch |-> image.end])
  /\ contact_age' = SetOf(c, contact_age, b, NoAge)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ controlled_shutdown_offset' = SetOf(c, controlled_shutdown_offset, b, NoOffset)
  /\ UNCHANGED <<log, processes>>

(***************************************************************************)
(* The registered incarnation registers again. There is another record,    *)
(* with the same epoch.                                                    *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
AmendRegistration(c, m) ==
  LET b == BrokerOf[m.incarnation]
      image == written[c]
  IN
  /\ c \in active
  /\ m.type = "RegistrationRequest"
  /\ Registered(image, b)
  /\ image.registrations[b].incarnation = m.incarnation
  /\ WriteFor(c, m, AmendRecords(image, b),
              [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
               error |-> "NONE", epoch |-> image.registrations[b].epoch])
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ controlled_shutdown_offset' = SetOf(c, controlled_shutdown_offset, b, NoOffset)
  /\ UNCHANGED <<log, contact_age, processes>>

(***************************************************************************)
(* The controller refuses a registration, because another incarnation of   *)
(* the broker id holds a valid session.                                    *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker.                            *)
(***************************************************************************)
RefuseRegistration(c, m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ c \in active
  /\ m.type = "RegistrationRequest"
  /\ Registered(written[c], b)
  /\ written[c].registrations[b].incarnation # m.incarnation
  /\ Lease(c)!HasValidSession(b)
  /\ AnswerFor(c, m, [type |-> "RegistrationResponse", incarnation |-> m.incarnation,
                      error |-> "DUPLICATE_BROKER_REGISTRATION", epoch |-> NoEpoch])
  /\ UNCHANGED <<log, soft_state, processes>>

(* The request names the registered epoch of its broker.                     *)
(* Kafka: ClusterControlManager.checkBrokerEpoch.                            *)
CurrentEpoch(c, m) ==
  LET b == BrokerOf[m.incarnation] IN
  Registered(written[c], b) /\ written[c].registrations[b].epoch = m.epoch

(***************************************************************************)
(* The controller rejects a heartbeat of another broker epoch. It changes  *)
(* nothing.                                                                *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.processBrokerHeartbeat.                *)
(***************************************************************************)
RejectHeartbeat(c, m) ==
  /\ c \in active
  /\ m.type = "HeartbeatRequest"
  /\ ~CurrentEpoch(c, m)
  /\ AnswerFor(c, m, [type |-> "HeartbeatResponse", incarnation |-> m.incarnation,
                      error |-> "STALE_BROKER_EPOCH", is_caught_up |-> FALSE,
                      is_fenced |-> TRUE, should_shut_down |-> FALSE])
  /\ UNCHANGED <<log, soft_state, processes>>

Heeds(c, m, next) ==
  /\ c \in active
  /\ m.type = "HeartbeatRequest"
  /\ CurrentEpoch(c, m)
  /\ Lease(c)!NextBrokerState(BrokerOf[m.incarnation], m) = next

(* The answer to heartbeat m, given once its step is committed.              *)
HeartbeatReply(c, m, next) ==
  [type |-> "HeartbeatResponse", incarnation |-> m.incarnation, error |-> "NONE",
   is_caught_up |->
     m.metadata_offset >= written[c].registrations[BrokerOf[m.incarnation]].record_offset,
   is_fenced |-> next \in {"FENCED", "SHUTDOWN_NOW"},
   should_shut_down |-> next = "SHUTDOWN_NOW"]

(***************************************************************************)
(* The broker stays fenced, unfenced or in controlled shutdown. The        *)
(* heartbeat only renews the session, and does so at once: what the        *)
(* controller keeps in memory waits for no commit.                         *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.processBrokerHeartbeat.                *)
(***************************************************************************)
KeepState(c, m) ==
  LET b == BrokerOf[m.incarnation]
      next == Lease(c)!NextBrokerState(b, m)
  IN
  /\ Heeds(c, m, next)
  /\ CASE next = "FENCED" -> written[c].registrations[b].fenced
       [] next = "UNFENCED" -> ~written[c].registrations[b].fenced
       [] next = "CONTROLLED_SHUTDOWN" -> Lease(c)!ShuttingDown(b)
       [] OTHER -> FALSE
  /\ AnswerFor(c, m, HeartbeatReply(c, m, next))
  /\ contact_age' = SetOf(c, contact_age, b, Fresh)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, m.metadata_offset)
  /\ UNCHANGED <<log, controlled_shutdown_offset, processes>>

(***************************************************************************)
(* The controller unfences a broker that is ready. The broker has replayed *)
(* its registration, which is therefore committed.                         *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerUnfenced.                  *)
(***************************************************************************)
UnfenceBroker(c, m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ Heeds(c, m, "UNFENCED")
  /\ written[c].registrations[b].fenced
  /\ WriteFor(c, m, UnfenceRecords(written[c], b), HeartbeatReply(c, m, "UNFENCED"))
  /\ contact_age' = SetOf(c, contact_age, b, Fresh)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ UNCHANGED <<log, controlled_shutdown_offset, processes>>

(***************************************************************************)
(* A broker that leads a partition wants to stop. Other replicas take      *)
(* over. The brokers must have replayed that, to the end of this batch.    *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.      *)
(***************************************************************************)
BeginControlledShutdown(c, m) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ Heeds(c, m, "CONTROLLED_SHUTDOWN")
  /\ ~Lease(c)!ShuttingDown(b)
  /\ WriteFor(c, m, ShutdownRecords(written[c], b), HeartbeatReply(c, m, "CONTROLLED_SHUTDOWN"))
  /\ contact_age' = SetOf(c, contact_age, b, Fresh)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ controlled_shutdown_offset' =
       SetOf(c, controlled_shutdown_offset, b, written'[c].end - 1)
  /\ UNCHANGED <<log, processes>>

(* A heartbeat fences broker b. It still counts as contact.                  *)
FenceFor(c, m, next) ==
  LET b == BrokerOf[m.incarnation] IN
  /\ WriteFor(c, m, FenceRecords(written[c], b), HeartbeatReply(c, m, next))
  /\ contact_age' = SetOf(c, contact_age, b, Fresh)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ controlled_shutdown_offset' = SetOf(c, controlled_shutdown_offset, b, NoOffset)
  /\ UNCHANGED <<log, processes>>

(***************************************************************************)
(* A heartbeat that was overtaken asks to fence an unfenced broker.        *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerFenced.                    *)
(***************************************************************************)
FenceOnRequest(c, m) ==
  /\ Heeds(c, m, "FENCED")
  /\ ~written[c].registrations[BrokerOf[m.incarnation]].fenced
  /\ FenceFor(c, m, "FENCED")

(***************************************************************************)
(* The broker may stop. The same batch fences it.                          *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.handleBrokerFenced, SHUTDOWN_NOW.      *)
(***************************************************************************)
ShutDownNow(c, m) ==
  /\ Heeds(c, m, "SHUTDOWN_NOW")
  /\ FenceFor(c, m, "SHUTDOWN_NOW")

(***************************************************************************)
(* The controller fences a broker whose session is over.                   *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.maybeFenceOneStaleBroker.              *)
(***************************************************************************)
FenceStaleBroker(c, b) ==
  /\ c \in active
  /\ Registered(written[c], b)
  /\ contact_age[c][b] = Overdue
  /\ Write(c, FenceRecords(written[c], b), Nil)
  /\ contact_age' = SetOf(c, contact_age, b, NoAge)
  /\ metadata_offset' = SetOf(c, metadata_offset, b, NoOffset)
  /\ controlled_shutdown_offset' = SetOf(c, controlled_shutdown_offset, b, NoOffset)
  /\ UNCHANGED <<log, processes, messages>>

(***************************************************************************)
(* Time passes at a controller until some of its sessions are over.        *)
(* Sessions that began at one moment, with the controller's claim, may end *)
(* together.                                                               *)
(***************************************************************************)
SessionsRunOut(c, silent) ==
  /\ c \in active
  /\ silent # {}
  /\ \A b \in silent : contact_age[c][b] = Fresh
  /\ contact_age' = [contact_age EXCEPT ![c] =
       [b \in Broker |-> IF b \in silent THEN Overdue ELSE @[b]]]
  /\ UNCHANGED <<log, controllers, metadata_offset, controlled_shutdown_offset, processes,
                 messages>>
------------------------------------------------------------------------------
(* The active controller and the partition                                   *)

(* The error for an AlterPartition request. The controller looks at the      *)
(* partition only if the request comes from the registered process of its    *)
(* broker.                                                                   *)
AlterPartitionError(c, m) ==
  IF ~CurrentEpoch(c, m) THEN "STALE_BROKER_EPOCH"
  ELSE Partitions!AlterPartitionError(written[c].partition, m, Eligible(written[c]))

AlterPartitionReply(m, error) ==
  [type |-> "AlterPartitionResponse", incarnation |-> m.incarnation, error |-> error]

(***************************************************************************)
(* The ISR becomes what the leader asks for. This may complete a           *)
(* reassignment.                                                           *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.alterPartition.                        *)
(***************************************************************************)
AlterPartition(c, m) ==
  LET image == written[c]
      ask == Partitions!NewIsr(image.partition, DOMAIN m.isr, m.recovery, FALSE)
      change == Partitions!Build(image.partition, ask, ActiveBrokers(image))
      response == AlterPartitionReply(m, Partitions!AnswerAfter(m, change))
  IN
  /\ c \in active
  /\ m.type = "AlterPartitionRequest"
  /\ AlterPartitionError(c, m) = "NONE"
  /\ IF change = Partitions!NoChange THEN AnswerFor(c, m, response)
     ELSE WriteFor(c, m, PartitionRecords(change), response)
  /\ UNCHANGED <<log, soft_state, processes>>

(***************************************************************************)
(* The controller refuses the request, by what it has written. The reason  *)
(* may be a change that is never committed.                                *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.validateAlterPartitionData.            *)
(***************************************************************************)
RefuseAlterPartition(c, m) ==
  /\ c \in active
  /\ m.type = "AlterPartitionRequest"
  /\ AlterPartitionError(c, m) # "NONE"
  /\ AnswerFor(c, m, AlterPartitionReply(m, AlterPartitionError(c, m)))
  /\ UNCHANGED <<log, soft_state, processes>>

(***************************************************************************)
(* The operator gives the partition other replicas. Their brokers must be  *)
(* registered by what the controller has written, and may be fenced.       *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.changePartitionReassignment.           *)
(***************************************************************************)
StartReassignment(c, target) ==
  LET image == written[c]
      change == Partitions!Build(image.partition,
                                 Partitions!NewAssignment(image.partition, target),
                                 ActiveBrokers(image))
  IN
  /\ c \in active
  /\ ~Partitions!InProgress(image.partition)
  /\ \A b \in Partitions!Members(target) : Registered(image, b)
  /\ change # Partitions!NoChange
  /\ Write(c, PartitionRecords(change), Nil)
  /\ UNCHANGED <<log, soft_state, processes, messages>>

(***************************************************************************)
(* The operator cancels the reassignment.                                  *)
(*                                                                         *)
(* Kafka: ReplicationControlManager.cancelPartitionReassignment.           *)
(***************************************************************************)
CancelReassignment(c) ==
  LET image == written[c] IN
  /\ c \in active
  /\ Partitions!InProgress(image.partition)
  /\ ~Partitions!RevertNeedsForce(image.partition)
  /\ Write(c, ElectedWith(image, Partitions!Reverted(image.partition, FALSE),
                          ActiveBrokers(image)), Nil)
  /\ UNCHANGED <<log, soft_state, processes, messages>>
------------------------------------------------------------------------------
(* The active controller and the registrations of controllers                *)

(***************************************************************************)
(* The controller handles the request of a controller process, however old *)
(* the request is.                                                         *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerController.                        *)
(***************************************************************************)
RegisterController(c, i) ==
  /\ c \in active
  /\ written[c].metadata_version >= GateLevel
  /\ Write(c, <<RegisterControllerRecord(i)>>, Nil)
  /\ UNCHANGED <<log, soft_state, processes, messages>>

(***************************************************************************)
(* The metadata version is raised. All controllers support the level, by   *)
(* what the active controller has written.                                 *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
UpgradeFeature(c, level) ==
  LET image == written[c] IN
  /\ c \in active
  /\ level > image.metadata_version
  /\ level \in Supported[RunningProcess[c]]
  /\ image.metadata_version >= GateLevel =>
       \A other \in Controller \ {c} :
         image.controllers[other] # Nil /\ level \in image.controllers[other].supported
  /\ Write(c, <<FeatureLevelRecord(level)>>, Nil)
  /\ UNCHANGED <<log, soft_state, processes, messages>>
------------------------------------------------------------------------------
(* Raft, as far as the controllers notice it                                 *)

(* How many batches leave the tail when the first is committed: the first,   *)
(* and the batches without records right after it, which only waited.        *)
DoneWithFirst(batches) ==
  CHOOSE count \in DOMAIN batches :
    /\ \A k \in 2 .. count : batches[k].records = << >>
    /\ count < Len(batches) => batches[count + 1].records # << >>

RECURSIVE GiveReplies(_, _)
GiveReplies(bag, batches) ==
  IF batches = << >> THEN bag
  ELSE LET reply == Head(batches).reply
       IN  GiveReplies(IF reply = Nil THEN bag ELSE Put(bag, reply), Tail(batches))

(***************************************************************************)
(* The first batch of the leader's tail is committed. The leader is the    *)
(* first to know, and gives at once all answers that waited for it.        *)
(*                                                                         *)
(* Kafka: QuorumController, handleCommit, DeferredEventQueue.completeUpTo. *)
(***************************************************************************)
Commit(c) ==
  LET count == DoneWithFirst(tail[c]) IN
  /\ c \in active
  /\ c = leader
  /\ tail[c] # << >>
  /\ committed' = ReplayBatch(committed, Head(tail[c]).records)
  /\ stable' = [stable EXCEPT ![c] = committed']
  /\ tail' = [tail EXCEPT ![c] = SubSeq(@, count + 1, Len(@))]
  /\ messages' = GiveReplies(messages, SubSeq(tail[c], 1, count))
  /\ UNCHANGED <<leader, active, written, soft_state, processes>>

(* The controllers that may be elected, and the number of batches of the     *)
(* former leader's tail that the next leader may hold. A model may restrict  *)
(* both.                                                                     *)
Candidates == Controller
Survivors(count) == 0 .. count

RECURSIVE RecordsOf(_)
RecordsOf(batches) ==
  IF batches = << >> THEN << >> ELSE Head(batches).records \o RecordsOf(Tail(batches))

(***************************************************************************)
(* Another controller is elected. It has all that is committed, and        *)
(* perhaps the first batches of the former leader's tail. Those survive,   *)
(* though no request is answered for them; the rest is lost. The           *)
(* controller claims when its first record, and all before it, is          *)
(* committed. Each unfenced broker gets a whole session. The controller    *)
(* does not know which brokers were shutting down, nor how far each had    *)
(* replayed. The former leader has not heard of the election.              *)
(*                                                                         *)
(* Kafka: QuorumController.claim, ClusterControlManager.activate.          *)
(***************************************************************************)
ElectLeader(c, survivors) ==
  LET inherited == RecordsOf(SubSeq(tail[leader], 1, survivors)) IN
  /\ c \in Candidates
  /\ c # leader
  /\ c \notin active
  /\ survivors \in Survivors(Len(tail[leader]))
  /\ committed' = ReplayBatch(committed, inherited \o <<LeaderChangeRecord(c)>>)
  /\ leader' = c
  /\ active' = active \cup {c}
  /\ stable' = [stable EXCEPT ![c] = committed']
  /\ written' = [written EXCEPT ![c] = committed']
  /\ contact_age' = [contact_age EXCEPT ![c] = [b \in Broker |->
       IF Registered(committed', b) /\ ~committed'.registrations[b].fenced
       THEN Fresh ELSE NoAge]]
  /\ UNCHANGED <<tail, metadata_offset, controlled_shutdown_offset, processes, messages>>

(***************************************************************************)
(* A controller hears that another was elected. It drops what is not       *)
(* committed and all that it kept in memory. It owes no answer any more.   *)
(*                                                                         *)
(* Kafka: QuorumController.renounce.                                       *)
(***************************************************************************)
Renounce(c) ==
  /\ c \in active
  /\ c # leader
  /\ active' = active \ {c}
  /\ stable' = [stable EXCEPT ![c] = Nil]
  /\ tail' = [tail EXCEPT ![c] = << >>]
  /\ written' = [written EXCEPT ![c] = Nil]
  /\ contact_age' = [contact_age EXCEPT ![c] = NoSessions]
  /\ metadata_offset' = [metadata_offset EXCEPT ![c] = NoOffsets]
  /\ controlled_shutdown_offset' = [controlled_shutdown_offset EXCEPT ![c] = NoOffsets]
  /\ UNCHANGED <<log, processes, messages>>

(***************************************************************************)
(* The network loses a message.                                            *)
(***************************************************************************)
LoseMessage(m) ==
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<log, controllers, soft_state, processes>>
------------------------------------------------------------------------------
Targets == Partitions!Assignments(Broker)

BrokerNext ==
  \/ \E i \in Incarnation : StartBroker(i)
  \/ \E i \in Incarnation : SendRegistration(i)
  \/ \E i \in Incarnation : SendHeartbeat(i)
  \/ \E i \in Incarnation, isr \in SUBSET Broker : SendAlterPartition(i, isr)
  \/ \E m \in InFlight(messages) : HandleRegistrationResponse(m)
  \/ \E m \in InFlight(messages) : HandleHeartbeatResponse(m)
  \/ \E m \in InFlight(messages) : HandleAlterPartitionResponse(m)
  \/ \E i \in Incarnation : RequestTimeout(i)
  \/ \E i \in Incarnation : ReplayMetadata(i)
  \/ \E i \in Incarnation : RequestShutdown(i)
  \/ \E i \in Incarnation : Crash(i)

LeaseNext ==
  \/ \E c \in Controller, m \in InFlight(messages) : RegisterBroker(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : AmendRegistration(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : RefuseRegistration(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : RejectHeartbeat(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : KeepState(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : UnfenceBroker(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : BeginControlledShutdown(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : FenceOnRequest(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : ShutDownNow(c, m)
  \/ \E c \in Controller, b \in Broker : FenceStaleBroker(c, b)
  \/ \E c \in Controller, silent \in SUBSET Broker : SessionsRunOut(c, silent)

PartitionNext ==
  \/ \E c \in Controller, m \in InFlight(messages) : AlterPartition(c, m)
  \/ \E c \in Controller, m \in InFlight(messages) : RefuseAlterPartition(c, m)
  \/ \E c \in Controller, target \in Targets : StartReassignment(c, target)
  \/ \E c \in Controller : CancelReassignment(c)

ControllerNext ==
  \/ \E c \in Controller, i \in ControllerProcess : RegisterController(c, i)
  \/ \E c \in Controller, level \in Level : UpgradeFeature(c, level)

RaftNext ==
  \/ \E c \in Controller : Commit(c)
  \/ \E c \in Controller, survivors \in 0 .. Len(tail[leader]) : ElectLeader(c, survivors)
  \/ \E c \in Controller : Renounce(c)
  \/ \E m \in InFlight(messages) : LoseMessage(m)

Next == BrokerNext \/ LeaseNext \/ PartitionNext \/ ControllerNext \/ RaftNext

Spec == Init /\ [][Next]_vars
==============================================================================
