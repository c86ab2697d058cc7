----------------------------- MODULE KRaftSteps -----------------------------
(***************************************************************************)
(* The steps of KRaft as an implementation takes them: those of KRaft and  *)
(* KRaftVoters, and the steps that these leave out because fewer steps say *)
(* the same. These are a fetch that waits at the leader, a batch of        *)
(* records, a crash that keeps part of what was not flushed, and a request *)
(* that reaches the wrong disk. This module adds no variable and changes   *)
(* nothing in KRaft; the models check KRaft's properties on these steps    *)
(* too.                                                                    *)
(*                                                                         *)
(* To judge an implementation step by step, each of its steps must be one  *)
(* action with parameters; docs/internals/raft-lockstep.md has the table.  *)
(*                                                                         *)
(* Kafka's handler -> actions here (KafkaRaftClient where no class is      *)
(* given)                                                                  *)
(*   handleFetchRequest, fetchPurgatory -> ParkFetch                       *)
(*   ThresholdPurgatory.maybeComplete -> AnswerParkedFetch                 *)
(*   LeaderState.clearInactiveObservers -> ForgetObserver                  *)
(*   maybeHandleCommonResponse, handleFetchResponse -> FollowAndFetch      *)
(*   prospectiveTransitionAfterElectionLoss -> LosePreVoteByName           *)
(*   appendBatch, BatchAccumulator.drain -> AppendBatch                    *)
(*   LeaderState.appendStartOfEpochControlRecords -> LeadWithVoters, which *)
(*     models put in place of Lead (KRaftElection)                         *)
(*   pollResigned, maybeSendEndQuorumEpochRequests -> SendEndQuorumEpoch   *)
(*   LogLoader.recoverLog, initialize -> StartAgain                        *)
(*   appendAsFollower, LogLoader.recoverLog -> CrashAppending              *)
(*   UnifiedLog.truncateTo, LogLoader.recoverLog -> CrashTruncating        *)
(*   isIllegalEpoch, validateLeaderOnlyRequest -> AnswerOtherwise          *)
(*   handleVoteRequest, handleBeginQuorumEpochRequest -> MeetOtherDisk     *)
(*   validateLeaderOnlyRequest, validateVoterOnlyRequest ->                *)
(*     ReachOtherDisk                                                      *)
(*   the network -> LoseMessage                                            *)
(*                                                                         *)
(* What is not modelled (docs/not-modelled.md has the full list)           *)
(*  - Time: any timer may expire, any fetch may be held, and any observer  *)
(*    may be forgotten.                                                    *)
(*  - The pieces of a snapshot. Endpoints: any leader may have moved.      *)
(*  - Whether an error without further content was right: any request may  *)
(*    get one.                                                             *)
(***************************************************************************)
EXTENDS KRaftVoters

CONSTANT VersionValue  \* The kraft.version record. It is plain data, since nothing here reads it.

ASSUME VersionConstant == VersionValue \in Value

------------------------------------------------------------------------------
(* Fetches that wait                                                         *)

(***************************************************************************)
(* A fetch asks for the records after the end of the leader's log. The     *)
(* leader notes its position as for any fetch, and the request waits at    *)
(* the leader; for all other replicas it is still in flight.               *)
(* AnswerParkedFetch ends the wait, with records, or without if the wait   *)
(* is over. If the leader no longer leads by then, RefuseFetch and         *)
(* FenceRequest end it.                                                    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchRequest, fetchPurgatory.              *)
(***************************************************************************)
ParkFetch(m) ==
  LET r == m.to
      ends == [end_offset[r] EXCEPT ![m.from] = m.offset]
  IN
  /\ IsFetchOfEpoch(m)
  /\ Idle(r)
  /\ ~NeedsSnapshot(r, m)
  /\ ~Diverges(r, m)
  /\ m.offset = LogEnd(r)
  /\ end_offset' = [end_offset EXCEPT ![r] = ends]
  /\ UpdateHighWatermark(r, high_watermark[r], EpochStart(r), History(r), ends)
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, messages>>

(***************************************************************************)
(* A fetch that waited is answered as in AnswerFetch. But the leader noted *)
(* its position when the fetch arrived, and may have noted another         *)
(* position of its sender since. And the answer does not wait for the      *)
(* flush.                                                                  *)
(*                                                                         *)
(* Kafka: ThresholdPurgatory.maybeComplete.                                *)
(***************************************************************************)
AnswerParkedFetch(m, end) ==
  LET r == m.to IN
  /\ IsFetchOfEpoch(m)
  /\ ~NeedsSnapshot(r, m)
  /\ ~Diverges(r, m)
  /\ end \in ReadEnds(r, m.offset)
  /\ LogEnd(r) > m.offset => end > m.offset
  /\ messages' = Reply(m, [FetchAnswer(m, "NONE") EXCEPT
                             !.records = Records(r, m.offset, end),
                             !.high_watermark = high_watermark[r]])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* A leader has not heard from an observer for a long time, and forgets    *)
