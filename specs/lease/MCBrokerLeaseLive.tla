--------------------------- MODULE MCBrokerLeaseLive ---------------------------
(***************************************************************************)
(* What BrokerLease achieves once the faults end. Until then anything      *)
(* happens within bounds. From some moment on the network delivers, no     *)
(* process crashes, the controller stays, and time passes no faster than   *)
(* the controller can hear from running brokers. The bounds hold until     *)
(* that moment only, so they never cut healing short.                      *)
(*                                                                         *)
(* A process counts as ready once it has caught up. Removal by the         *)
(* operator is left out: in Kafka 4.1 a broker that runs never registers   *)
(* again after its removal.                                                *)
(***************************************************************************)
EXTENDS MCBrokerLeaseTwo

VARIABLE stable   \* The faults are over.

Waits(i) == \E m \in InFlight(messages) : m.incarnation = i /\ (IsRequest(m) => m.awaited)

(* The session of every process that runs and is registered outlasts a tick. *)
TimeMayPass ==
  \A i \in Incarnation :
    (Live(i) /\ RegisteredProcess(i)) => contact_age[BrokerOf[i]] < SessionTimeout

(* The steps that go on without faults, for each process and each broker id. *)
Asks(i) ==
  \/ SendRegistration(i)
  \/ SendHeartbeat(i, status[i] = "STARTING")
  \/ ~Waits(i) /\ RequestTimeout(i)
Hears(i) ==
  \E m \in InFlight(messages) :
    m.incarnation = i /\ (HandleRegistrationResponse(m) \/ HandleHeartbeatResponse(m))
Replays(i) == ReplayMetadata(i, log_end - 1)
IsAnswered(i) ==
  \E m \in InFlight(messages) :
    /\ m.incarnation = i
    /\ \/ RegisterBroker(m) \/ AmendRegistration(m) \/ RefuseRegistration(m)
       \/ RejectHeartbeat(m) \/ KeepFenced(m) \/ UnfenceBroker(m) \/ KeepUnfenced(m)
       \/ FenceOnRequest(m) \/ BeginControlledShutdown(m) \/ ContinueControlledShutdown(m)
       \/ ShutDownNow(m)
TimePasses == TimeMayPass /\ Tick(1, [i \in Incarnation |-> 1])

Healing ==
  \/ \E i \in Incarnation : Asks(i) \/ Hears(i) \/ Replays(i) \/ IsAnswered(i)
  \/ \E b \in Broker : FenceStaleBroker(b)
  \/ TimePasses

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
  /\ \A b \in Broker : WF_live_vars(Heals(FenceStaleBroker(b)))
  /\ WF_live_vars(Heals(TimePasses))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

(* The left-hand sides of the properties, reached when only healing was left *)
(* to answer them.                                                           *)
StableUnfencedDeadReach ==
  stable /\ \E b \in Broker : Registered(b) /\ ~registrations[b].fenced /\ ~RegisteredIsLive(b)
StableFencedLiveReach ==
  stable /\ \E i \in Incarnation : Live(i) /\ RegisteredProcess(i) /\ registrations[BrokerOf[i]].fenced
StableShuttingDownReach ==
  stable /\ \E b \in Broker : ShuttingDown(b) /\ ~CaughtUpWithShutdown(b)
==============================================================================
