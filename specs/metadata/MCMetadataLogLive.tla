--------------------------- MODULE MCMetadataLogLive ---------------------------
(***************************************************************************)
(* What MetadataLog achieves once the faults end. Until then anything may  *)
(* happen within bounds. From some moment on no process restarts, no       *)
(* leader that still leads is replaced, and no new request arrives. The    *)
(* bounds hold until that moment only: recovery is never cut short.        *)
(***************************************************************************)
EXTENDS MCMetadataLog

VARIABLE calm   \* The faults are over.

live_vars == <<vars, calm>>

NobodyLeads == \A c \in Controller : leader_epoch[c] # NewestEpoch
Deposed(c) == leader_epoch[c] # NoEpoch /\ leader_epoch[c] < NewestEpoch

(* The steps that continue without faults. A controller that is active in an *)
(* epoch in which its own Raft client does not lead eventually hears of it.  *)
Elects == NobodyLeads /\ \E c \in Controller :
  Elect(c, NewestEpoch + 1, Len(uncommitted), << >>)
Commits == Commit(1)
LearnsOfOther(c) == Deposed(c) /\ LoseLeadership(c)
StepsBack(c) == leader_epoch[c] # claim_epoch[c] /\ Renounce(c)
Claims(c) == Claim(c) \/ ClaimWithOpenTransaction(c)
EndsTransaction(c) == EndTransaction(c)
HearsOfCommit(c) == HandleCommit(c, committed_end[c] + 1)
Replays(n) == ReplayCommitted(n, committed_end[n] + 1)

Calms == ~calm /\ calm' = TRUE /\ UNCHANGED vars
AnythingHappens == ~calm /\ Next /\ Bounds' /\ UNCHANGED calm
Heals(action) == calm /\ action /\ UNCHANGED calm
Healing ==
  \/ Elects \/ Commits
  \/ \E c \in Controller :
       \/ LearnsOfOther(c) \/ StepsBack(c) \/ Claims(c) \/ EndsTransaction(c) \/ HearsOfCommit(c)
  \/ \E n \in Node : Replays(n)

LiveInit == Init /\ calm = FALSE
LiveNext == Calms \/ AnythingHappens \/ Heals(Healing)

Fairness ==
  /\ WF_live_vars(Calms)
  /\ WF_live_vars(Heals(Elects))
  /\ WF_live_vars(Heals(Commits))
  /\ \A c \in Controller :
       /\ WF_live_vars(Heals(LearnsOfOther(c)))
       /\ WF_live_vars(Heals(StepsBack(c)))
       /\ WF_live_vars(Heals(Claims(c)))
       /\ WF_live_vars(Heals(EndsTransaction(c)))
       /\ WF_live_vars(Heals(HearsOfCommit(c)))
  /\ \A n \in Node : WF_live_vars(Heals(Replays(n)))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness

(* The left-hand sides of the liveness properties, when only recovery can    *)
(* still answer them.                                                        *)
CalmDeferredReach == calm /\ \E c \in Controller : deferred[c] # {}
CalmDeposedDeferredReach ==
  calm /\ \E c \in Controller : deferred[c] # {} /\ claim_epoch[c] < NewestEpoch
CalmBehindReach == calm /\ \E b \in Broker : committed_end[b] + 1 < Len(committed)
==============================================================================