(* what it knew about it.                                                  *)
(*                                                                         *)
(* Kafka: LeaderState.clearInactiveObservers.                              *)
(***************************************************************************)
ForgetObserver(l, r) ==
  /\ role[l] = "Leader"
  /\ r \notin Voters(l)
  /\ end_offset[l][r] # NoOffset
  /\ end_offset' = [end_offset EXCEPT ![l][r] = NoOffset]
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, commit, messages>>

(***************************************************************************)
(* A replica that knew no leader sent a fetch to a leader, and that leader *)
(* answers. The replica follows it and takes the records in one step.      *)
(* DiscoverEpoch would drop the records, and the replica would fetch       *)
(* again.                                                                  *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeHandleCommonResponse, handleFetchResponse.  *)
(***************************************************************************)
FollowAndFetch(m) ==
  LET r == m.to
      end == LogEnd(r) + Len(m.records)
      cut == TruncationPoint(r, m.diverging)
  IN
  /\ m.type = "FetchResponse"
  /\ Idle(r)
  /\ LearnsLeader(m)
  /\ leader[r] = Nil
  /\ m.leader = m.from
  /\ m.error = "NONE"
  /\ WriteQuorumState(r, epoch[r], m.leader, voted[r])
  /\ role' = [role EXCEPT ![r] = "Follower"]
  /\ NoElection(r) /\ NoLeading(r)
  /\ has_fetched' = [has_fetched EXCEPT ![r] = TRUE]
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![r] = m.snapshot_id]
  /\ CASE m.diverging # Nil ->
            /\ m.diverging.end_offset >= high_watermark[r]
            /\ log' = [log EXCEPT ![r] = Records(r, log_start[r], cut)]
            /\ flushed' = [flushed EXCEPT ![r] = cut]
            /\ UNCHANGED high_watermark
       [] m.snapshot_id # Nil -> UNCHANGED <<log, flushed, high_watermark>>
       [] OTHER ->
            /\ log' = [log EXCEPT ![r] = @ \o m.records]
            /\ flushed' = [flushed EXCEPT ![r] = FlushedFetching(r, end)]
            /\ high_watermark' = [high_watermark EXCEPT ![r] = HighWatermarkFrom(r, m, end)]
  /\ messages' = Unawaited(Take(messages, m), r, Replica)
  /\ UNCHANGED <<log_start, snapshots, committed>>

(***************************************************************************)
(* A prospective voter was refused, or waited too long, and knows only the *)
(* id of its leader: it learned of that leader before it had read the      *)
(* voters. It waits and asks for the leader. LosePreVote has this case     *)
(* only for a leader that is not a voter; this leader may be a voter by    *)
(* now.                                                                    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.prospectiveTransitionAfterElectionLoss.          *)
(***************************************************************************)
LosePreVoteByName(r) ==
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ leader[r] # Nil
  /\ role' = [role EXCEPT ![r] = "Unattached"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<quorum_state, log_state, commit>>
