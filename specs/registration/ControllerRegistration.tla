------------------------ MODULE ControllerRegistration ------------------------
(***************************************************************************)
(* How a controller process registers with the active controller, and how  *)
(* the active controller uses the registrations to decide whether the      *)
(* metadata version may be raised.                                         *)
(*                                                                         *)
(* Sources: KIP-919 (Controller Registration, Fix compatibility gates),    *)
(* and Kafka 4.1 as built; for what removes a registration, which 4.1 does *)
(* not have, KIP-1312. Where KIP and Kafka differ, Kafka is followed and   *)
(* docs/kip-differences.md has the row.                                    *)
(*                                                                         *)
(* A registration of a controller has no epoch and no session. Whatever    *)
(* request the active controller handles last is what the log says, also   *)
(* if it comes late and from a process that is gone. What repairs this is  *)
(* the process itself: it looks for its incarnation id in the metadata     *)
(* that it replays, and registers again when it finds another one there.   *)
(*                                                                         *)
(* The log is not a sequence here: what matters of it is the last          *)
(* registration of each id, the metadata version and the voters. So there  *)
(* is no end to the number of records, and still finitely many states.     *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. What the active controller writes is committed at once, and a  *)
(*    process is active or not; specs/cluster has uncommitted records and  *)
(*    two controllers that both take themselves for active.                *)
(*  - States between: a process that replays at all replays all there is.  *)
(*  - Brokers. They too must support a level before it is finalized.       *)
(*  - Endpoints, and features other than metadata.version. A process       *)
(*    supports the same levels for all its life.                           *)
(*  - Lower levels. Kafka refuses to lower the metadata version over a     *)
(*    change of the metadata, and that of registrations is one.            *)
(*  - Two processes of one controller id at once: the lock on the metadata *)
(*    directory forbids it.                                                *)
(*  - Back-off between requests, authorization, migration from ZooKeeper.  *)
(***************************************************************************)
EXTENDS Network, FiniteSets

CONSTANTS
  Controller,      \* The controller ids.
  Incarnation,     \* Every controller process there ever is.
  ControllerOf,    \* [Incarnation -> Controller]: the id a process is configured with.
  Level,           \* The levels of the metadata version: numbers.
  GateLevel,       \* The first level with registrations. Kafka: 3.7-IV0.
  Supported,       \* [Incarnation -> levels]: what the software of a process supports.
  QuorumIds,       \* controller.quorum.voters. Empty if the quorum is dynamic (KIP-853).
  Nil              \* No registration, no active controller.

Between(low, high) == {level \in Level : low <= level /\ level <= high}

ASSUME Constants ==
  /\ Controller # {} /\ IsFiniteSet(Controller)
  /\ Incarnation # {} /\ IsFiniteSet(Incarnation)
  /\ ControllerOf \in [Incarnation -> Controller]
  /\ Level \subseteq Nat
  /\ GateLevel \in Level
  /\ Supported \in [Incarnation -> SUBSET Level \ {{}}]
  /\ \A i \in Incarnation : \A low, high \in Supported[i] : Between(low, high) \subseteq Supported[i]
  /\ QuorumIds \subseteq Controller
  /\ Nil \notin Incarnation

VARIABLES
  registrations,     \* [Controller -> registration or Nil]: the last record about each id.
  metadata_version,  \* The finalized level.
  voters,            \* The controller ids that vote.
  active,            \* The process that is the active controller, or Nil.
  status,            \* [Incarnation -> state of the process].
  image,             \* [Incarnation -> what it has replayed of the above].
  pending,           \* [Incarnation -> whether it waits for an answer].
  messages           \* The bag of messages in flight.

controller_log == <<registrations, metadata_version, voters>>
processes == <<status, image, pending>>
vars == <<registrations, metadata_version, voters, active, status, image, pending, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

Status == {"NOT_RUNNING", "RUNNING", "STOPPED"}

(* Kafka: RegisterControllerRecord. There is no epoch in it.                 *)
Registration == [incarnation : Incarnation, supported : SUBSET Level]

(* What a process looks for in the metadata: who is registered under its own *)
(* id, and whether registrations are supported at all.                       *)
NoLevel == -1
Image == [incarnation : Incarnation \cup {Nil}, metadata_version : Level \cup {NoLevel}]
EmptyImage == [incarnation |-> Nil, metadata_version |-> NoLevel]

(* awaited: the process still waits for the answer.                          *)
RegistrationRequest ==
  [type : {"ControllerRegistrationRequest"}, incarnation : Incarnation, awaited : BOOLEAN]
RegistrationResponse ==
  [type : {"ControllerRegistrationResponse"}, incarnation : Incarnation,
   error : {"NONE", "UNSUPPORTED_VERSION", "NOT_CONTROLLER"}]
