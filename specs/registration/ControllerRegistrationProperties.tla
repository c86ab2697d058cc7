-------------------- MODULE ControllerRegistrationProperties --------------------
(***************************************************************************)
(* The properties of ControllerRegistration. Suffixes: Inv (every state),  *)
(* Prop (every step), Live (in the end), Reach (must be possible). The     *)
(* sentences above each property say what it means, where it comes from,   *)
(* and what breaks it.                                                     *)
(***************************************************************************)
EXTENDS ControllerRegistration

------------------------------------------------------------------------------
(* Invariants                                                                *)

(* No controller is registered while the metadata version has no such        *)
(* records.                                                                  *)
(* Source: KIP-919, Controller Registration MetadataVersion Gate. Broken by: *)
(* an active controller that relies on the senders to respect the gate.      *)
RegistrationGatedByMvInv ==
  (\E c \in Controller : Registered(c)) => RegistrationSupported(metadata_version)

(* A registration is true of the process that it names.                      *)
(* Source: KIP-919, ControllerRegistrationRequest. Broken by: registering    *)
(* the levels of the controller that handles the request.                    *)
RegistrationIsTruthfulInv ==
  \A c \in Controller : Registered(c) =>
    /\ ControllerOf[registrations[c].incarnation] = c
    /\ registrations[c].supported = Supported[registrations[c].incarnation]
    /\ status[registrations[c].incarnation] # "NOT_RUNNING"

(* Every voter that runs supports the finalized level.                       *)
(* Source: KIP-919, Fix compatibility gates. True if the quorum is static,   *)
(* the gate is open from the beginning, and no operator starts older         *)
(* software than before. Otherwise see broken/registration: BlindUpgrade,    *)
(* OlderSoftware, DynamicQuorum, UnregisterUpgradeRace. Broken by: an        *)
(* upgrade that does not look at every registration, or not at its levels.   *)
UpgradeSupportedByAllInv ==
  \A i \in Incarnation :
    (Live(i) /\ ControllerOf[i] \in voters) => metadata_version \in Supported[i]

(* The active controller is a process that runs.                             *)
(* Broken by: a crash that leaves it active.                                 *)
ActiveRunsInv == active # Nil => Live(active)

(* The active controller is a voter.                                         *)
(* Source: KIP-595, KIP-853. Broken by: taking a registered or configured    *)
(* controller for a voter.                                                   *)
ActiveIsVoterInv == active # Nil => ControllerOf[active] \in voters

(* A process waits for exactly one answer, or for none.                      *)
(* Source: Kafka, ControllerRegistrationManager.pendingRpc. Broken by:       *)
(* sending without waiting.                                                  *)
OneRequestInFlightInv ==
  \A i \in Incarnation :
    LET mine == {m \in InFlight(messages) :
                   m.incarnation = i /\ (IsRequest(m) => m.awaited)}
    IN  /\ Cardinality(mine) <= 1
        /\ \A m \in mine : pending[i] /\ messages[m] = 1