------------------------------------------------------------------------------
(* The leader's log                                                          *)

(* Leader r appends entries of its epoch at once. They count from this step  *)
(* on.                                                                       *)
AppendEntries(r, entries) ==
  /\ log' = [log EXCEPT ![r] = @ \o entries]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + Len(entries))]
  /\ UpdateHighWatermark(r, high_watermark[r], EpochStart(r), History(r) \o entries,
                         end_offset[r])

(***************************************************************************)
(* A leader appends the one or more records that its state machine has     *)
(* written by now. It then flushes them with one Flush.                    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.appendBatch, BatchAccumulator.drain.             *)
(***************************************************************************)
AppendBatch(r, values) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ values # << >>
  /\ \A i \in 1 .. Len(values) : values[i] \in Writable(r)
  /\ AppendEntries(r, [i \in 1 .. Len(values) |->
                         [epoch |-> epoch[r], kind |-> "Data", value |-> values[i]]])
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, following, end_offset,
                 messages>>

(* Whether the voters in r's log may contain endpoints or versions of r that *)
(* are out of date. Endpoints are not modelled; models replace this          *)
(* definition.                                                               *)
MayHaveMoved(r) == FALSE

(* The records with which a leader's epoch may begin. In a cluster that was  *)
(* formatted with a voter set, the first leader writes the set to the log,   *)
(* and before it the version that allows this record. All replicas have both *)
(* from the format, but only what is in the log can be changed. A leader     *)
(* that has moved writes both again. The set is the same, and no change of   *)
(* the voters waits for it.                                                  *)
EpochRecords(r, e) ==
  LET first == [epoch |-> e, kind |-> "LeaderChange", value |-> r]
      all == <<first,
               [epoch |-> e, kind |-> "Data", value |-> VersionValue],
               [epoch |-> e, kind |-> "Voters", value |-> Voters(r)]>>
  IN
  IF VotersOffset(History(r)) = NoOffset THEN {all}
  ELSE IF MayHaveMoved(r) /\ IsVoter(r) THEN {<<first>>, all}
  ELSE {<<first>>}

(* Lead of KRaftElection, for models of such clusters: Lead <-               *)
(* LeadWithVoters. All records that begin the epoch are one batch. The epoch *)
(* starts at the first of them: UpdateHighWatermark gets LogEnd(r) as its    *)
(* start.                                                                    *)
(* Kafka: LeaderState.appendStartOfEpochControlRecords.                      *)
LeadWithVoters(r, e, bag) ==
  /\ WriteQuorumState(r, e, r, Nil)
  /\ role' = [role EXCEPT ![r] = "Leader"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ \E entries \in EpochRecords(r, e) :
       /\ log' = [log EXCEPT ![r] = @ \o entries]
       /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + Len(entries))]
       /\ UpdateHighWatermark(r, NoOffset, LogEnd(r), History(r) \o entries, NoEndOffsets)
  /\ messages' = PutAll(bag,
       {[type |-> "BeginQuorumEpochRequest", from |-> r, to |-> other, awaited |-> TRUE,
         epoch |-> e] : other \in Voters(r) \ {r}})
  /\ UNCHANGED <<log_start, snapshots>>

(***************************************************************************)
(* A replica that has resigned tells a voter again, since its first        *)
(* message may have been lost.                                             *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.pollResigned, maybeSendEndQuorumEpochRequests.   *)
(***************************************************************************)
SendEndQuorumEpoch(r, other) ==
  /\ Idle(r)
  /\ role[r] = "Resigned"
  /\ other \in Voters(r) \ {r}
  /\ ~Waiting(r, other)
  /\ messages' = PutAll(messages, QuorumEpochRequests("EndQuorumEpochRequest", r, {other}))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
(* Crashes that keep a part of what was not flushed                          *)

(* The voters according to what a replica has when it starts. In a cluster   *)
(* that was formatted with its voters, only these voters know the set before *)
(* a record holds it. Models of such clusters put VotersInLog in place of    *)
(* this.                                                                     *)
VotersKnownTo(r, history) == VotersOf(history)
VotersInLog(r, history) ==
  IF r \in InitialVoters \/ VotersOffset(history) # NoOffset THEN VotersOf(history) ELSE {}

