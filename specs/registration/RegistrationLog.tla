---------------------------- MODULE RegistrationLog ----------------------------
(***************************************************************************)
(* The registrations of controllers as a committed metadata log shows      *)
(* them. There are no processes, no requests and no time: a registration   *)
(* may come at any moment, of any incarnation, and again. This module      *)
(* keeps the rules that tie each record to the records before it. Both     *)
(* ControllerRegistration and Cluster refine it. The audit steps through   *)
(* it with the log of a real cluster: each action takes its parameters     *)
(* from its record, and reads no constants but GateLevel, QuorumIds and    *)
(* Nil.                                                                    *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - ClusterControlManager.registerController -> RegisterController       *)
(*  - ClusterControlManager.unregisterController (KAFKA-20395) ->          *)
(*    UnregisterController                                                 *)
(*  - FeatureControlManager.updateFeatures -> UpgradeFeature               *)
(*  - AddVoterHandler, RemoveVoterHandler -> ChangeVoters                  *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Offsets. No rule about these records mentions one.                   *)
(*  - Which controller was active. A feature record shows only that some   *)
(*    controller could have been: one that supports the level while all    *)
(*    others are known to.                                                 *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Controller,      \* The controller ids. Bounds Init and Next, not the actions.
  Incarnation,     \* The incarnation ids. Bounds Next, not the actions.
  ControllerOf,    \* [Incarnation -> Controller], for Next.
  Level,           \* The levels of the metadata version. Bounds Init and Next.
  GateLevel,       \* The first level with registrations.
  Supported,       \* [Incarnation -> levels], for Next.
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
(* RegisterControllerRecord: allowed once the metadata version has it, and *)
(* over any earlier registration. Registering the same again changes       *)
(* nothing.                                                                *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerController.                        *)
(***************************************************************************)
RegisterController(c, incarnation, supported) ==
  /\ metadata_version >= GateLevel
  /\ registrations' = [registrations EXCEPT ![c] =
       [incarnation |-> incarnation, supported |-> supported]]
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
(* FeatureLevelRecord of metadata.version. Its writer is a controller that *)
(* supports these levels. If the log knew registrations already, each      *)
(* other configured controller is registered, and each other registered    *)
(* controller supports the level.                                          *)
(*                                                                         *)
(* Kafka: FeatureControlManager.updateFeatures.                            *)
(***************************************************************************)
UpgradeFeature(writer, supported, level) ==
  /\ level > metadata_version
  /\ level \in supported
  /\ metadata_version >= GateLevel =>
       \A c \in DOMAIN registrations \ {writer} :
         IF Registered(c) THEN level \in registrations[c].supported
         ELSE c \notin QuorumIds
  /\ metadata_version' = level
  /\ UNCHANGED <<registrations, voters>>

(***************************************************************************)
(* VotersRecord: one controller joins or leaves; at least one is left.     *)
(***************************************************************************)
ChangeVoters(new_voters) ==
  /\ \E c \in voters \cup new_voters : new_voters \in {voters \cup {c}, voters \ {c}}
  /\ new_voters # {}
  /\ voters' = new_voters
  /\ UNCHANGED <<registrations, metadata_version>>
------------------------------------------------------------------------------
Next ==
  \/ \E i \in Incarnation : RegisterController(ControllerOf[i], i, Supported[i])
  \/ \E c \in Controller : UnregisterController(c)
  \/ \E i \in Incarnation, level \in Level :
       UpgradeFeature(ControllerOf[i], Supported[i], level)
  \/ \E new_voters \in SUBSET Controller : ChangeVoters(new_voters)

Spec == Init /\ [][Next]_vars
------------------------------------------------------------------------------
(* Properties                                                                *)

(* No controller is registered while the metadata version has no             *)
(* registrations.                                                            *)
(* Source: KIP-919. Broken by: a record below the gate.                      *)
RegisteredAboveGateInv ==
  (\E c \in Controller : Registered(c)) => metadata_version >= GateLevel

(* In a static quorum above the gate, a level is finalized only if all       *)
(* controllers except one, the writer, have registered to support it.        *)
(* Source: KIP-919, Fix compatibility gates. Broken by: a feature record     *)
(* before the last registration.                                             *)
UpgradeIsSupportedProp ==
  [][(metadata_version >= GateLevel /\ QuorumIds = Controller) =>
       \E writer \in Controller : \A c \in Controller \ {writer} :
         Registered(c) /\ metadata_version' \in registrations[c].supported]_metadata_version

(* There is always a voter.                                                  *)
(* Source: KIP-853. Broken by: removing the last voter.                      *)
VotersNotEmptyInv == voters # {}

(* Only one controller at a time joins the voters or leaves them.            *)
(* Source: KIP-853. Broken by: changing several at once.                     *)
VotersChangeByOneProp ==
  [][\E c \in Controller : voters' \in {voters \cup {c}, voters \ {c}}]_voters

(* The metadata version never falls. Kafka can lower it too; an audit skips  *)
(* such a record.                                                            *)
(* Source: Kafka, FeatureControlManager. Broken by: lowering it.             *)
LevelRisesProp == [][metadata_version' > metadata_version]_metadata_version
==============================================================================
