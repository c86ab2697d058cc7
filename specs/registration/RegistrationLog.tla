---------------------------- MODULE RegistrationLog ----------------------------
(***************************************************************************)
(* The registrations of controllers as a committed metadata log shows      *)
(* them. There are no processes, no requests and no time: a registration   *)
(* may come at any moment, of any incarnation, and again. What is left are *)
(* the rules that tie each record to the records before it. Both           *)
(* ControllerRegistration and Cluster refine this module.                  *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Offsets. No rule about these records speaks of one.                  *)
(*  - Who was the active controller. A feature record only shows that some *)
(*    controller could have been: one that supports the level, and all     *)
(*    others are known to.                                                 *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Controller,      \* The controller ids.
  Incarnation,     \* The incarnation ids.
  ControllerOf,    \* [Incarnation -> Controller].
  Level,           \* The levels of the metadata version.
  GateLevel,       \* The first level with registrations.
  Supported,       \* [Incarnation -> levels].
  QuorumIds,       \* controller.quorum.voters.
  Nil              \* No registration.

VARIABLES
  registrations,     \* [Controller -> registration or Nil].
  metadata_version,  \* The finalized level.
  voters             \* The controller ids that vote.

vars == <<registrations, metadata_version, voters>>

Registered(c) == registrations[c] # Nil

Init ==
  /\ registrations = [c \in Controller |-> Nil]
  /\ metadata_version \in Level
  /\ voters = Controller

(***************************************************************************)
(* RegisterControllerRecord: once the metadata version has it, and over    *)
(* whatever there was. Registering the same again changes nothing.         *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerController.                        *)
(***************************************************************************)
RegisterController(c, incarnation) ==
  /\ metadata_version >= GateLevel
  /\ ControllerOf[incarnation] = c
  /\ registrations' = [registrations EXCEPT ![c] =
       [incarnation |-> incarnation, supported |-> Supported[incarnation]]]
  /\ UNCHANGED <<metadata_version, voters>>

(***************************************************************************)
(* UnregisterControllerRecord: never of a voter.                           *)
(*                                                                         *)
(* Kafka: ClusterControlManager.unregisterController (KAFKA-20395).        *)
(***************************************************************************)
UnregisterController(c) ==
  /\ Registered(c)
  /\ c \notin voters
  /\ registrations' = [registrations EXCEPT ![c] = Nil]
  /\ UNCHANGED <<metadata_version, voters>>

(***************************************************************************)
(* FeatureLevelRecord of metadata.version. Some controller wrote it that   *)
(* supports the level; of the others each that is configured is            *)
(* registered, and each that is registered supports the level, unless the  *)
(* log knew no registrations yet.                                          *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
UpgradeFeature(level) ==
  /\ level > metadata_version
  /\ \E writer \in Incarnation :
       /\ level \in Supported[writer]
       /\ metadata_version >= GateLevel =>
            \A c \in Controller \ {ControllerOf[writer]} :
              IF Registered(c) THEN level \in registrations[c].supported
              ELSE c \notin QuorumIds
  /\ metadata_version' = level
  /\ UNCHANGED <<registrations, voters>>

(***************************************************************************)
(* VotersRecord: one controller joins, or leaves; one is left.             *)
(***************************************************************************)
ChangeVoters(new_voters) ==
  /\ \E c \in Controller : new_voters \in {voters \cup {c}, voters \ {c}}
  /\ new_voters # {}
  /\ voters' = new_voters
  /\ UNCHANGED <<registrations, metadata_version>>
------------------------------------------------------------------------------
Next ==
  \/ \E c \in Controller, i \in Incarnation : RegisterController(c, i)
  \/ \E c \in Controller : UnregisterController(c)
  \/ \E level \in Level : UpgradeFeature(level)
  \/ \E new_voters \in SUBSET Controller : ChangeVoters(new_voters)

Spec == Init /\ [][Next]_vars
------------------------------------------------------------------------------
(* Properties                                                                *)

(* No registration while the metadata version has none.                      *)
(* Source: KIP-919. Broken by: a record below the gate.                      *)
RegisteredAboveGateInv ==
  (\E c \in Controller : Registered(c)) => metadata_version >= GateLevel

(* In a static quorum above the gate, a level is finalized that all but one  *)
(* controller, the writer, have registered to support.                       *)
(* Source: KIP-919, Fix compatibility gates. Broken by: a feature record     *)
(* before the last registration.                                             *)
UpgradeIsSupportedProp ==
  [][(metadata_version >= GateLevel /\ QuorumIds = Controller) =>
       \E writer \in Controller : \A c \in Controller \ {writer} :
         Registered(c) /\ metadata_version' \in registrations[c].supported]_metadata_version

(* Somebody always votes.                                                    *)
(* Source: KIP-853. Broken by: removing the last voter.                      *)
VotersNotEmptyInv == voters # {}

(* One controller joins the voters, or leaves them, at a time.               *)
(* Source: KIP-853. Broken by: changing several at once.                     *)
VotersChangeByOneProp ==
  [][\E c \in Controller : voters' \in {voters \cup {c}, voters \ {c}}]_voters

(* The metadata version never falls.                                         *)
(* Source: Kafka, FeatureControlManager. Broken by: lowering it.             *)
LevelRisesProp == [][metadata_version' > metadata_version]_metadata_version
==============================================================================