Message == RegistrationRequest \cup RegistrationResponse

IsRequest(m) == m.type = "ControllerRegistrationRequest"

TypeOK ==
  /\ registrations \in [Controller -> Registration \cup {Nil}]
  /\ metadata_version \in Level
  /\ voters \subseteq Controller
  /\ active \in Incarnation \cup {Nil}
  /\ status \in [Incarnation -> Status]
  /\ image \in [Incarnation -> Image]
  /\ pending \in [Incarnation -> BOOLEAN]
  /\ IsBagOf(messages, Message)
------------------------------------------------------------------------------
(* What the nodes ask of their own state                                     *)

Live(i) == status[i] = "RUNNING"

Registered(c) == registrations[c] # Nil

(* Kafka: MetadataVersion.isControllerRegistrationSupported.                 *)
RegistrationSupported(level) == level >= GateLevel

(* Process i reads in its metadata that registrations are supported.         *)
GateOpenFor(i) == RegistrationSupported(image[i].metadata_version)

(* What there is to replay for process i.                                    *)
LatestImage(i) ==
  LET r == registrations[ControllerOf[i]] IN
  [incarnation |-> IF r = Nil THEN Nil ELSE r.incarnation,
   metadata_version |-> metadata_version]

(* Whom an upgrade waits for. A model may put the voters in its place, as is *)
(* proposed (KAFKA-20295).                                                   *)
MustBeRegistered == QuorumIds

(* Why the active controller may raise the metadata version to a level: its  *)
(* own software supports it; and, if registrations are supported, so does    *)
(* every other registered controller, and every id that the configuration    *)
(* names is registered. It counts itself without looking at its              *)
(* registration. It does not ask who the voters are: where they are dynamic, *)
(* the configuration names nobody. Below the gate it knows nothing of the    *)
(* others, and goes ahead.                                                   *)
(* Kafka: FeatureControlManager.reasonNotSupported.                          *)
OtherControllers == Controller \ {ControllerOf[active]}
LevelSupported(level) ==
  /\ level \in Supported[active]
  /\ RegistrationSupported(metadata_version) =>
       /\ \A c \in OtherControllers : Registered(c) => level \in registrations[c].supported
       /\ \A c \in OtherControllers \cap MustBeRegistered : Registered(c)
------------------------------------------------------------------------------
Init ==
  /\ registrations = [c \in Controller |-> Nil]
  /\ metadata_version \in Level
  /\ \A level \in Level : metadata_version <= level
  /\ voters = Controller
  /\ active = Nil
  /\ status = [i \in Incarnation |-> "NOT_RUNNING"]
  /\ image = [i \in Incarnation |-> EmptyImage]
  /\ pending = [i \in Incarnation |-> FALSE]
  /\ messages = NoMessages
------------------------------------------------------------------------------
(* The controller process                                                    *)

(* Which software the operator starts. A model may allow less.               *)
MayStart(i) == TRUE

(***************************************************************************)
(* A process starts, when no other of its id runs. It has replayed nothing *)
(* yet, and drew a new incarnation id.                                     *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager.start.                             *)
(***************************************************************************)
StartController(i) ==
  /\ status[i] = "NOT_RUNNING"
  /\ MayStart(i)
  /\ \A j \in Incarnation : ControllerOf[j] = ControllerOf[i] => ~Live(j)
  /\ status' = [status EXCEPT ![i] = "RUNNING"]
  /\ UNCHANGED <<controller_log, active, image, pending, messages>>

(***************************************************************************)
(* A process that does not find its own incarnation in the metadata asks   *)
(* to be registered: because it just started, or because an older request  *)
(* came after its own. That an answer said NONE is no reason to stop       *)
(* asking; only the metadata is.                                           *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager.maybeSendControllerRegistration.   *)
(***************************************************************************)
SendRegistration(i) ==
  /\ Live(i)
  /\ GateOpenFor(i)
  /\ image[i].incarnation # i
  /\ ~pending[i]
  /\ pending' = [pending EXCEPT ![i] = TRUE]
  /\ messages' = Put(messages,
       [type |-> "ControllerRegistrationRequest", incarnation |-> i, awaited |-> TRUE])
  /\ UNCHANGED <<controller_log, active, status, image>>

(***************************************************************************)
(* An answer arrives. Whatever it says, the process may ask again.         *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager, RegistrationResponseHandler.      *)
(***************************************************************************)
HandleRegistrationResponse(m) ==
  /\ m.type = "ControllerRegistrationResponse"
  /\ Live(m.incarnation)
  /\ pending' = [pending EXCEPT ![m.incarnation] = FALSE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<controller_log, active, status, image>>