(* r starts with `kept` in place of its log: Boot, with other records.       *)
BootWith(r, kept) ==
  LET kept_end == log_start[r] + Len(kept)
      anew == SnapshotsBeyond(r, kept_end) # {}
      records == IF anew THEN << >> ELSE kept
      end == IF anew THEN LatestSnapshot(r).end_offset ELSE kept_end
      history == IF anew THEN LatestSnapshot(r).records
                 ELSE IF log_start[r] = 0 THEN kept ELSE EarliestSnapshot(r).records \o kept
      voters == VotersKnownTo(r, history)
      others == voters \ {r}
      bag == Disconnected(r)
      is == RoleAtBoot(r, voters)
      last == IF anew THEN LatestSnapshot(r).epoch
              ELSE IF kept = << >> THEN EpochBefore(r, log_start[r]) ELSE kept[Len(kept)].epoch
  IN
  /\ log' = [log EXCEPT ![r] = records]
  /\ log_start' = [log_start EXCEPT ![r] = IF anew THEN end ELSE @]
  /\ snapshots' = [snapshots EXCEPT ![r] = IF anew THEN {LatestSnapshot(r)} ELSE @]
  /\ flushed' = [flushed EXCEPT ![r] = end]
  /\ role' = [role EXCEPT ![r] = is]
  /\ leader' = [leader EXCEPT ![r] = IF is = "Candidate" THEN Nil ELSE @]
  /\ granted' = [granted EXCEPT ![r] = IF is = "Candidate" THEN {r} ELSE {}]
  /\ rejected' = [rejected EXCEPT ![r] = {}]
  /\ NoFollowing(r) /\ NoLeading(r)
  /\ high_watermark' = [high_watermark EXCEPT ![r] = NoOffset]
  /\ messages' =
       CASE is = "Resigned" ->
              PutAll(bag, QuorumEpochRequests("EndQuorumEpochRequest", r, others))
         [] is = "Candidate" ->
              PutAll(bag, {[m EXCEPT !.last_offset = end, !.last_epoch = last] :
                             m \in VoteRequests(r, epoch[r], FALSE, others)})
         [] OTHER -> bag
  /\ UNCHANGED <<epoch, voted, committed>>

(***************************************************************************)
(* A replica starts again. The disk has kept everything that was flushed,  *)
(* and of the rest everything before an end: all of it if only the process *)
(* ended, a part of it if the machine lost power. Any record may be the    *)
(* last one. Kafka does less: it keeps or cuts off whole batches. If the   *)
(* log begins behind the last flushed record, because it was cleaned, what *)
(* is kept may end before it begins: nothing of it is left.                *)
(*                                                                         *)
(* Kafka: LogLoader.recoverLog, KafkaRaftClient.initialize.                *)
(***************************************************************************)
StartAgain(r, end) ==
  /\ end \in flushed[r] .. LogEnd(r)
  /\ BootWith(r, Records(r, log_start[r], end))

(***************************************************************************)
(* A follower crashes after it wrote the records it got and before it      *)
(* flushed them. The disk has kept some of them. If it has not even kept   *)
(* what a broker had written before, that is StartAgain.                   *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.appendAsFollower, LogLoader.recoverLog.          *)
(***************************************************************************)
CrashAppending(m, end) ==
  LET r == m.to IN
  /\ IsFetched(m)
  /\ m.diverging = Nil
  /\ m.snapshot_id = Nil
  /\ end \in LogEnd(r) .. LogEnd(r) + Len(m.records)
  /\ BootWith(r, log[r] \o SubSeq(m.records, 1, end - LogEnd(r)))

(***************************************************************************)
(* A follower crashes while it truncates its log. Segments are deleted one *)
(* by one, the last one first, so the disk may have kept more than was to  *)
(* stay.                                                                   *)
(*                                                                         *)
(* Kafka: UnifiedLog.truncateTo, LogLoader.recoverLog.                     *)
(***************************************************************************)
CrashTruncating(m, end) ==
  LET r == m.to IN
  /\ IsFetched(m)
  /\ m.diverging # Nil
  /\ ~TruncatesCommitted(m)
  /\ end \in TruncationPoint(r, m.diverging) .. LogEnd(r)
  /\ BootWith(r, Records(r, log_start[r], end))

