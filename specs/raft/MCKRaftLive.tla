----------------------------- MODULE MCKRaftLive -----------------------------
(***************************************************************************)
(* What KRaft achieves once the faults end. Until then anything may happen *)
(* within bounds. From some moment on nothing is lost, no replica restarts *)
(* or resigns, and nothing is written. Timers then expire only where they  *)
(* should: while the newest epoch has no leader, the timer of the voter    *)
(* with the best log (the first of several) expires once its requests are  *)
(* answered. This stands for timeouts that are long enough, and random.    *)
(* The model takes for granted that candidacies with a worse log die out.  *)
(* The bound on epochs holds until that moment only.                       *)
(***************************************************************************)
EXTENDS MCKRaft

VARIABLE stable   \* The faults are over.

live_vars == <<vars, stable>>

NewestEpoch == CHOOSE e \in {epoch[r] : r \in Replica} : \A r \in Replica : epoch[r] <= e
HasLeader == \E l \in Replica : role[l] = "Leader" /\ epoch[l] = NewestEpoch

(* The voter that stands: one of those with the best log, always the same    *)
(* one.                                                                      *)
IsBetter(r, s) ==
  \/ LastEpoch(r) > LastEpoch(s)
  \/ LastEpoch(r) = LastEpoch(s) /\ LogEnd(r) > LogEnd(s)
Best(voters) == {r \in voters : \A s \in voters : ~IsBetter(s, r)}
Stands(r) == IsVoter(r) /\ r = CHOOSE s \in Best(Voters(r)) : TRUE

AllAnswered(r) ==
  \A other \in Voters(r) \ {r} :
    ~Waiting(r, other) /\ other \in granted[r] \cup rejected[r]

LiveTimer(r) ==
  IF ~stable THEN EpochLeft(r)
  ELSE ~HasLeader /\ Stands(r) /\ (IsNominee(r) => AllAnswered(r))

(* The steps that continue without faults. *)
Takes(m) ==
  \/ GrantVote(m) \/ GrantPreVote(m) \/ RefuseVote(m) \/ RecordVote(m)
  \/ BecomeCandidate(m) \/ BecomeLeader(m)
  \/ HandleBeginQuorumEpoch(m) \/ HandleEndQuorumEpoch(m)
  \/ FenceRequest(m) \/ DiscoverEpoch(m) \/ IgnoreResponse(m)
  \/ RefuseFetch(m) \/ AnswerWithSnapshotId(m) \/ AnswerDiverging(m)
  \/ AnswerFetch(m, LogEnd(m.to)) \/ AppendFetched(m) \/ TruncateDiverging(m)
  \/ BeginSnapshotFetch(m) \/ AnswerFetchSnapshot(m) \/ LoadSnapshot(m)
  \/ AbandonSnapshot(m)
Hears(r) == \E m \in InFlight(messages) : m.to = r /\ Takes(m)
Fetches(r) == (\E other \in Replica : SendFetch(r, other)) \/ SendFetchSnapshot(r)
StandsUp(r) ==
  BecomeProspective(r) \/ (AllAnswered(r) /\ LosePreVote(r)) \/ LeaveResigned(r)
  \/ BecomeSoleLeader(r)
Asks(r) == \E other \in Replica : SendVoteRequest(r, other)
(* The heartbeat, to replicas that do not follow. *)
Tells(r) ==
  \E other \in Replica :
    (leader[other] # r \/ epoch[other] # epoch[r]) /\ SendBeginQuorumEpoch(r, other)
Flushes(r) == Flush(r)
Healing(r) == Hears(r) \/ Fetches(r) \/ StandsUp(r) \/ Asks(r) \/ Tells(r) \/ Flushes(r)

Stabilise == ~stable /\ stable' = TRUE /\ UNCHANGED vars
AnythingHappens == ~stable /\ Next /\ UNCHANGED stable
Heals(action) == stable /\ action /\ UNCHANGED stable

LiveInit == Init /\ stable = FALSE
LiveSettled == Settled /\ stable = FALSE
LiveNext == Stabilise \/ AnythingHappens \/ \E r \in Replica : Heals(Healing(r))

Fairness ==
  /\ WF_live_vars(Stabilise)
  /\ \A r \in Replica :
       /\ WF_live_vars(Heals(Hears(r)))
       /\ WF_live_vars(Heals(Fetches(r)))
       /\ WF_live_vars(Heals(StandsUp(r)))
       /\ WF_live_vars(Heals(Asks(r)))
       /\ WF_live_vars(Heals(Tells(r)))
       /\ WF_live_vars(Heals(Flushes(r)))

LiveSpec == LiveInit /\ [][LiveNext]_live_vars /\ Fairness
LiveSettledSpec == LiveSettled /\ [][LiveNext]_live_vars /\ Fairness

(* Once the faults are over, one replica leads and all others follow it,     *)
(* permanently.                                                              *)
(* Source: KIP-595.                                                          *)
(* Broken by: a pre-vote that no replica grants; a voter that forgot its     *)
(* leader and is not told again (KAFKA-16536).                               *)
AllFollow ==
  \E l \in Replica :
    /\ role[l] = "Leader"
    /\ \A r \in Replica \ {l} : role[r] = "Follower" /\ leader[r] = l /\ epoch[r] = epoch[l]
EventuallyLeaderLive == <>[]AllFollow

(* After that, the whole log of the leader becomes committed, and every      *)
(* replica has it and knows it.                                              *)
(* Source: KIP-595.                                                          *)
(* Broken by: a follower that diverges and is not told where.                *)
AllCommitted ==
  \E l \in Replica :
    role[l] = "Leader" /\ \A r \in Replica : high_watermark[r] = LogEnd(l) /\ LogEnd(r) = LogEnd(l)
EventuallyCommittedLive == <>[]AllCommitted

(* A replica that lacks records that the leader has only in a snapshot gets  *)
(* the snapshot.                                                             *)
(* Source: KIP-630.                                                          *)
(* Broken by: asking for ever for a snapshot that is gone.                   *)
Lags(r) ==
  \E l \in Replica : role[l] = "Leader" /\ LogEnd(r) < log_start[l]
LaggardGetsSnapshotLive ==
  \A r \in Replica : ((stable /\ Lags(r)) ~> ~Lags(r))

(* The left-hand sides of the liveness properties, reached when only         *)
(* recovery can still answer them.                                           *)
StableLeaderlessReach == stable /\ ~HasLeader
StableLaggardReach == stable /\ \E r \in Replica : Lags(r)
==============================================================================