(* What is left in flight when process i waits no longer: its request may    *)
(* still arrive, an answer finds a closed connection.                        *)
Unawaited(bag, i) ==
  LET answers == {m \in InFlight(bag) : m.incarnation = i /\ ~IsRequest(m)}
      asked   == {m \in InFlight(bag) : m.incarnation = i /\ IsRequest(m) /\ m.awaited}
      rest    == Drop(bag, answers \cup asked)
  IN  IF asked = {} THEN rest
      ELSE Put(rest, [(CHOOSE m \in asked : TRUE) EXCEPT !.awaited = FALSE])

(***************************************************************************)
(* A process stops waiting for an answer, and may ask again.               *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager, RegistrationResponseHandler.      *)
(***************************************************************************)
RequestTimeout(i) ==
  /\ Live(i)
  /\ pending[i]
  /\ pending' = [pending EXCEPT ![i] = FALSE]
  /\ messages' = Unawaited(messages, i)
  /\ UNCHANGED <<controller_log, active, status, image>>

(***************************************************************************)
(* A process replays committed metadata: the active one too, later than it *)
(* wrote it.                                                               *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager.onMetadataUpdate.                  *)
(***************************************************************************)
ReplayMetadata(i) ==
  /\ Live(i)
  /\ metadata_version \in Supported[i]
  /\ image[i] # LatestImage(i)
  /\ image' = [image EXCEPT ![i] = LatestImage(i)]
  /\ UNCHANGED <<controller_log, active, status, pending, messages>>

(* Process i ends, and with it all that it kept in memory.                   *)
Exit(i) ==
  /\ status' = [status EXCEPT ![i] = "STOPPED"]
  /\ image' = [image EXCEPT ![i] = EmptyImage]
  /\ pending' = [pending EXCEPT ![i] = FALSE]
  /\ messages' = Unawaited(messages, i)
  /\ active' = IF active = i THEN Nil ELSE active

(***************************************************************************)
(* A process replays a level that its software does not support, and       *)
(* halts: it could not read what is written under that level.              *)
(*                                                                         *)
(* Kafka: FeatureControlManager.replay.                                    *)
(***************************************************************************)
HaltUnsupported(i) ==
  /\ Live(i)
  /\ metadata_version \notin Supported[i]
  /\ Exit(i)
  /\ UNCHANGED controller_log

(***************************************************************************)
(* A process is stopped, or dies. What it sent is still under way.         *)
(***************************************************************************)
Crash(i) ==
  /\ Live(i)
  /\ Exit(i)
  /\ UNCHANGED controller_log
------------------------------------------------------------------------------
(* The active controller                                                     *)

(* Requests nobody waits for are handled without an answer.                  *)
Reply(m, error) ==
  IF m.awaited
  THEN Answer(messages, m, [type |-> "ControllerRegistrationResponse",
                            incarnation |-> m.incarnation, error |-> error])
  ELSE Take(messages, m)

(***************************************************************************)
(* A voter becomes the active controller, in place of the one there was.   *)
(*                                                                         *)
(* Kafka: QuorumController.claim.                                          *)
(***************************************************************************)
BecomeActive(i) ==
  /\ Live(i)
  /\ ControllerOf[i] \in voters
  /\ metadata_version \in Supported[i]
  /\ active # i
  /\ active' = i
  /\ UNCHANGED <<controller_log, processes, messages>>

(***************************************************************************)
(* A request is handled: its record is written, whoever is registered, and *)
(* whoever sent it. The last writer wins.                                  *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerController.                        *)
(***************************************************************************)
RegisterController(m) ==
  /\ IsRequest(m)
  /\ active # Nil
  /\ RegistrationSupported(metadata_version)
  /\ registrations' = [registrations EXCEPT ![ControllerOf[m.incarnation]] =
       [incarnation |-> m.incarnation, supported |-> Supported[m.incarnation]]]
  /\ messages' = Reply(m, "NONE")
  /\ UNCHANGED <<metadata_version, voters, active, processes>>

(***************************************************************************)
(* The metadata version has no such record yet.                            *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerController.                        *)
(***************************************************************************)
RefuseRegistration(m) ==
  /\ IsRequest(m)
  /\ active # Nil
  /\ ~RegistrationSupported(metadata_version)
  /\ messages' = Reply(m, "UNSUPPORTED_VERSION")
  /\ UNCHANGED <<controller_log, active, processes>>

(***************************************************************************)
(* The request reached a controller that is not, or no longer, active.     *)
(*                                                                         *)
(* Kafka: QuorumController, ControllerWriteEvent.                          *)
(***************************************************************************)
AnswerNotController(m) ==
  /\ IsRequest(m)
  /\ m.awaited
  /\ messages' = Reply(m, "NOT_CONTROLLER")
  /\ UNCHANGED <<controller_log, active, processes>>

