----------------------------- MODULE BrokerStates -----------------------------
(***************************************************************************)
(* The four states of a broker in KIP-500: Offline, Fenced, Online,        *)
(* Stopping. KIP-500 says no more than this of a broker's life: no         *)
(* messages, no time, no epochs. KIP-631 added the steps, which are in     *)
(* BrokerLease. MCBrokerStatesKafka and MCBrokerStatesSelfFence check that *)
(* every step of BrokerLease is a step of this module, or none.            *)
(*                                                                         *)
(* KIP-500 speaks of one state of one broker. In a running cluster there   *)
(* are two: the state the process takes itself to be in, and what the      *)
(* controller shows to clients. The KIP's sentences are about both at      *)
(* once:                                                                   *)
(*                                                                         *)
(*    Offline   does not run, or is busy with itself alone                 *)
(*    Fenced    runs, answers no client, and is not shown to any           *)
(*    Online    answers clients                                            *)
(*    Stopping  was told to stop and still runs: its leaderships are moved *)
(*                                                                         *)
(* So both are variables here, and OneView says whether they agree.        *)
(* OneView = TRUE is KIP-500 as written: the controller shows every broker *)
(* that is Online. That takes a broker that fences itself. OneView = FALSE *)
(* is Kafka as built: each side follows the other one message later, and a *)
(* broker that is cut off does not follow at all.                          *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - BrokerLifecycleManager.start -> StartUp                              *)
(*  - BrokerState.RUNNING -> ComeOnline                                    *)
(*  - BrokerLifecycleManager.beginControlledShutdown -> BeginStopping      *)
(*  - BrokerState.SHUTTING_DOWN -> GoOffline                               *)
(*  - ReplicationControlManager.handleBrokerUnfenced -> Show               *)
(*  - ReplicationControlManager.handleBrokerFenced -> LeaveOut             *)
(*  - no handler -> LoseContact                                            *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Which clients get which answers, and which brokers lead.             *)
(*  - The cause of a change of state: SIGINT, a failure, the controller's  *)
(*    answer.                                                              *)
(*  - Where log recovery happens. KIP-500 counts it as Offline; Kafka      *)
(*    loads its logs in STARTING or RECOVERY, and BrokerStatesRefinement   *)
(*    maps both to Fenced.                                                 *)
(***************************************************************************)
EXTENDS FiniteSets

CONSTANTS
  Broker,        \* The broker ids.
  Incarnation,   \* Every broker process that ever exists.
  BrokerOf,      \* [Incarnation -> Broker]: the id a process is configured with.
  OneView,       \* TRUE: the process and the controller never disagree on Online.
  Nil            \* No process.

ASSUME Constants ==
  /\ Broker # {} /\ IsFiniteSet(Broker)
  /\ Incarnation # {} /\ IsFiniteSet(Incarnation)
  /\ BrokerOf \in [Incarnation -> Broker]
  /\ OneView \in BOOLEAN
  /\ Nil \notin Incarnation

VARIABLES
  broker_state,  \* [Incarnation -> state]: the state the process takes itself to be in.
  shown          \* [Broker -> Incarnation or Nil]: the process that clients are sent to.

vars == <<broker_state, shown>>

State == {"Offline", "Fenced", "Online", "Stopping"}

TypeOK ==
  /\ broker_state \in [Incarnation -> State]
  /\ shown \in [Broker -> Incarnation \cup {Nil}]

(* The controller shows process i to clients. *)
Shown(i) == shown[BrokerOf[i]] = i

Init ==
  /\ broker_state = [i \in Incarnation |-> "Offline"]
  /\ shown = [b \in Broker |-> Nil]
------------------------------------------------------------------------------
(* The process                                                               *)

Becomes(i, state) ==
  /\ broker_state' = [broker_state EXCEPT ![i] = state]
  /\ UNCHANGED shown

(***************************************************************************)
(* A process starts, and begins to fetch the newest metadata.              *)
(* Source: KIP-500, Broker States, Fenced.                                 *)
(***************************************************************************)
StartUp(i) ==
  /\ broker_state[i] = "Offline"
  /\ Becomes(i, "Fenced")

(***************************************************************************)
(* A process is ready to answer clients.                                   *)
(* Source: KIP-500, Broker States, Online.                                 *)
(***************************************************************************)
ComeOnline(i) ==
  /\ broker_state[i] = "Fenced"
  /\ OneView => Shown(i)
  /\ Becomes(i, "Online")

(***************************************************************************)
(* Processes cannot reach the active controller, and stop answering        *)
(* clients. Several may notice at once, since time passes for all.         *)
(* Source: KIP-500, Broker States, Fenced. Kafka has no such step.         *)
(***************************************************************************)
LoseContact(cut_off) ==
  /\ cut_off # {}
  /\ \A i \in cut_off : broker_state[i] = "Online"
  /\ broker_state' =
       [i \in Incarnation |-> IF i \in cut_off THEN "Fenced" ELSE broker_state[i]]
  /\ UNCHANGED shown

(***************************************************************************)
(* The administrator wants a process to stop.                              *)
(* Source: KIP-500, Broker States, Stopping.                               *)
(***************************************************************************)
BeginStopping(i) ==
  /\ broker_state[i] \in {"Fenced", "Online"}
  /\ Becomes(i, "Stopping")

(***************************************************************************)
(* A process ends: with the controller's permission, because it waited     *)
(* long enough for permission, because it had nothing to wait for, or by a *)
(* failure.                                                                *)
(* Source: KIP-500, Broker States, Offline and Stopping.                   *)
(***************************************************************************)
GoOffline(i) ==
  /\ broker_state[i] # "Offline"
  /\ Becomes(i, "Offline")
------------------------------------------------------------------------------
(* The controller                                                            *)

(***************************************************************************)
(* The controller shows a process to clients, once it shows no other       *)
(* process of that id. The process may have ended by then.                 *)
(* Source: KIP-500, Broker States: only fenced brokers are left out.       *)
(***************************************************************************)
Show(i) ==
  /\ shown[BrokerOf[i]] = Nil
  /\ shown' = [shown EXCEPT ![BrokerOf[i]] = i]
  /\ UNCHANGED broker_state

(***************************************************************************)
(* The controller leaves a broker out of what it sends to clients: the     *)
(* broker was silent for too long, it is shutting down, or another process *)
(* takes its id.                                                           *)
(* Source: KIP-500, The Broker State Machine, and Fenced.                  *)
(***************************************************************************)
LeaveOut(b) ==
  /\ shown[b] # Nil
  /\ OneView => broker_state[shown[b]] # "Online"
  /\ shown' = [shown EXCEPT ![b] = Nil]
  /\ UNCHANGED broker_state
------------------------------------------------------------------------------
Next ==
  \/ \E i \in Incarnation : StartUp(i)
  \/ \E i \in Incarnation : ComeOnline(i)
  \/ \E cut_off \in SUBSET Incarnation : LoseContact(cut_off)
  \/ \E i \in Incarnation : BeginStopping(i)
  \/ \E i \in Incarnation : GoOffline(i)
  \/ \E i \in Incarnation : Show(i)
  \/ \E b \in Broker : LeaveOut(b)

Spec == Init /\ [][Next]_vars
------------------------------------------------------------------------------
(* Properties                                                                *)

(* Clients are sent to every broker that answers them (KIP-500). So no two   *)
(* processes of one id are Online at once (KIP-631).                         *)
(* Source: KIP-500, Broker States. Broken by: leaving out a broker that is   *)
(* Online, as Kafka does with a broker that is cut off.                      *)
OnlineIsShownInv == OneView => \A i \in Incarnation : broker_state[i] = "Online" => Shown(i)

(* A process moves along these arrows only. From Offline no arrow leads past *)
(* Fenced, and Stopping has only one arrow out.                              *)
(* Source: KIP-500, Broker States. Broken by: coming back from Stopping.     *)
StateMoves ==
  {<<"Offline", "Fenced">>,  <<"Fenced", "Online">>,    <<"Online", "Fenced">>,
   <<"Fenced", "Stopping">>, <<"Online", "Stopping">>,
   <<"Fenced", "Offline">>,  <<"Online", "Offline">>,   <<"Stopping", "Offline">>}
StateMovesProp ==
  [][\A i \in Incarnation :
       broker_state'[i] # broker_state[i] =>
         <<broker_state[i], broker_state'[i]>> \in StateMoves]_broker_state

(* Witness: a process answers clients although the controller no longer      *)
(* shows it. Kafka as built allows this, and OneView rules it out.           *)
OnlineUnseenReach == \E i \in Incarnation : broker_state[i] = "Online" /\ ~Shown(i)
==============================================================================
