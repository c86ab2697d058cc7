--------------------------- MODULE KRaftProperties ---------------------------
(***************************************************************************)
(* What must be true of KRaft. Suffixes: Inv (every state), Prop (every    *)
(* step), Reach (must be possible). Properties of what holds eventually    *)
(* are in MCKRaftLive. Each comment says what the property means, where it *)
(* comes from, and what breaks it. A name in brackets is that of the       *)
(* invariant that Kafka's RaftEventSimulationTest checks on simulated      *)
(* runs.                                                                   *)
(***************************************************************************)
EXTENDS KRaft

IsPrefix(shorter, longer) ==
  /\ Len(shorter) <= Len(longer)
  /\ shorter = SubSeq(longer, 1, Len(shorter))

(* The records of r that survive a crash: a snapshot may hold more than the  *)
(* flushed part of the log.                                                  *)
DurableHistory(r) ==
  IF SnapshotsBeyond(r, flushed[r]) = {} THEN SubSeq(History(r), 1, flushed[r])
  ELSE LatestSnapshot(r).records

(* The replica for which r voted in its epoch. A leader has voted for        *)
(* itself.                                                                   *)
Ballot(r) == IF leader[r] = r THEN r ELSE voted[r]
------------------------------------------------------------------------------
(* Elections                                                                 *)

(* No two replicas of one epoch know different leaders. [SingleLeader]       *)
(* Source: Raft, Election Safety, applied to what each replica believes;     *)
(* Kafka looks at its highest epoch only.                                    *)
(* Broken by: a second vote; half of the votes.                              *)
ElectionSafetyInv ==
  \A r, s \in Replica :
    (epoch[r] = epoch[s] /\ leader[r] # Nil /\ leader[s] # Nil) => leader[r] = leader[s]

LeaderChanges(records) == {records[i] : i \in {j \in 1 .. Len(records) : records[j].kind = "LeaderChange"}}

(* No epoch ever has two leaders: it begins with the record of one leader.   *)
(* This also covers epochs that every replica has left, as long as their     *)
(* first records survive in some log.                                        *)
(* Source: Raft, Election Safety.                                            *)
(* Broken by: a leader that restarts as leader under an epoch that another   *)
(* replica has won.                                                          *)
OneLeaderPerEpochInv ==
  \A r, s \in Replica :
    \A a \in LeaderChanges(History(r)), b \in LeaderChanges(History(s)) :
      a.epoch = b.epoch => a = b

(* A vote in flight is in the voter's file, or its epoch is over. File,      *)
(* memory and answer change in one step here: this property detects a vote   *)
(* that was never written, but not a vote that was written after the answer. *)
(* Source: KIP-595, quorum-state.                                            *)
(* Broken by: granting without writing.                                      *)
VoteWrittenBeforeAnsweredInv ==
  \A m \in InFlight(messages) :
    (m.type = "VoteResponse" /\ m.granted /\ role[m.to] = "Candidate"
      /\ m.epoch = epoch[m.to]) =>
        epoch[m.from] > m.epoch \/ (epoch[m.from] = m.epoch /\ voted[m.from] = m.to)

(* A replica whose vote a candidate counts has voted for it in its epoch, or *)
(* is in a later epoch.                                                      *)
(* Source: KIP-996. Broken by: counting pre-votes as votes.                  *)
GrantedIsVotedInv ==
  \A r \in Replica : role[r] = "Candidate" =>
    \A s \in granted[r] \ {r} :
      epoch[s] > epoch[r] \/ (epoch[s] = epoch[r] /\ voted[s] = r)

(* The leader that a replica knows in its epoch leads that epoch, or led it  *)
(* and is in a later one.                                                    *)
(* Source: Raft, Election Safety.                                            *)
(* Broken by: naming oneself as leader, or following a replica that names    *)
(* another.                                                                  *)
KnownLeaderLeadsInv ==
  \A r \in Replica : leader[r] # Nil =>
    LET l == leader[r] IN epoch[l] > epoch[r] \/ (epoch[l] = epoch[r] /\ leader[l] = l)

(* The quorum-state file and the role match, and a role keeps in memory only *)
(* what belongs to it.                                                       *)
(* Source: Kafka, the EpochState classes.                                    *)
(* Broken by: a transition that leaves something of the last role.           *)
RoleMatchesStateInv ==
  \A r \in Replica :
    /\ role[r] \in {"Leader", "Resigned"} => leader[r] = r
    /\ role[r] = "Follower" => leader[r] \notin {Nil, r}
    /\ role[r] = "Candidate" => voted[r] = r /\ leader[r] = Nil
    /\ IF IsNominee(r) THEN r \in granted[r] /\ granted[r] \cap rejected[r] = {}
       ELSE granted[r] = {} /\ rejected[r] = {}
    /\ role[r] # "Follower" => ~has_fetched[r] /\ fetching_snapshot[r] = Nil
    /\ role[r] # "Leader" => end_offset[r] = NoEndOffsets

(* A replica that is not a voter neither stands nor leads.                   *)
(* Source: KIP-595, observers.                                               *)
(* Broken by: not checking for a voter on timeout (KAFKA-17067).             *)
OnlyVotersStandInv ==
  \A r \in Replica : role[r] \in {"Prospective", "Candidate", "Leader"} => IsVoter(r)

(* An epoch only grows. [MonotonicEpoch]                                     *)
(* Source: Raft, 5.1; Kafka, QuorumState.                                    *)
(* Broken by: starting with epoch 0 (KAFKA-15412).                           *)
MonotonicEpochProp == [][\A r \in Replica : epoch'[r] >= epoch[r]]_epoch

(* Within an epoch a replica votes once, and not after it knew the leader.   *)
(* Together with MonotonicEpochProp: at most one vote per replica and epoch, *)
(* ever.                                                                     *)
(* Source: Raft; KIP-595, quorum-state.                                      *)
(* Broken by: losing the vote on the way back from a pre-vote (KAFKA-17642), *)
(* or giving another one.                                                    *)
VoteOncePerEpochProp ==
  [][\A r \in Replica :
       (epoch'[r] = epoch[r] /\ (Ballot(r) # Nil \/ leader[r] # Nil)) =>
         Ballot(r)' = Ballot(r)]_quorum_state

(* A new epoch begins without a vote, unless the replica stands in it or     *)
(* votes in this step: what an older epoch's vote was for counts no more.    *)
(* Source: KIP-595, quorum-state; KIP-996: a pre-vote is no vote.            *)
(* Broken by: following into a new epoch with the vote of the old one; a     *)
(* pre-vote that is written as a vote.                                       *)
NewEpochForgetsVoteProp ==
  [][\A r \in Replica :
       epoch'[r] > epoch[r] =>
         \/ voted'[r] = Nil
         \/ voted'[r] = r /\ role'[r] = "Candidate"
         \/ \E m \in InFlight(messages) :
              /\ m.type = "VoteRequest" /\ ~m.pre_vote
              /\ m.from = voted'[r] /\ m.to = r /\ m.epoch = epoch'[r]]_epoch

(* r starts, however it ended. KRaftSteps has more ways to start.            *)
Restarts(r) == Restart(r) \/ CrashLosingTail(r)

(* Within an epoch a replica does not forget its leader. The exception is a  *)
(* replica that had voted for itself in that epoch: it may forget the        *)
(* leader, and only by a restart, since it has no other vote to give.        *)
(* Source: KAFKA-16529.                                                      *)
(* Broken by: going back to Unattached from a pre-vote as if no leader were  *)
(* known (KAFKA-16529).                                                      *)
LeaderRememberedProp ==
  [][\A r \in Replica :
       (epoch'[r] = epoch[r] /\ leader[r] # Nil /\ leader'[r] # leader[r]) =>
         voted[r] = r /\ role'[r] = "Candidate" /\ Restarts(r)]_quorum_state

(* The role changes that are allowed within an epoch and into a higher one.  *)
(* RestartProp covers restarts.                                              *)
(* Source: Kafka, the table in QuorumState.                                  *)
(* Broken by: a candidate without pre-vote; a leader that resigns into       *)
(* following.                                                                *)
SameEpoch ==
  {<<"Unattached", "Unattached">>, <<"Unattached", "Prospective">>,
   <<"Unattached", "Follower">>, <<"Prospective", "Prospective">>,
   <<"Prospective", "Unattached">>, <<"Prospective", "Follower">>,
   <<"Candidate", "Prospective">>, <<"Candidate", "Leader">>,
   <<"Candidate", "Follower">>, <<"Candidate", "Candidate">>,
   <<"Leader", "Leader">>, <<"Leader", "Resigned">>,
   <<"Follower", "Follower">>, <<"Follower", "Prospective">>,
   <<"Resigned", "Resigned">>}
HigherEpoch ==
  (Role \X {"Unattached", "Follower"}) \cup {<<"Prospective", "Candidate">>}
SoleVoter == (Role \ {"Leader"}) \X {"Leader"}
StateTransitionsProp ==
  [][\A r \in Replica :
       LET move == <<role[r], role'[r]>> IN
       \/ move \in IF epoch'[r] = epoch[r] THEN SameEpoch ELSE HigherEpoch
       \/ move \in SoleVoter /\ Voters(r) = {r} /\ epoch'[r] = epoch[r] + 1
       \/ Restarts(r)]_<<epoch, role>>

(* A replica that becomes leader has no record of that epoch yet: it begins  *)
(* the epoch.                                                                *)
(* Source: Raft; KafkaRaftClient.onBecomeLeader.                             *)
(* Broken by: a sole voter that starts and keeps leading in the epoch that   *)
(* it led.                                                                   *)
LeaderBeginsEpochProp ==
  [][\A r \in Replica :
       (role'[r] = "Leader" /\ role[r] # "Leader") => LastEpoch(r) < epoch'[r]]_role

(* The role of a replica after a start follows from its file: never a        *)
(* leader; Resigned if it led; a candidate if it voted for itself; a         *)
(* follower only of the leader that the file names, if that leader is a      *)
(* voter.                                                                    *)
(* Source: KAFKA-10527, KAFKA-10661; QuorumState.initialize.                 *)
(* Broken by: starting as a leader (KAFKA-10527), or unattached              *)
(* (KAFKA-10661); forgetting that it voted for itself.                       *)
FollowsFromFile(r) ==
  /\ role'[r] \notin {"Leader", "Prospective"}
  /\ leader[r] = r => role'[r] = "Resigned"
  /\ (leader[r] # r /\ voted[r] = r) => role'[r] = "Candidate"
  /\ role'[r] = "Follower" =>
       leader'[r] = leader[r] /\ leader[r] \notin {Nil, r}
  /\ (leader'[r] \notin {Nil, r} /\ leader'[r] \in Voters(r)') => role'[r] = "Follower"
(* Restarts(r) is evaluated last, since it costs most.                       *)
RestartProp == [][\A r \in Replica : FollowsFromFile(r) \/ ~Restarts(r)]_vars

(* No message in flight would make its receiver throw an exception: a second *)
(* leader of its epoch, a diverging end below its high watermark, a snapshot *)
(* of records that it has, a snapshot that it does not fetch, a smaller high *)
(* watermark. Kafka's process dies of these. Here no action takes such a     *)
(* message, except for a smaller high watermark, which changes nothing.      *)
(* Source: Kafka, the IllegalStateExceptions of KafkaRaftClient.             *)
(* Broken by: anything that elects two leaders, or forgets a committed       *)
(* record; a snapshot in place of the one that was asked for.                *)
LowersHighWatermark(m) ==
  /\ m.type = "FetchResponse"
  /\ FromLeader(m)
  /\ m.diverging = Nil
  /\ m.snapshot_id = Nil
  /\ m.high_watermark # NoOffset
  /\ Min(m.high_watermark, LogEnd(m.to) + Len(m.records)) < high_watermark[m.to]
NoIllegalStateInv ==
  \A m \in InFlight(messages) :
    /\ ~OtherLeader(m)
    /\ ~TruncatesCommitted(m)
    /\ ~LoadsOldSnapshot(m)
    /\ ~IsOfOtherSnapshot(m)
    /\ ~LowersHighWatermark(m)

(* A follower that has heard from its leader grants no vote and no pre-vote  *)
(* in its epoch, so a replica that is cut off from that leader cannot depose *)
(* it.                                                                       *)
(* Source: Kafka, FollowerState.canGrantVote.                                *)
(* Broken by: asking whether the follower awaits an answer, and not whether  *)
(* it has heard from its leader.                                             *)
FollowerGrantsNothingProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "VoteResponse" /\ m.granted /\ m.epoch = epoch[m.from]) =>
         ~(role[m.from] = "Follower" /\ has_fetched[m.from])]_messages

(* A vote or pre-vote is granted only to a replica whose log is up to date,  *)
(* except for a vote that is repeated. So a replica whose log is behind that *)
(* of a majority does not win a pre-vote, and does not raise the epoch.      *)
(* Source: Raft, 5.4.1; Kafka, canGrantVote of the EpochStates.              *)
(* Broken by: a pre-vote without a look at the log of the replica that asks. *)
GrantedIsUpToDateProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "VoteResponse" /\ m.granted) =>
         \E request \in InFlight(messages) :
           /\ request.type = "VoteRequest"
           /\ request.from = m.to /\ request.to = m.from /\ request.epoch = m.epoch
           /\ \/ IsUpToDate(m.from, request)
              \/ /\ ~request.pre_vote
                 /\ epoch[m.from] = m.epoch /\ voted[m.from] = m.to]_messages

(* A replica awaits at most one answer from each other replica.              *)
(* Source: Kafka, RequestManager.                                            *)
(* Broken by: sending without waiting.                                       *)
OneRequestPerConnectionInv ==
  \A r, other \in Replica :
    LET exchanges == {m \in InFlight(messages) :
                        \/ IsRequest(m) /\ m.awaited /\ m.from = r /\ m.to = other
                        \/ ~IsRequest(m) /\ m.to = r /\ m.from = other}
    IN  Cardinality(exchanges) <= 1 /\ \A m \in exchanges : messages[m] = 1

(* No replica sends a message to itself.                                     *)
(* Source: Kafka, the remote voters of KafkaRaftClient.                      *)
(* Broken by: telling, or asking, every voter.                               *)
NobodyAsksItselfInv == \A m \in InFlight(messages) : m.from # m.to

(* If requests arrive in order, the sender of each request awaits its        *)
(* answer.                                                                   *)
(* Source: Kafka, RequestManager.                                            *)
(* Broken by: a sender that does not wait.                                   *)
AwaitedInOrderInv ==
  Reorder \/ \A m \in InFlight(messages) : IsRequest(m) => m.awaited

(* Every change of role or epoch closes all connections: a replica no longer *)
(* awaits answers to what it asked in another role.                          *)
(* Source: Kafka, RequestManager.resetAll.                                   *)
(* Broken by: standing for election without closing them.                    *)
IsOfConnection(m, r) == IF IsRequest(m) THEN m.awaited /\ m.from = r ELSE m.to = r
NewRoleDisconnectsProp ==
  [][\A r \in Replica :
       <<epoch[r], role[r]>>' # <<epoch[r], role[r]>> =>
         \A m \in InFlight(messages) : IsOfConnection(m, r) => m \notin InFlight(messages')]_<<epoch, role>>

(* An answer says how the epoch of its request compares to the epoch of the  *)
(* replica that answered, and no answer to a vote request names an epoch     *)
(* that its sender has not reached. The sender of the request is still in    *)
(* that epoch, or else it would no longer await the answer.                  *)
(* Source: Kafka, KafkaRaftClient.validateVoterOnlyRequest,                  *)
(* validateLeaderOnlyRequest.                                                *)
(* Broken by: an error in place of another; a vote granted with a refusal; a *)
(* replica that refuses a vote and stays in its older epoch.                 *)
AnswerFitsEpochInv ==
  \A m \in InFlight(messages) :
    CASE m.type = "VoteResponse" ->
           m.epoch \in epoch[m.to] .. epoch[m.from] /\ (m.granted => m.epoch = epoch[m.to])
      [] m.type \in {"BeginQuorumEpochResponse", "EndQuorumEpochResponse"} ->
           m.epoch > epoch[m.to]
      [] m.type \in {"FetchResponse", "FetchSnapshotResponse"} ->
           CASE m.error = "FENCED_LEADER_EPOCH" -> m.epoch > epoch[m.to]
             [] m.error = "UNKNOWN_LEADER_EPOCH" -> m.epoch < epoch[m.to]
             [] OTHER -> m.epoch = epoch[m.to]
      [] OTHER -> TRUE
------------------------------------------------------------------------------
(* Logs                                                                      *)

(* If two logs have a record of the same epoch at one offset, they are       *)
(* identical up to that offset.                                              *)
(* Source: Raft, Log Matching.                                               *)
(* Broken by: appending after a fetch without comparing; a leader that       *)
(* restarts as leader (KAFKA-10527).                                         *)
LogMatchingInv ==
  \A r, s \in Replica :
    LET a == History(r)  b == History(s) IN
    \A i \in 1 .. Min(Len(a), Len(b)) :
      a[i].epoch = b[i].epoch => SubSeq(a, 1, i) = SubSeq(b, 1, i)

(* Epochs ascend along a log, and none is newer than its replica's own       *)
(* epoch. So Kafka's rule for a quorum-state file older than the log never   *)
(* applies.                                                                  *)
(* Source: Kafka, KafkaRaftClient.appendBatch, in the epoch of the leader.   *)
(* Broken by: appending under an old epoch (KAFKA-12333).                    *)
EpochsAscendInv ==
  \A r \in Replica :
    /\ \A i, j \in 1 .. Len(History(r)) : i <= j => History(r)[i].epoch <= History(r)[j].epoch
    /\ LastEpoch(r) <= epoch[r]

(* Every voter has flushed its log to its end, except a leader that has just *)
(* appended. A broker does not flush, and loses what it fetched in a crash.  *)
(* Source: Kafka, KafkaRaftClient.appendAsFollower, flushLeaderLog.          *)
(* Broken by: a follower that does not flush (KAFKA-10533); a replica that   *)
(* flushes only once it is a voter (KAFKA-17332).                            *)
OnlyLeaderOwesFlushInv ==
  \A r \in Replica :
    /\ flushed[r] <= LogEnd(r)
    /\ flushed[r] # LogEnd(r) => role[r] = "Leader" \/ ~IsVoter(r)

(* The position that a leader has noted of a voter of its epoch is on that   *)
(* voter's disk, and the voter's log up to there is a prefix of the leader's *)
(* own log.                                                                  *)
(* Source: KIP-595, Fetch.                                                   *)
(* Broken by: noting the position of a fetch that diverges (KAFKA-13141); a  *)
(* follower that does not flush (KAFKA-10533); a replica that flushes only   *)
(* once it is a voter (KAFKA-17332).                                         *)
NotedIsDurableInv ==
  \A l, r \in Replica :
    (role[l] = "Leader" /\ end_offset[l][r] # NoOffset /\ epoch[r] = epoch[l]
      /\ r \in Voters(l)) =>
      /\ end_offset[l][r] <= flushed[r]
      /\ end_offset[l][r] <= LogEnd(l)
      /\ SubSeq(History(r), 1, end_offset[l][r]) = SubSeq(History(l), 1, end_offset[l][r])

(* A leader notes a position only from a fetch of its epoch that names it,   *)
(* and that it answers with neither a snapshot id nor a diverging epoch.     *)
(* Source: KIP-595, Fetch; Kafka, KafkaRaftClient.tryCompleteFetchRequest,   *)
(* LeaderState.updateReplicaState.                                           *)
(* Broken by: noting the position of a fetch that is answered with a         *)
(* snapshot; a fetch of an older epoch.                                      *)
NotedIsAskedProp ==
  [][\A l, r \in Replica :
       (role'[l] = "Leader" /\ end_offset'[l][r] \notin {NoOffset, end_offset[l][r]}) =>
         \E m \in InFlight(messages) :
           /\ m.type = "FetchRequest" /\ m.from = r /\ m.to = l
           /\ m.epoch = epoch[l] /\ m.offset = end_offset'[l][r]
           /\ ~NeedsSnapshot(l, m) /\ ~Diverges(l, m)]_end_offset

(* A leader only appends to its log.                                         *)
(* Source: Raft, Leader Append-Only. Broken by: a leader that truncates.     *)
LeaderAppendOnlyProp ==
  [][\A r \in Replica :
       (role[r] = "Leader" /\ role'[r] = "Leader") =>
         IsPrefix(History(r), History(r)')]_<<log, log_start, snapshots>>

(* The permitted changes of a log. A leader appends one record of its epoch. *)
(* A follower appends records after its own, cuts off records that are not   *)
(* committed, or takes a snapshot that goes further. A crash loses what was  *)
(* not flushed. Cleaning the log does not change History.                    *)
(* Source: Kafka, the methods of ReplicatedLog.                              *)
(* Broken by: any other change.                                              *)
PermittedLogChangesProp ==
  [][\A r \in Replica :
       LET old == History(r)  new == History(r)' IN
       \/ new = old
       \/ /\ role'[r] = "Leader"
          /\ Len(new) = Len(old) + 1
          /\ IsPrefix(old, new)
          /\ new[Len(new)].epoch = epoch'[r]
       \/ /\ role[r] = "Follower"
          /\ role'[r] = "Follower"
          /\ \/ IsPrefix(old, new)
             \/ IsPrefix(new, old) /\ Len(new) >= high_watermark[r]
             \/ log'[r] = << >> /\ Len(new) = log_start'[r] /\ new = SubSeq(committed, 1, Len(new))
       \/ /\ CrashLosingTail(r)
          /\ new = DurableHistory(r)]_<<log, log_start, snapshots>>
------------------------------------------------------------------------------
(* What is committed                                                         *)

(* The records of every replica below its high watermark are the committed   *)
(* ones. So no two replicas disagree. [ConsistentCommittedData]              *)
(* Source: Raft, State Machine Safety.                                       *)
(* Broken by: anything that commits a record that is not on a majority, or   *)
(* elects a leader without it.                                               *)
StateMachineSafetyInv ==
  \A r \in Replica :
    /\ high_watermark[r] <= Len(committed)
    /\ SubSeq(History(r), 1, high_watermark[r]) = SubSeq(committed, 1, high_watermark[r])

(* The epoch of the last committed record. *)
LastCommittedEpoch == IF committed = << >> THEN 0 ELSE committed[Len(committed)].epoch

(* A leader has all committed records, unless a later leader has committed   *)
(* since: then no replica accepts what the old leader sends.                 *)
(* Source: Raft, Leader Completeness.                                        *)
(* Broken by: voting for a worse log; committing records of an old epoch by  *)
(* counting (KAFKA-12619).                                                   *)
LeaderCompletenessInv ==
  \A r \in Replica :
    (role[r] = "Leader" /\ epoch[r] >= LastCommittedEpoch) =>
      IsPrefix(committed, History(r))

(* Committed records are on the disks of a majority.                         *)
(* [MajorityReachedHighWatermark], which looks at the ends of logs and does  *)
(* not require the flush.                                                    *)
(* Source: KIP-595, high watermark.                                          *)
(* Broken by: counting an observer (KAFKA-16530); half of the voters; no     *)
(* flush (KAFKA-10533); a sole voter, as built:                              *)
(* broken/raft/SoleVoterLosesCommitted.cfg.                                  *)
CommittedOnMajorityInv ==
  LET voters == VotersOf(committed) IN
  2 * Cardinality({v \in voters : IsPrefix(committed, DurableHistory(v))}) > Cardinality(voters)

(* A high watermark lies within its log, or is unknown.                      *)
(* Source: Kafka, ReplicatedLog.                                             *)
(* Broken by: adopting a leader's high watermark unchanged.                  *)
HighWatermarkWithinLogInv ==
  \A r \in Replica : high_watermark[r] \in {NoOffset} \cup (log_start[r] .. LogEnd(r))

(* The high watermark of a leader is at least every offset in its own epoch  *)
(* that a majority of its voters has reached, as far as the leader knows.    *)
(* Source: KIP-595, high watermark.                                          *)
(* Broken by: taking the first offset that a majority has reached, not the   *)
(* last.                                                                     *)
HighWatermarkIsUpToDateInv ==
  \A l \in Replica : role[l] = "Leader" =>
    \A end \in EpochStart(l) + 1 .. LogEnd(l) :
      IsMajority(l, {v \in Replica : v = l \/ end_offset[l][v] >= end}) =>
        high_watermark[l] >= end

(* No log is truncated below the high watermark of its replica. A crash may  *)
(* take committed records of a broker, which had not flushed them.           *)
(* Source: Kafka, KafkaMetadataLog.truncateTo.                               *)
(* Broken by: trusting a leader that diverges there.                         *)
NoTruncationBelowHighWatermarkProp ==
  [][\A r \in Replica :
       \/ LogEnd(r)' >= high_watermark[r]
       \/ ~IsVoter(r) /\ Restarts(r)]_<<log, log_start>>

(* A replica's high watermark never goes back while the replica runs, except *)
(* that a new leader forgets it. Kafka's leader forgets it as soon as it     *)
(* resigns; here it does not (docs/not-modelled.md).                         *)
(* Source: Kafka, FollowerState and LeaderState.updateHighWatermark.         *)
(* Broken by: adopting a smaller one.                                        *)
HighWatermarkMonotonicProp ==
  [][\A r \in Replica :
       high_watermark'[r] < high_watermark[r] =>
         \/ role'[r] = "Leader" /\ role[r] # "Leader"
         \/ Restarts(r)]_high_watermark

(* An answer with records tells the high watermark that the leader has after *)
(* it noted the fetch, which may raise it.                                   *)
(* Source: KIP-595, Fetch; Kafka, KafkaRaftClient.tryCompleteFetchRequest.   *)
(* Broken by: an answer that tells the high watermark from before the fetch. *)
ToldHighWatermarkProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "FetchResponse" /\ m.error = "NONE"
         /\ m.diverging = Nil /\ m.snapshot_id = Nil) =>
         m.high_watermark = high_watermark'[m.from]]_messages

(* A new leader knows no high watermark until its own epoch confirms it.     *)
(* Source: Kafka, QuorumState.transitionToLeader.                            *)
(* Broken by: keeping the high watermark that it had as a follower.          *)
NewLeaderForgetsHighWatermarkProp ==
  [][\A r \in Replica :
       (role'[r] = "Leader" /\ role[r] # "Leader") =>
         \/ high_watermark'[r] = NoOffset
         \/ Voters(r) = {r} /\ high_watermark'[r] = LogEnd(r)']_role

(* Committed records stay. A leader that raises its high watermark, in an    *)
(* epoch no older than the last committed record's, has a log that extends   *)
(* the committed records. [MonotonicHighWatermark]                           *)
(* Source: KIP-595, high watermark.                                          *)
(* Broken by: voting for a worse log.                                        *)
CommittedOnlyGrowsProp ==
  [][/\ IsPrefix(committed, committed')
     /\ \A r \in Replica :
          (/\ role'[r] = "Leader"
           /\ high_watermark'[r] > high_watermark[r]
           /\ epoch'[r] >= LastCommittedEpoch) =>
             IsPrefix(committed, SubSeq(History(r), 1, high_watermark[r])')]_commit

(* A leader commits nothing before a record of its own epoch.                *)
(* Source: Raft, 5.4.2; KAFKA-12619.                                         *)
(* Broken by: an epoch that counts from the offset of its first record, and  *)
(* not from the offset after it (KAFKA-12619).                               *)
NeverCommitOldEpochDirectlyProp ==
  [][\A r \in Replica :
       (role'[r] = "Leader" /\ high_watermark'[r] > high_watermark[r]) =>
         EpochBefore(r, high_watermark[r])' = epoch'[r]]_high_watermark
------------------------------------------------------------------------------
(* Snapshots                                                                 *)

(* A log that does not begin at 0 begins at a snapshot, and no snapshot is   *)
(* older. [SnapshotAtLogStart]                                               *)
(* Source: Kafka, KafkaMetadataLog.deleteBeforeSnapshot.                     *)
(* Broken by: deleting the log by its age (KAFKA-14238); deleting a snapshot *)
(* too early (KAFKA-12964).                                                  *)
SnapshotAtLogStartInv ==
  \A r \in Replica :
    /\ \A s \in snapshots[r] : s.end_offset >= log_start[r]
    /\ log_start[r] > 0 => \E s \in snapshots[r] : s.end_offset = log_start[r]

(* A log reaches as far as each of its snapshots: one that was cut off in a  *)
(* crash begins anew after its latest snapshot.                              *)
(* Source: KafkaMetadataLog.truncateToLatestSnapshot.                        *)
(* Broken by: a start that leaves the end of the log before a snapshot; a    *)
(* load that leaves the old log as it was.                                   *)
SnapshotWithinLogInv ==
  \A r \in Replica : SnapshotsBeyond(r, LogEnd(r)) = {}

(* A snapshot holds committed records only, and its id identifies them.      *)
(* Source: Kafka, KafkaMetadataLog.createNewSnapshot.                        *)
(* Broken by: a snapshot beyond the high watermark; an id that is one off    *)
(* (KAFKA-14618).                                                            *)
SnapshotCommittedInv ==
  \A r \in Replica : \A s \in snapshots[r] :
    /\ Len(s.records) = s.end_offset
    /\ IsPrefix(s.records, committed)
    /\ s.records[s.end_offset].epoch = s.epoch

(* The snapshot id that a follower is given identifies committed records.    *)
(* Source: Kafka, ReplicatedLog.validateOffsetAndEpoch.                      *)
(* Broken by: an id with another epoch (KAFKA-14618).                        *)
SnapshotIds ==
  {fetching_snapshot[r] : r \in Replica}
  \cup {m.snapshot_id : m \in {n \in InFlight(messages) : n.type = "FetchResponse"}}
SnapshotIdCommittedInv ==
  \A id \in SnapshotIds \ {Nil} :
    id.end_offset \in 1 .. Len(committed) /\ committed[id.end_offset].epoch = id.epoch

(* A follower that loads a snapshot continues until it has it, until the     *)
(* leader no longer has it, or until it is told of a newer one (which can    *)
(* happen to an observer that asks). The load also ends with the follower's  *)
(* role, epoch or process.                                                   *)
(* Source: Kafka, FollowerState.setFetchingSnapshot.                         *)
(* Broken by: giving up the load on the answer that brings the snapshot.     *)
SnapshotFetchEndsProp ==
  [][\A r \in Replica :
       LET id == fetching_snapshot[r] IN
       (id # Nil /\ fetching_snapshot'[r] # id) =>
         \/ log_start'[r] = id.end_offset
         \/ fetching_snapshot'[r] # Nil /\ fetching_snapshot'[r].end_offset > id.end_offset
         \/ \A s \in snapshots[leader[r]] : IdOf(s) # id
         \/ role'[r] # "Follower" \/ epoch'[r] # epoch[r] \/ Restarts(r)]_fetching_snapshot

(* A leader never starts from the snapshot of another replica; its log       *)
(* begins where one of its own snapshots ends. [LeaderNeverLoadSnapshot]     *)
(* Source: KAFKA-12958.                                                      *)
(* Broken by: a leader that loads a snapshot that it was sent.               *)
LeaderNeverLoadsSnapshotProp ==
  [][\A r \in Replica :
       (role'[r] = "Leader" /\ log_start'[r] # log_start[r]) =>
         role[r] = "Leader" /\ \E s \in snapshots[r] : s.end_offset = log_start'[r]]_log_start
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* Two replicas lead, and the older leader does not know it. *)
StaleLeaderReach ==
  \E r, s \in Replica : role[r] = "Leader" /\ role[s] = "Leader" /\ epoch[r] < epoch[s]

(* A leader that was replaced is told so. *)
StaleLeaderToldReach ==
  \E m \in InFlight(messages) :
    /\ ~IsRequest(m)
    /\ role[m.to] = "Leader"
    /\ m.epoch > epoch[m.to]

(* A follower's log diverges from the leader's before its end. *)
DivergingReach ==
  \E m \in InFlight(messages) : m.type = "FetchResponse" /\ m.diverging # Nil

(* Records of an older epoch are on a majority, and must not count. *)
OldEpochOnMajorityReach ==
  \E r \in Replica :
    /\ role[r] = "Leader"
    /\ LET offset == MajorityOffset(Voters(r), [end_offset[r] EXCEPT ![r] = LogEnd(r)])
       IN  offset > Len(committed) /\ offset <= EpochStart(r)

(* A record of an older epoch is committed together with the leader's own.   *)
OldEpochCommittedReach ==
  \E r \in Replica :
    /\ role[r] = "Leader"
    /\ high_watermark[r] = EpochStart(r) + 1
    /\ EpochStart(r) > 1
    /\ \E s \in Replica : high_watermark[s] \in 0 .. (EpochStart(r) - 1) /\ role[s] = "Follower"

(* One replica led twice. *)
LedTwiceReach ==
  \E r \in Replica : \E a, b \in LeaderChanges(History(r)) : a # b /\ a.value = b.value

(* A leader stepped down, and another leads. *)
ResignedSucceededReach ==
  \E r, s \in Replica : role[r] = "Resigned" /\ role[s] = "Leader" /\ epoch[s] > epoch[r]

(* A pre-vote was refused. *)
PreVoteRefusedReach == \E r \in Replica : role[r] = "Prospective" /\ rejected[r] # {}

(* A prospective voter voted for another in its epoch. *)
ProspectiveVotedReach ==
  \E r \in Replica : role[r] = "Prospective" /\ voted[r] \notin {Nil, r}

(* A replica that followed this epoch's leader is again a candidate in this  *)
(* epoch.                                                                    *)
LeaderForgottenReach ==
  \E r, s \in Replica :
    /\ role[r] = "Candidate"
    /\ role[s] = "Leader"
    /\ epoch[s] = epoch[r]
    /\ end_offset[s][r] # NoOffset

(* A former leader lost records that a follower has. *)
UnflushedTailLostReach ==
  \E r, s \in Replica :
    /\ role[r] = "Resigned"
    /\ epoch[s] = epoch[r]
    /\ LastEpoch(s) = epoch[r]
    /\ LogEnd(s) > LogEnd(r)

(* A follower begins with a snapshot from its leader. *)
SnapshotLoadedReach ==
  \E r \in Replica :
    role[r] = "Follower" /\ has_fetched[r] /\ log_start[r] > 0 /\ LogEnd(r) = log_start[r]

(* A follower has records after the snapshot it loaded. *)
FetchedBehindSnapshotReach ==
  \E r \in Replica : role[r] = "Follower" /\ log_start[r] > 0 /\ LogEnd(r) > log_start[r]

(* A snapshot that a follower was told to load is gone. *)
SnapshotGoneReach ==
  \E m \in InFlight(messages) :
    m.type = "FetchSnapshotResponse" /\ m.error = "SNAPSHOT_NOT_FOUND"

(* An observer has all committed records, and the leader knows it. *)
ObserverCaughtUpReach ==
  \E l, r \in Replica :
    /\ role[l] = "Leader"
    /\ r \notin Voters(l)
    /\ end_offset[l][r] = Len(committed)
    /\ Len(committed) > 1

(* A broker has lost records in a crash, and the leader still counts them as *)
(* the broker's.                                                             *)
BrokerLostTailReach ==
  \E l, r \in Replica :
    /\ role[l] = "Leader"
    /\ r \notin Voters(l)
    /\ epoch[r] = epoch[l]
    /\ LogEnd(r) < end_offset[l][r]

(* A broker has lost records in a crash that its own snapshot covers, and    *)
(* begins anew after that snapshot.                                          *)
BeginsAnewReach ==
  \E r \in Replica :
    /\ log[r] = << >>
    /\ high_watermark[r] = NoOffset
    /\ log_start[r] > 0

(* An observer found the leader by asking. *)
ObserverToldReach ==
  \E m \in InFlight(messages) :
    /\ ~IsRequest(m)
    /\ m.to \notin Voters(m.to)
    /\ leader[m.to] = Nil
    /\ m.leader # Nil

(* A request arrives after its sender has given up on it. *)
LateRequestReach ==
  \E m \in InFlight(messages) : IsRequest(m) /\ ~m.awaited /\ Waiting(m.from, m.to)
==============================================================================