(***************************************************************************)
(* The operator raises the metadata version, and the active controller     *)
(* finds that all controllers support it.                                  *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
UpgradeFeature(level) ==
  /\ active # Nil
  /\ level > metadata_version
  /\ LevelSupported(level)
  /\ metadata_version' = level
  /\ UNCHANGED <<registrations, voters, active, processes, messages>>

(***************************************************************************)
(* It finds that one does not, or that it does not know: it answers        *)
(* INVALID_UPDATE_VERSION and writes nothing.                              *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
RefuseUpgrade(level) ==
  /\ active # Nil
  /\ level > metadata_version
  /\ ~LevelSupported(level)
  /\ UNCHANGED vars

(***************************************************************************)
(* A registration is removed: of a controller that left for good, as the   *)
(* operator thinks. A voter must be removed from the voters first          *)
(* (KAFKA-20865). Kafka 4.1 has no such request; KIP-1312 adds it.         *)
(*                                                                         *)
(* Kafka: ClusterControlManager.unregisterController (KAFKA-20395).        *)
(***************************************************************************)
UnregisterController(c) ==
  /\ active # Nil
  /\ c # ControllerOf[active]
  /\ c \notin voters
  /\ Registered(c)
  /\ registrations' = [registrations EXCEPT ![c] = Nil]
  /\ UNCHANGED <<metadata_version, voters, active, processes, messages>>

(***************************************************************************)
(* A controller leaves the voters. The active one does not remove itself   *)
(* here: it would hand over first.                                         *)
(*                                                                         *)
(* Kafka: RemoveVoterHandler.                                              *)
(***************************************************************************)
RemoveVoter(c) ==
  /\ active # Nil
  /\ c # ControllerOf[active]
  /\ c \in voters
  /\ voters' = voters \ {c}
  /\ UNCHANGED <<registrations, metadata_version, active, processes, messages>>

(***************************************************************************)
(* A controller whose process runs joins the voters. It is asked which     *)
(* versions of Raft's own feature it supports, and not which levels of the *)
(* metadata version.                                                       *)
(*                                                                         *)
(* Kafka: AddVoterHandler.                                                 *)
(***************************************************************************)
MayJoin(i) == TRUE

AddVoter(c) ==
  /\ active # Nil
  /\ c \notin voters
  /\ \E i \in Incarnation : ControllerOf[i] = c /\ Live(i) /\ MayJoin(i)
  /\ voters' = voters \cup {c}
  /\ UNCHANGED <<registrations, metadata_version, active, processes, messages>>
------------------------------------------------------------------------------
(* The world                                                                 *)

(***************************************************************************)
(* The network loses one copy of a message.                                *)
(***************************************************************************)
LoseMessage(m) ==
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<controller_log, active, processes>>

(***************************************************************************)
(* The network delivers a request once more. Answers to the copy reach     *)
(* nobody.                                                                 *)
(***************************************************************************)
DuplicateMessage(m) ==
  /\ IsRequest(m)
  /\ messages' = Put(messages, [m EXCEPT !.awaited = FALSE])
  /\ UNCHANGED <<controller_log, active, processes>>
------------------------------------------------------------------------------
ProcessNext ==
  \/ \E i \in Incarnation : StartController(i)
  \/ \E i \in Incarnation : SendRegistration(i)
  \/ \E m \in InFlight(messages) : HandleRegistrationResponse(m)
  \/ \E i \in Incarnation : RequestTimeout(i)
  \/ \E i \in Incarnation : ReplayMetadata(i)
  \/ \E i \in Incarnation : HaltUnsupported(i)
  \/ \E i \in Incarnation : Crash(i)

ActiveNext ==
  \/ \E i \in Incarnation : BecomeActive(i)
  \/ \E m \in InFlight(messages) : RegisterController(m)
  \/ \E m \in InFlight(messages) : RefuseRegistration(m)
  \/ \E m \in InFlight(messages) : AnswerNotController(m)
  \/ \E level \in Level : UpgradeFeature(level)
  \/ \E level \in Level : RefuseUpgrade(level)
  \/ \E c \in Controller : UnregisterController(c)
  \/ \E c \in Controller : RemoveVoter(c)
  \/ \E c \in Controller : AddVoter(c)

WorldNext ==
  \/ \E m \in InFlight(messages) : LoseMessage(m)
  \/ \E m \in InFlight(messages) : DuplicateMessage(m)

Next == ProcessNext \/ ActiveNext \/ WorldNext

Spec == Init /\ [][Next]_vars
==============================================================================
