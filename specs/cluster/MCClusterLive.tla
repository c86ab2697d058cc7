----------------------------- MODULE MCClusterLive -----------------------------
(***************************************************************************)
(* What Cluster achieves once the faults end. Until then anything happens  *)
(* within bounds. From some moment on, no process dies, no other           *)
(* controller is elected, requests reach the leader, and only the sessions *)
(* of brokers without a process run out. The bounds never cut off a        *)
(* healing step.                                                           *)
(***************************************************************************)
EXTENDS MCCluster

VARIABLE faults_over   \* From now on only healing steps happen.

(* No request or answer that process i waits for is in flight or due. *)
Deaf(i) ==
  /\ ~\E m \in InFlight(messages) : m.incarnation = i /\ (IsRequest(m) => m.awaited)
  /\ ~\E k \in DOMAIN tail[leader] :
        tail[leader][k].reply # Nil /\ tail[leader][k].reply.incarnation = i

(* A heartbeat of a running broker that is not fenced only renews a session  *)
(* that does not run out here. Without such heartbeats healing ends.         *)
WantsToHear(i) ==
  \/ status[i] # "RUNNING"
  \/ Registered(committed, BrokerOf[i]) /\ committed.registrations[BrokerOf[i]].fenced

Asks(i) ==
  \/ SendRegistration(i)
  \/ WantsToHear(i) /\ SendHeartbeat(i)
  \/ Deaf(i) /\ RequestTimeout(i)
Hears(i) ==
  \E m \in InFlight(messages) :
    m.incarnation = i /\ (HandleRegistrationResponse(m) \/ HandleHeartbeatResponse(m))
Answers(m) ==
  \/ RegisterBroker(leader, m) \/ AmendRegistration(leader, m) \/ RefuseRegistration(leader, m)
  \/ RejectHeartbeat(leader, m)
  \/ KeepState(leader, m)
  \/ UnfenceBroker(leader, m) \/ BeginControlledShutdown(leader, m)
  \/ FenceOnRequest(leader, m) \/ ShutDownNow(leader, m)
IsAnswered(i) == \E m \in InFlight(messages) : m.incarnation = i /\ Answers(m)

RunsNow(b) ==
  \E i \in Incarnation :
    /\ BrokerOf[i] = b /\ Live(i) /\ Registered(written[leader], b)
    /\ written[leader].registrations[b].incarnation = i
FallsSilent(b) == ~RunsNow(b) /\ SessionsRunOut(leader, {b})

Healing ==
  \/ \E i \in Incarnation : Asks(i) \/ Hears(i) \/ ReplayMetadata(i) \/ IsAnswered(i)
  \/ \E b \in Broker : FallsSilent(b) \/ FenceStaleBroker(leader, b)
  \/ Commit(leader)
  \/ \E c \in Controller : Renounce(c)

Stabilise == ~faults_over /\ faults_over' = TRUE /\ UNCHANGED vars
AnythingHappens == ~faults_over /\ Next /\ Bounds' /\ UNCHANGED faults_over
Heals(action) == faults_over /\ action /\ UNCHANGED faults_over

LiveInit == Init /\ faults_over = FALSE
LiveNext == Stabilise \/ AnythingHappens \/ Heals(Healing)

live_vars == <<vars, faults_over>>
(* Healing steps never form a cycle, so it is enough that they go on. *)
Fairness == WF_live_vars(Stabilise) /\ WF_live_vars(Heals(Healing))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

(* The leader of the partition is dead, and the controller that had begun to *)
(* replace it was deposed; an in-sync replica runs.                          *)
StableLeaderDeadReach ==
  /\ faults_over
  /\ leader # k1
  /\ SomeInSyncReplicaRuns
  /\ committed.partition.leader # NoLeader
  /\ ~RunsNow(committed.partition.leader)
==============================================================================
