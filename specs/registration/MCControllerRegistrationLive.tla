--------------------- MODULE MCControllerRegistrationLive ---------------------
(***************************************************************************)
(* What ControllerRegistration achieves once the faults end. Until then    *)
(* anything happens within bounds. From some moment on no process ends, no *)
(* message is lost or duplicated, the active controller stays if there is  *)
(* one, and requests find it. Late messages are still in flight, and       *)
(* arrive. The bounds hold until that moment only.                         *)
(***************************************************************************)
EXTENDS MCControllerRegistration

VARIABLE stable   \* The faults are over.

(* No message that process i waits for is in flight. *)
Deaf(i) == ~\E m \in InFlight(messages) : m.incarnation = i /\ (IsRequest(m) => m.awaited)

(* The steps that go on without faults, for each process and at the active   *)
(* controller.                                                               *)
Asks(i) == SendRegistration(i) \/ (Deaf(i) /\ RequestTimeout(i))
Hears(i) == \E m \in InFlight(messages) : m.incarnation = i /\ HandleRegistrationResponse(m)
Replays(i) == ReplayMetadata(i) \/ HaltUnsupported(i)
IsAnswered(i) ==
  \E m \in InFlight(messages) :
    m.incarnation = i /\ (RegisterController(m) \/ RefuseRegistration(m))
Restarts(c) == \E i \in Incarnation : ControllerOf[i] = c /\ StartController(i)
Elects == active = Nil /\ \E i \in Incarnation : BecomeActive(i)
Upgrades == \E level \in Level : UpgradeFeature(level)

Healing ==
  \/ \E i \in Incarnation : Asks(i) \/ Hears(i) \/ Replays(i) \/ IsAnswered(i)
  \/ \E c \in Controller : Restarts(c)
  \/ Elects
  \/ Upgrades

Stabilise == ~stable /\ stable' = TRUE /\ UNCHANGED vars
AnythingHappens == ~stable /\ Next /\ Bounds' /\ UNCHANGED stable
Heals(action) == stable /\ action /\ UNCHANGED stable

LiveInit == Init /\ stable = FALSE
LiveNext == Stabilise \/ AnythingHappens \/ Heals(Healing)

live_vars == <<vars, stable>>
Fairness ==
  /\ WF_live_vars(Stabilise)
  /\ \A i \in Incarnation :
       /\ WF_live_vars(Heals(Asks(i)))
       /\ WF_live_vars(Heals(Hears(i)))
       /\ WF_live_vars(Heals(Replays(i)))
       /\ WF_live_vars(Heals(IsAnswered(i)))
  /\ \A c \in Controller : WF_live_vars(Heals(Restarts(c)))
  /\ WF_live_vars(Heals(Elects))
  /\ WF_live_vars(Heals(Upgrades))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

(* The left-hand sides of the properties, reached when only healing was left *)
(* to answer them.                                                           *)
StableOverwrittenReach ==
  stable /\ \E i \in Incarnation : Live(i) /\ image[i].incarnation = i /\ ~RegisteredProcess(i)
StableAnswerLostReach ==
  stable /\ \E i \in Incarnation : pending[i] /\ Deaf(i) /\ ~RegisteredProcess(i)
StableUpgradeDueReach ==
  /\ stable
  /\ EveryIdRuns
  /\ \E level \in Level : level > metadata_version /\ SupportedByAllStarted(level)
==============================================================================