StartedAgain(r) ==
  \/ \E end \in flushed[r] .. LogEnd(r) : StartAgain(r, end)
  \/ \E m \in InFlight(messages) :
       /\ m.to = r
       /\ m.type = "FetchResponse"
       /\ \E end \in log_start[r] .. LogEnd(r) : CrashTruncating(m, end)
  \/ \E m \in InFlight(messages) :
       /\ m.to = r
       /\ m.type = "FetchResponse"
       /\ \E end \in LogEnd(r) .. LogEnd(r) + Len(m.records) : CrashAppending(m, end)

(* Every way to start again, for the properties that use it: Restarts <-     *)
(* StartsAgain. The conjunct that costs least is evaluated first.            *)
StartsAgain(r) ==
  /\ high_watermark'[r] = NoOffset
  /\ role'[r] \notin {"Leader", "Prospective"}
  /\ StartedAgain(r)
------------------------------------------------------------------------------
(* The network                                                               *)

(***************************************************************************)
(* A request that its sender no longer awaits is lost.                     *)
(***************************************************************************)
LoseMessage(m) ==
  /\ IsRequest(m)
  /\ ~m.awaited
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* An answer that contains only the epoch and its leader.                    *)
OtherResponse ==
  [type : {"OtherResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil}]
OtherAnswer(m, e, l) ==
  [type |-> "OtherResponse", from |-> m.to, to |-> m.from, epoch |-> e, leader |-> l]

(***************************************************************************)
(* A request is refused with an error that tells its sender only the epoch *)
(* and its leader: because a leader is shutting down, or because the       *)
(* request cannot be valid. One such request in Kafka is a vote request    *)
(* from a replica that has records of the epoch it stands in: a voter that *)
(* stood, then followed, and was restarted.                                *)
(*                                                                         *)
(* Kafka: Errors.INVALID_REQUEST, Errors.BROKER_NOT_AVAILABLE;             *)
(* KafkaRaftClient.isIllegalEpoch, validateLeaderOnlyRequest.              *)
(***************************************************************************)
AnswerOtherwise(m) ==
  /\ IsRequest(m)
  /\ Idle(m.to)
  /\ messages' = Reply(m, OtherAnswer(m, epoch[m.to], leader[m.to]))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* A vote request from a replica that has records of the epoch it stands in. *)
CannotBeRight(m) == m.type = "VoteRequest" /\ ~m.pre_vote /\ m.last_epoch >= m.epoch

(***************************************************************************)
(* A request for one disk of a node reaches another disk that has taken    *)
(* its place. That disk reports the mismatch, and to the sender the answer *)
(* seems to come from the disk it asked. But the receiver adopts a higher  *)
(* epoch, and a leader that the request names, before it checks which disk *)
(* the request is for; and before either, it checks whether the request    *)
(* can be valid.                                                           *)
(*                                                                         *)
(* Kafka: Errors.INVALID_VOTER_KEY, INVALID_REQUEST;                       *)
(* KafkaRaftClient.handleVoteRequest, handleBeginQuorumEpochRequest.       *)
(***************************************************************************)
MeetOtherDisk(m, r) ==
  LET names_leader == m.type = "BeginQuorumEpochRequest"
      follows == names_leader /\ (m.epoch > epoch[r] \/ leader[r] = Nil \/ role[r] = "Unattached")
      known == IF names_leader THEN m.from ELSE IF m.epoch > epoch[r] THEN Nil ELSE leader[r]
      bag == Reply(m, IF CannotBeRight(m) THEN OtherAnswer(m, epoch[r], leader[r])
                      ELSE OtherAnswer(m, m.epoch, known))
  IN
  /\ m.type \in {"VoteRequest", "BeginQuorumEpochRequest"}
  /\ NodeOf[m.to] = NodeOf[r]
  /\ m.to # r
  /\ m.from # r
  /\ Idle(r)
  /\ m.epoch >= epoch[r] \/ CannotBeRight(m)
  /\ ~(names_leader /\ m.epoch = epoch[r] /\ leader[r] \notin {Nil, m.from})
  /\ CASE follows ->
            /\ TransitionToFollower(r, m.epoch, m.from)
            /\ messages' = Unawaited(bag, r, Replica)
       [] ~names_leader /\ m.epoch > epoch[r] /\ ~CannotBeRight(m) ->
            /\ TransitionToUnattached(r, m.epoch, Nil)
            /\ messages' = Unawaited(bag, r, Replica)
       [] OTHER ->
            /\ messages' = bag
            /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A request reaches another disk of the node, and either names no disk,   *)
(* or is fenced before the disk is checked. That disk handles it as its    *)
(* own.                                                                    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.validateLeaderOnlyRequest,                       *)
(* validateVoterOnlyRequest.                                               *)
(***************************************************************************)
ReachOtherDisk(m, r) ==
  /\ IsRequest(m)
  /\ NodeOf[m.to] = NodeOf[r]
  /\ r \notin {m.to, m.from}
  /\ m.type \in {"VoteRequest", "BeginQuorumEpochRequest"} => m.epoch < epoch[r]
  /\ m.awaited => ~Waiting(m.from, r)
  /\ messages' = Put(Take(messages, m), [m EXCEPT !.to = r])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
(* The same operators as in KRaftState and KRaftVoters, but computed by      *)
(* halving, for judging long logs. Models check that there is no difference. *)

(* The first offset from low on whose record is of epoch e or later, or      *)
(* high.                                                                     *)
RECURSIVE FirstOfEpoch(_, _, _, _)
FirstOfEpoch(r, e, low, high) ==
  IF low = high THEN low
  ELSE LET middle == (low + high) \div 2 IN
       IF EntryAt(r, middle).epoch >= e THEN FirstOfEpoch(r, e, low, middle)
       ELSE FirstOfEpoch(r, e, middle + 1, high)

FoundEndOffsetForEpoch(r, e) ==
  LET end == FirstOfEpoch(r, e + 1, log_start[r], LogEnd(r)) IN
  IF end > log_start[r] \/ EpochBefore(r, end) <= e
  THEN [end_offset |-> end, epoch |-> EpochBefore(r, end)]
  ELSE [end_offset |-> log_start[r], epoch |-> 0]

FoundEpochStart(r) ==
  LET start == FirstOfEpoch(r, epoch[r], log_start[r], LogEnd(r)) IN
  IF start = LogEnd(r) THEN log_start[r] ELSE start

(* Records without a voter set. TLC tests a whole sequence at once, and of a *)
(* record the kind first: the set in a Voters record is no Value.            *)
PlainRecords ==
  Seq([epoch : Nat, kind : {"LeaderChange", "Data"}, value : Value \cup Replica])

(* The last index from low to high whose record is a voter set, or 0.        *)
RECURSIVE LastVoters(_, _, _)
LastVoters(records, low, high) ==
  IF low > high \/ SubSeq(records, low, high) \in PlainRecords THEN 0
  ELSE IF low = high THEN IF records[low].kind = "Voters" THEN low ELSE 0
  ELSE LET middle == (low + high) \div 2
           later == LastVoters(records, middle + 1, high)
       IN  IF later # 0 THEN later ELSE LastVoters(records, low, middle)

FoundVotersOffset(records) == LastVoters(records, 1, Len(records)) - 1

(* UpdateHighWatermark of KRaftState. TLC evaluates an operator's argument   *)
(* once, and a LET of an action at each use.                                 *)
RaiseHighWatermark(r, hw, history) ==
  /\ high_watermark' = [high_watermark EXCEPT ![r] = hw]
  /\ committed' = IF hw > Len(committed) THEN SubSeq(history, 1, hw) ELSE committed

UpdateHighWatermarkOnce(r, old, start, history, ends) ==
  RaiseHighWatermark(r, HighWatermarkOf(r, old, start, VotersOf(history),
                                        [ends EXCEPT ![r] = Len(history)]), history)

SameFoundInv ==
  \A r \in Replica :
    /\ FoundEpochStart(r) = EpochStart(r)
    /\ FoundVotersOffset(History(r)) = VotersOffset(History(r))
    /\ \A e \in 0 .. epoch[r] + 1 : FoundEndOffsetForEpoch(r, e) = EndOffsetForEpoch(r, e)
------------------------------------------------------------------------------
(* Properties                                                                *)

(* Messages are those of KRaftVoters, plus OtherResponse. *)
Others == INSTANCE KRaftVoters WITH
  messages <- Drop(messages, {m \in InFlight(messages) : m \in OtherResponse})
StepsTypeOK ==
  /\ Others!DynamicTypeOK
  /\ IsBagOf(messages, InFlight(messages))

(* The permitted changes of a log: as in PermittedLogChangesProp of          *)
(* KRaftProperties, except that a leader appends a batch, and that a crash   *)
(* may keep a part of what was being written or cut off.                     *)
(* Source: KIP-595, KIP-630.                                                 *)
(* Broken by: a start with records that the disk cannot have, or without     *)
(* records that were flushed.                                                *)
PermittedBatchesProp ==
  [][\A r \in Replica :
       LET old == History(r)
           new == History(r)'
           Begins(shorter, longer) ==
             Len(shorter) <= Len(longer) /\ SubSeq(longer, 1, Len(shorter)) = shorter
       IN
       \/ new = old
       \/ /\ role'[r] = "Leader"
          /\ Begins(old, new)
          /\ \A i \in Len(old) + 1 .. Len(new) : new[i].epoch = epoch'[r]
       \/ /\ role[r] = "Follower" \/ leader[r] = Nil
          /\ role'[r] = "Follower"
          /\ \/ Begins(old, new)
             \/ Begins(new, old) /\ Len(new) >= high_watermark[r]
             \/ log'[r] = << >> /\ Len(new) = log_start'[r] /\ new = SubSeq(committed, 1, Len(new))
       \/ /\ StartsAgain(r)
          /\ \/ Len(new) >= flushed[r]
             \/ \E m \in InFlight(messages) : m.to = r /\ CrashTruncating(m, Len(new))
          /\ Begins(new, old) \/ Begins(old, new)]_<<log, log_start, snapshots>>
------------------------------------------------------------------------------
WaitingNext ==
  \/ \E m \in InFlight(messages) : ParkFetch(m)
  \/ \E m \in InFlight(messages) :
       \E end \in 0 .. LogEnd(m.to) : AnswerParkedFetch(m, end)
  \/ \E m \in InFlight(messages) : FollowAndFetch(m)
  \/ \E l, r \in Replica : ForgetObserver(l, r)
  \/ \E r, other \in Replica : SendEndQuorumEpoch(r, other)
  \/ \E r \in Replica : LosePreVoteByName(r)

BatchNext ==
  \/ \E r \in Replica, first, second \in Value : AppendBatch(r, <<first, second>>)

CrashNext ==
  \/ \E r \in Replica : \E end \in 0 .. LogEnd(r) : StartAgain(r, end)
  \/ \E m \in InFlight(messages) : \E end \in 0 .. LogEnd(m.to) : CrashTruncating(m, end)
  \/ \E m \in InFlight(messages) : \E end \in 0 .. LogEnd(m.to) + 2 : CrashAppending(m, end)

DiskNext ==
  \/ \E m \in InFlight(messages) : LoseMessage(m)
  \/ \E m \in InFlight(messages) : AnswerOtherwise(m)
  \/ \E m \in InFlight(messages), r \in Replica : MeetOtherDisk(m, r)
  \/ \E m \in InFlight(messages), r \in Replica : ReachOtherDisk(m, r)

StepsNext == DynamicNext \/ WaitingNext \/ BatchNext \/ CrashNext \/ DiskNext

StepsSpec == Init /\ [][StepsNext]_vars
==============================================================================