(* At most one process of a controller id runs.                              *)
(* Source: Kafka, the lock on the metadata directory. Broken by: starting    *)
(* without it.                                                               *)
OneProcessPerIdInv ==
  \A i, j \in Incarnation :
    (i # j /\ ControllerOf[i] = ControllerOf[j]) => ~(Live(i) /\ Live(j))

(* A process that does not run keeps nothing in memory.                      *)
(* Source: Kafka, ControllerRegistrationManager. Broken by: a process that   *)
(* halts and keeps what it has replayed.                                     *)
EndedKeepsNothingInv ==
  \A i \in Incarnation : ~Live(i) => image[i] = EmptyImage /\ ~pending[i]

(* A process has replayed only levels that its software supports. It does    *)
(* not run on under any other.                                               *)
(* Source: Kafka, FeatureControlManager.replay. Broken by: replaying a level *)
(* that the software lacks, and running on.                                  *)
ReplayedIsSupportedInv ==
  \A i \in Incarnation : image[i].metadata_version \in Supported[i] \cup {NoLevel}
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* A copy of message m is handled or lost in this step.                      *)
Consumed(m) ==
  /\ m \in InFlight(messages)
  /\ m \notin InFlight(messages') \/ messages'[m] < messages[m]

(* Process i is told that it is registered. *)
ToldRegistered(i) ==
  \E m \in InFlight(messages') \ InFlight(messages) :
    m.type = "ControllerRegistrationResponse" /\ m.incarnation = i /\ m.error = "NONE"

(* The last writer wins: a process that is told that it is registered is     *)
(* registered, whichever process was before.                                 *)
(* Source: KIP-919, Controller Registration; Kafka,                          *)
(* ClusterControlManager.registerController. Broken by: keeping the first    *)
(* registration.                                                             *)
LastWriterWinsProp ==
  [][\A i \in Incarnation :
       ToldRegistered(i) =>
         /\ registrations'[ControllerOf[i]] # Nil
         /\ registrations'[ControllerOf[i]].incarnation = i]_vars

(* A process is told UNSUPPORTED_VERSION only while the metadata version of  *)
(* the log is below the one that allows controller registrations.            *)
(* Source: KIP-919, Controller Registration MetadataVersion Gate; Kafka,     *)
(* ClusterControlManager.registerController. Broken by: judging the gate by  *)
(* what the active controller's process has published, which lags behind.    *)
UnsupportedBelowGateProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "ControllerRegistrationResponse" /\ m.error = "UNSUPPORTED_VERSION") =>
         ~RegistrationSupported(metadata_version)]_messages

(* A registration changes only by a request of a process of that id, or by   *)
(* its removal.                                                              *)
(* Source: KIP-919, ControllerRegistrationRequest. Broken by: registering    *)
(* under another id than the sender's.                                       *)
RegisteredOnRequestProp ==
  [][\A c \in Controller :
       LET new == registrations'[c] IN
       (new # registrations[c] /\ new # Nil) =>
         \E m \in InFlight(messages) :
           /\ Consumed(m)
           /\ IsRequest(m)
           /\ m.incarnation = new.incarnation
           /\ ControllerOf[m.incarnation] = c]_registrations

(* No registration of a voter is removed.                                    *)
(* Source: KAFKA-20865. Broken by: unregistering without looking at the      *)
(* voters.                                                                   *)
VoterStaysRegisteredProp ==
  [][\A c \in voters : Registered(c) => registrations'[c] # Nil]_registrations

(* The metadata version only rises, and only to a level that each registered *)
(* or configured controller has registered to support. The active controller *)
(* itself need not be registered for it.                                     *)
(* Source: KIP-919, Fix compatibility gates. Broken by: not waiting for a    *)
(* controller that did not register; assuming a level that a controller does *)
(* not support; not checking the active controller itself.                   *)
UpgradeSupportedByRegisteredProp ==
  [][/\ metadata_version' > metadata_version
     /\ active # Nil
     /\ metadata_version' \in Supported[active]
     /\ RegistrationSupported(metadata_version) =>
          \A c \in Controller \ {ControllerOf[active]} :
            IF Registered(c) THEN metadata_version' \in registrations[c].supported
            ELSE c \notin QuorumIds]_metadata_version

(* An answer disappears only when its process stops waiting, or when the     *)
(* network loses it.                                                         *)
(* Source: Kafka, ControllerRegistrationManager. Broken by: a process that   *)
(* ends, and takes the answers to others with it.                            *)
AnswerEndsWaitProp ==
  [][\A m \in InFlight(messages) :
       (~IsRequest(m) /\ m \notin InFlight(messages')) =>
         ~pending'[m.incarnation] \/ LoseMessage(m)]_messages

(* The active controller changes by an election or by its end, and neither   *)
(* writes a record. The new one runs, and supports the finalized level: it   *)
(* has replayed the log.                                                     *)
(* Source: KIP-595; Kafka, FeatureControlManager.replay. Broken by: a record *)
(* that deposes its writer; an election that does not wait for the replay.   *)
ActiveChangesProp ==
  [][/\ UNCHANGED controller_log
     /\ active' # Nil => Live(active') /\ metadata_version \in Supported[active']]_active

(* Only the active controller writes records, and it stays active with them. *)
(* Source: KIP-500; Kafka, QuorumController.ControllerWriteEvent. Broken by: *)
(* a controller that is not active and writes the record of a registration.  *)
OnlyTheActiveWritesProp == [][active # Nil /\ active' = active]_controller_log

(* A record that changes the voters changes nothing else in the log. A       *)
(* controller that joins them runs.                                          *)
(* Source: KIP-853, VotersRecord. Broken by: a registration that makes a     *)
(* voter; a registered controller that joins although it is down.            *)
VotersChangeAloneProp ==
  [][/\ registrations' = registrations
     /\ metadata_version' = metadata_version
     /\ \A c \in voters' \ voters :
          \E i \in Incarnation : ControllerOf[i] = c /\ Live(i)]_voters

(* A process asks to be registered only if the metadata that it has replayed *)
(* allows it, and names another process or none.                             *)
(* Source: KIP-919, Controller Registration. Broken by: a process that does  *)
(* not look at the gate, or goes on asking.                                  *)
SentOnlyWhenNeededProp ==
  [][\A i \in Incarnation :
       (pending'[i] /\ ~pending[i]) =>
         /\ RegistrationSupported(image[i].metadata_version)
         /\ image[i].incarnation # i]_pending

(* A process learns only from the log, not from an answer.                   *)
(* Source: KIP-919, Controller Registration. Broken by: a process that takes *)
(* an answer for a registration.                                             *)
LearnsFromLogProp ==
  [][\A i \in Incarnation :
       image'[i] \in {image[i], EmptyImage, LatestImage(i)}]_image

(* A process that has ended does not run again.                              *)
(* Source: KIP-919, an incarnation id is of one run. Broken by: reusing it.  *)
StatusMovesProp ==
  [][\A i \in Incarnation :
       status'[i] # status[i] =>
         <<status[i], status'[i]>> \in
           {<<"NOT_RUNNING", "RUNNING">>, <<"RUNNING", "STOPPED">>}]_status
------------------------------------------------------------------------------
(* In the end. These hold once the faults are over, under the fairness of    *)
(* MCControllerRegistrationLive.                                             *)

RegisteredProcess(i) ==
  Registered(ControllerOf[i]) /\ registrations[ControllerOf[i]].incarnation = i

(* A process that runs is registered in the end, and stays so. It repairs    *)
(* the effect of late requests.                                              *)
(* Source: KIP-919, Controller Registration. Broken by: a process that takes *)
(* an answer for a registration; one that waits for ever for a lost answer   *)
(* (Kafka's onTimeout leaves pendingRpc set).                                *)
EveryVoterRegisteredLive ==
  \A i \in Incarnation :
    ((Live(i) /\ RegistrationSupported(metadata_version)) ~>
       [](~Live(i) \/ RegisteredProcess(i)))

(* If every process that runs, or ever ran, supports a level, that level is  *)
(* finalized in the end, provided that the operator keeps asking for it.     *)
(* Source: KIP-919, Fix compatibility gates. Broken by: an upgrade that      *)
(* waits for a level that no registration contains.                          *)
SupportedByAllStarted(level) ==
  \A i \in Incarnation : status[i] # "NOT_RUNNING" => level \in Supported[i]
EveryIdRuns == \A c \in Controller : \E i \in Incarnation : ControllerOf[i] = c /\ Live(i)
UpgradePossibleLive ==
  \A level \in Level :
    ([](EveryIdRuns /\ SupportedByAllStarted(level)) ~> (metadata_version >= level))
------------------------------------------------------------------------------
(* Witnesses                                                                 *)

(* The registration of an ended process replaced that of a process that had  *)
(* found itself registered.                                                  *)
StaleOverwritesReach ==
  \E i \in Incarnation :
    /\ Live(i)
    /\ image[i].incarnation = i
    /\ Registered(ControllerOf[i])
    /\ ~RegisteredProcess(i)

(* A process was told that the metadata version has no registrations. *)
UnsupportedVersionToldReach ==
  \E m \in InFlight(messages) :
    m.type = "ControllerRegistrationResponse" /\ m.error = "UNSUPPORTED_VERSION"

(* A process was told that it is registered. *)
RegisteredToldReach ==
  \E m \in InFlight(messages) :
    m.type = "ControllerRegistrationResponse" /\ m.error = "NONE"

(* A process was told that it asked the wrong controller. *)
NotControllerToldReach ==
  \E m \in InFlight(messages) :
    m.type = "ControllerRegistrationResponse" /\ m.error = "NOT_CONTROLLER"

(* A controller that is not registered itself raised the metadata version    *)
(* above the gate.                                                           *)
UpgradedByUnregisteredReach ==
  /\ active # Nil
  /\ RegistrationSupported(metadata_version)
  /\ \E level \in Level : RegistrationSupported(level) /\ level < metadata_version
  /\ ~Registered(ControllerOf[active])
  /\ \A c \in Controller \ {ControllerOf[active]} : Registered(c)

(* A voter runs that is not registered, so an upgrade does not check it. *)
UnregisteredVoterReach ==
  \E c \in voters : ~Registered(c) /\ \E i \in Incarnation : ControllerOf[i] = c /\ image[i].incarnation = i

(* A process that does not support the finalized level has ended: it was     *)
(* replaced in time, or halted.                                              *)
OldSoftwareGoneReach ==
  \E i \in Incarnation : status[i] = "STOPPED" /\ metadata_version \notin Supported[i]
==============================================================================
