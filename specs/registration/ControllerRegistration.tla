------------------------ MODULE ControllerRegistration ------------------------
(***************************************************************************)
(* How a controller process registers with the active controller, and how  *)
(* the active controller uses the registrations to decide whether the      *)
(* metadata version may be raised.                                         *)
(*                                                                         *)
(* Sources: KIP-919 (Controller Registration, Fix compatibility gates),    *)
(* and Kafka 4.1 as built. Kafka 4.1 cannot remove a registration; for     *)
(* that the source is KIP-1312. Where KIP and Kafka differ, this module    *)
(* follows Kafka, and docs/kip-differences.md has the row.                 *)
(*                                                                         *)
(* A registration of a controller has no epoch and no session. The log     *)
(* says what the active controller's last request said, even if that       *)
(* request came late and from a process that is gone. The process itself   *)
(* repairs this: it looks for its incarnation id in the metadata that it   *)
(* replays, and registers again when it finds another one.                 *)
(*                                                                         *)
(* The log is not a sequence here. Only the last registration of each id,  *)
(* the metadata version and the voters matter. So the number of records    *)
(* has no bound, and there are still finitely many states.                 *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - ControllerRegistrationManager.start -> StartController               *)
(*  - ControllerRegistrationManager.maybeSendControllerRegistration ->     *)
(*    SendRegistration                                                     *)
(*  - ControllerRegistrationManager.RegistrationResponseHandler ->         *)
(*    HandleRegistrationResponse, RequestTimeout                           *)
(*  - ControllerRegistrationManager.onMetadataUpdate -> ReplayMetadata     *)
(*  - FeatureControlManager.replay -> HaltUnsupported                      *)
(*  - QuorumController.claim -> BecomeActive                               *)
(*  - ClusterControlManager.registerController -> RegisterController,      *)
(*    RefuseRegistration                                                   *)
(*  - QuorumController.ControllerWriteEvent -> AnswerNotController         *)
(*  - FeatureControlManager.updateFeatures -> UpgradeFeature,              *)
(*    RefuseUpgrade                                                        *)
(*  - ClusterControlManager.unregisterController (KAFKA-20395) ->          *)
(*    UnregisterController                                                 *)
(*  - RemoveVoterHandler -> RemoveVoter                                    *)
(*  - AddVoterHandler -> AddVoter                                          *)
(*  - no handler -> Crash, LoseMessage, DuplicateMessage                   *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Raft. A record is committed as soon as the active controller writes  *)
(*    it, and a process is either active or not. specs/cluster has         *)
(*    uncommitted records and two controllers that both take themselves    *)
(*    for active.                                                          *)
(*  - States in between: a process that replays at all replays everything. *)
(*  - Brokers. They too must support a level before it is finalized.       *)
(*  - Endpoints, and features other than metadata.version. A process       *)
(*    supports the same levels for all its life.                           *)
(*  - Lower levels. Kafka refuses to lower the metadata version across a   *)
(*    change of the metadata, and the registrations are such a change.     *)
(*  - Two processes of one controller id at once: the lock on the metadata *)
(*    directory forbids it.                                                *)
(*  - Back-off between requests, authorization, migration from ZooKeeper.  *)
(***************************************************************************)
EXTENDS Network, FiniteSets

CONSTANTS
  Controller,      \* The controller ids.
  Incarnation,     \* Every controller process that ever exists.
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
  image,             \* [Incarnation -> image]: what it has replayed of the above.
  pending,           \* [Incarnation -> BOOLEAN]: it waits for an answer.
  messages           \* The bag of messages in flight.

controller_log == <<registrations, metadata_version, voters>>
processes == <<status, image, pending>>
vars == <<registrations, metadata_version, voters, active, status, image, pending, messages>>
------------------------------------------------------------------------------
(* Values                                                                    *)

Status == {"NOT_RUNNING", "RUNNING", "STOPPED"}

(* Kafka: RegisterControllerRecord. It contains no epoch.                    *)
Registration == [incarnation : Incarnation, supported : SUBSET Level]

(* The part of the metadata that a process reads: which process is           *)
(* registered under its own id, and whether registrations are supported.     *)
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
(* Questions that a node answers from its own state                          *)

Live(i) == status[i] = "RUNNING"

Registered(c) == registrations[c] # Nil

(* Kafka: MetadataVersion.isControllerRegistrationSupported.                 *)
RegistrationSupported(level) == level >= GateLevel

(* By the metadata of process i, registrations are supported.                *)
GateOpenFor(i) == RegistrationSupported(image[i].metadata_version)

(* The latest metadata, as process i replays it.                             *)
LatestImage(i) ==
  LET r == registrations[ControllerOf[i]] IN
  [incarnation |-> IF r = Nil THEN Nil ELSE r.incarnation,
   metadata_version |-> metadata_version]

(* The ids that an upgrade waits for. A model may replace them by the        *)
(* voters, as KAFKA-20295 proposes.                                          *)
MustBeRegistered == QuorumIds

(* LevelSupported: when the active controller may raise the metadata version *)
(* to a level. Its own software must support the level. If registrations are *)
(* supported, every other registered controller must also support it, and    *)
(* every id that the configuration names must be registered. The active      *)
(* controller counts itself without looking at its registration. It does not *)
(* read the voters: where they are dynamic, the configuration names no ids.  *)
(* Below the gate it knows nothing of the others, and goes ahead.            *)
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

(* The software that the operator may start. A model may allow less.         *)
MayStart(i) == TRUE

(***************************************************************************)
(* A process starts, when no other process of its id runs. It has replayed *)
(* nothing yet, and has a new incarnation id.                              *)
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
(* to be registered. It may have just started, or an older request may     *)
(* have arrived after its own. The answer NONE does not stop it from       *)
(* asking; only the metadata does.                                         *)
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
(* An answer arrives. Whatever its error, the process may ask again.       *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager, RegistrationResponseHandler.      *)
(***************************************************************************)
HandleRegistrationResponse(m) ==
  /\ m.type = "ControllerRegistrationResponse"
  /\ Live(m.incarnation)
  /\ pending' = [pending EXCEPT ![m.incarnation] = FALSE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<controller_log, active, status, image>>

(* The messages still in flight after process i stops waiting: its request   *)
(* may still arrive, an answer finds a closed connection.                    *)
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
(* A process replays committed metadata. The active one does so too, later *)
(* than it wrote it.                                                       *)
(*                                                                         *)
(* Kafka: ControllerRegistrationManager.onMetadataUpdate.                  *)
(***************************************************************************)
ReplayMetadata(i) ==
  /\ Live(i)
  /\ metadata_version \in Supported[i]
  /\ image[i] # LatestImage(i)
  /\ image' = [image EXCEPT ![i] = LatestImage(i)]
  /\ UNCHANGED <<controller_log, active, status, pending, messages>>

(* Process i ends and loses everything that it kept in memory.               *)
Exit(i) ==
  /\ status' = [status EXCEPT ![i] = "STOPPED"]
  /\ image' = [image EXCEPT ![i] = EmptyImage]
  /\ pending' = [pending EXCEPT ![i] = FALSE]
  /\ messages' = Unawaited(messages, i)
  /\ active' = IF active = i THEN Nil ELSE active

(***************************************************************************)
(* A process replays a level that its software does not support, and       *)
(* halts: it could not read the records written under that level.          *)
(*                                                                         *)
(* Kafka: FeatureControlManager.replay.                                    *)
(***************************************************************************)
HaltUnsupported(i) ==
  /\ Live(i)
  /\ metadata_version \notin Supported[i]
  /\ Exit(i)
  /\ UNCHANGED controller_log

(***************************************************************************)
(* A process is stopped, or crashes. The messages that it sent stay in     *)
(* flight.                                                                 *)
(***************************************************************************)
Crash(i) ==
  /\ Live(i)
  /\ Exit(i)
  /\ UNCHANGED controller_log
------------------------------------------------------------------------------
(* The active controller                                                     *)

(* A request that no process waits for is handled without an answer.         *)
Reply(m, error) ==
  IF m.awaited
  THEN Answer(messages, m, [type |-> "ControllerRegistrationResponse",
                            incarnation |-> m.incarnation, error |-> error])
  ELSE Take(messages, m)

(***************************************************************************)
(* A voter becomes the active controller, in place of the previous one.    *)
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
(* The active controller handles a request and writes its record,          *)
(* whichever process is registered, and whichever sent the request. The    *)
(* last writer wins.                                                       *)
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
(* The active controller refuses a request: the metadata version does not  *)
(* have the record yet.                                                    *)
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
(* The active controller finds a controller that does not support the      *)
(* level or is not known to. It answers INVALID_UPDATE_VERSION and writes  *)
(* nothing.                                                                *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
RefuseUpgrade(level) ==
  /\ active # Nil
  /\ level > metadata_version
  /\ ~LevelSupported(level)
  /\ UNCHANGED vars

(***************************************************************************)
(* The operator removes the registration of a controller that, in his      *)
(* opinion, left for good. A voter must be removed from the voters first   *)
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
(* A controller leaves the voters. The active controller does not remove   *)
(* itself here: it would hand over first.                                  *)
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
(* AddVoter: a controller whose process runs joins the voters. Kafka       *)
(* checks which versions of Raft's own feature it supports, and not which  *)
(* levels of the metadata version. MayJoin: a model may allow less.        *)
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
(* The network delivers a request once more. The process gets no answer to *)
(* the copy.                                                               *)
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
