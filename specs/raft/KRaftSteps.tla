----------------------------- MODULE KRaftSteps -----------------------------
(***************************************************************************)
(* The steps of KRaft as an implementation takes them: those of KRaft and  *)
(* KRaftVoters, and here what these leave out because it can be said with  *)
(* fewer steps. A fetch that waits on the leader, a batch of records, a    *)
(* crash that keeps a part of what was not flushed, a request that reaches *)
(* the wrong disk. No variable is added, and nothing of KRaft changes: its *)
(* properties are asked of these steps too.                                *)
(*                                                                         *)
(* Who judges an implementation step by step needs each of its steps as    *)
(* one action with parameters; docs/internals/raft-lockstep.md has the     *)
(* table.                                                                  *)
(*                                                                         *)
(* What is not modelled (docs/not-modelled.md has all of it):              *)
(*  - Time: any timer may be due, any fetch held, any observer be forgotten. *)
(*  - The pieces of a snapshot, and endpoints: who leads may have moved.   *)
(*  - Whether an error that says nothing was right: any request may get it. *)
(***************************************************************************)
EXTENDS KRaftVoters

CONSTANT VersionValue  \* The record of the kraft.version: data, since nothing here reads it.

ASSUME VersionConstant == VersionValue \in Value

------------------------------------------------------------------------------
(* Fetches that wait                                                         *)

(***************************************************************************)
(* A fetch asks for what comes next, and nothing has come yet. The leader  *)
(* takes note of it as of any, and the request waits with the leader; for  *)
(* everybody else it is still on its way. AnswerParkedFetch ends that, with *)
(* records or, when the wait is over, without; if the leader leads no more *)
(* by then, RefuseFetch and FenceRequest do.                               *)
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
(* A fetch that waited is answered: as AnswerFetch, but the leader noted    *)
(* its position when it came, and may have noted another of its sender     *)
(* since. Nor does it wait for the flush.                                  *)
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
(* A leader has not heard from an observer for long, and no longer keeps   *)
(* what it knew of it.                                                     *)
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
(* Who knows no leader asked one for records, and it answers: its receiver *)
(* follows it, and takes what it sent, in one step. DiscoverEpoch would    *)
(* leave the records, and ask again.                                       *)
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
            /\ flushed' = [flushed EXCEPT ![r] = end]
            /\ high_watermark' = [high_watermark EXCEPT ![r] = HighWatermarkFrom(r, m, end)]
  /\ messages' = Unawaited(Take(messages, m), r, Replica)
  /\ UNCHANGED <<log_start, snapshots, committed>>

(***************************************************************************)
(* A prospective voter was refused, or waited too long, and of the leader  *)
(* that it knew it has no more than the name: it met that leader before it *)
(* had read who votes. It waits, and asks who leads. LosePreVote has this  *)
(* of a leader that is no voter; this one may be a voter by now.           *)
(*                                                                         *)
(* Python: _lose_pre_vote.                                                 *)
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

(* Leader r appends entries of its epoch at once. They count from here on.   *)
AppendEntries(r, entries) ==
  /\ log' = [log EXCEPT ![r] = @ \o entries]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + Len(entries))]
  /\ UpdateHighWatermark(r, high_watermark[r], EpochStart(r), History(r) \o entries,
                         end_offset[r])

(***************************************************************************)
(* A leader appends what its state machine wrote by now, one or more       *)
(* records; then it flushes them, with one Flush.                          *)
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

(* Whether the voters in r's log may have endpoints or versions of r that are *)
(* r's no more. Endpoints are not modelled: a definition that models replace. *)
MayHaveMoved(r) == FALSE

(* What a leader's epoch begins with. In a cluster that was formatted with a *)
(* voter set, the first leader writes the set into the log, and before it    *)
(* the version that lets it: everybody has both from the format, but only    *)
(* what is in the log can be changed. A leader that has moved writes them    *)
(* again. The set is the same; no change of its own waits for it.            *)
EpochRecords(r, e) ==
  LET first == [epoch |-> e, kind |-> "LeaderChange", value |-> r]
      all == <<first,
               [epoch |-> e, kind |-> "Data", value |-> VersionValue],
               [epoch |-> e, kind |-> "Voters", value |-> Voters(r)]>>
  IN
  IF VotersOffset(History(r)) = NoOffset THEN {all}
  ELSE IF MayHaveMoved(r) /\ IsVoter(r) THEN {<<first>>, all}
  ELSE {<<first>>}

(* Lead of KRaftElection, for models of such clusters: Lead <- LeadWithVoters. *)
(* All that begins the epoch is one batch. The epoch counts from its first   *)
(* record on (!).                                                            *)
(* Kafka: LeaderState.appendStartOfEpochControlRecords.                      *)
LeadWithVoters(r, e, bag) ==
  /\ WriteQuorumState(r, e, r, Nil)
  /\ role' = [role EXCEPT ![r] = "Leader"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ \E entries \in EpochRecords(r, e) :
       /\ log' = [log EXCEPT ![r] = @ \o entries]
       /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + Len(entries))]
       /\ UpdateHighWatermark(r, NoOffset, LogEnd(r), History(r) \o entries, NoEndOffsets)    \* (!)
  /\ messages' = PutAll(bag,
       {[type |-> "BeginQuorumEpochRequest", from |-> r, to |-> other, awaited |-> TRUE,
         epoch |-> e] : other \in Voters(r) \ {r}})
  /\ UNCHANGED <<log_start, snapshots>>

(***************************************************************************)
(* A replica that has resigned tells a voter again: its first word may     *)
(* have been lost.                                                         *)
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
(* Crashes that keep a part                                                  *)

(* The voters by what a replica has when it starts. In a cluster that was    *)
(* formatted with its voters, only these know them before a record says so:  *)
(* models of such clusters put VotersInLog here.                             *)
VotersKnownTo(r, history) == VotersOf(history)
VotersInLog(r, history) ==
  IF r \in InitialVoters \/ VotersOffset(history) # NoOffset THEN VotersOf(history) ELSE {}

(* r starts with this log in place of its own: Boot, of other records.       *)
BootWith(r, kept) ==
  LET end == log_start[r] + Len(kept)
      history == IF log_start[r] = 0 THEN kept ELSE EarliestSnapshot(r).records \o kept
      voters == VotersKnownTo(r, history)
      others == voters \ {r}
      bag == Disconnected(r)
      is == RoleAtBoot(r, voters)
      last == IF kept = << >> THEN EpochBefore(r, log_start[r]) ELSE kept[Len(kept)].epoch
  IN
  /\ log' = [log EXCEPT ![r] = kept]
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
  /\ UNCHANGED <<epoch, voted, log_start, snapshots, committed>>

(***************************************************************************)
(* A replica starts again. The disk has kept all that was flushed, and of  *)
(* the rest what is before an end: all of it if only the process ended,    *)
(* and some if the machine lost power. Any record may be the last, which   *)
(* is more than Kafka does: there a batch is whole, or cut off.            *)
(*                                                                         *)
(* Kafka: LogLoader.recoverLog, KafkaRaftClient.initialize.                *)
(***************************************************************************)
StartAgain(r, end) ==
  /\ end \in flushed[r] .. LogEnd(r)
  /\ BootWith(r, Records(r, log_start[r], end))

(***************************************************************************)
(* A follower crashes after it wrote the records it got and before it      *)
(* flushed them: the disk has kept some of them.                           *)
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
(* A follower crashes while it cuts its log back: segments go one by one,  *)
(* the last one first, so the disk may have kept more than was to stay.    *)
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

(* Every way to start again, for the properties that ask: Restarts <- StartsAgain. *)
(* What is asked first costs least.                                          *)
StartsAgain(r) ==
  /\ high_watermark'[r] = NoOffset
  /\ role'[r] \notin {"Leader", "Prospective"}
  /\ StartedAgain(r)
------------------------------------------------------------------------------
(* The network                                                               *)

(***************************************************************************)
(* A request that nobody waits for is lost.                                *)
(***************************************************************************)
LoseMessage(m) ==
  /\ IsRequest(m)
  /\ ~m.awaited
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* An answer that says nothing but the epoch and its leader.                 *)
OtherResponse ==
  [type : {"OtherResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil}]
OtherAnswer(m, e, l) ==
  [type |-> "OtherResponse", from |-> m.to, to |-> m.from, epoch |-> e, leader |-> l]

(***************************************************************************)
(* A request is refused with an error from which nothing follows but what  *)
(* it tells of the epoch: by a leader that is about to end, or because the *)
(* request cannot be right. One such is in Kafka the vote request of who   *)
(* has records of the epoch it stands in: a voter that stood, followed,    *)
(* and was restarted.                                                      *)
(*                                                                         *)
(* Kafka: Errors.INVALID_REQUEST, Errors.BROKER_NOT_AVAILABLE;             *)
(* KafkaRaftClient.isIllegalEpoch, validateLeaderOnlyRequest.              *)
(***************************************************************************)
AnswerOtherwise(m) ==
  /\ IsRequest(m)
  /\ Idle(m.to)
  /\ messages' = Reply(m, OtherAnswer(m, epoch[m.to], leader[m.to]))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* The vote request of who has records of the epoch it stands in. *)
CannotBeRight(m) == m.type = "VoteRequest" /\ ~m.pre_vote /\ m.last_epoch >= m.epoch

(***************************************************************************)
(* A request for one disk of a node reaches another, which is in its       *)
(* place. It says so, and for the sender the answer comes from the one it  *)
(* asked. But it takes over a higher epoch, and a leader it is told of,    *)
(* before it looks whom the request is for; and before either, whether it  *)
(* can be right.                                                           *)
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
(* A request in which no disk is named, or which is fenced before that is  *)
(* looked at, reaches another disk of the node: it is for that one then.   *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.validateLeaderOnlyRequest, validateVoterOnlyRequest. *)
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
(* The same as in KRaftState, but found by halving: for those who judge long *)
(* logs. Models ask that there is no difference.                             *)

(* The first offset from low on whose record is of epoch e or a later one, or high. *)
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

SameFoundInv ==
  \A r \in Replica :
    /\ FoundEpochStart(r) = EpochStart(r)
    /\ \A e \in 0 .. epoch[r] + 1 : FoundEndOffsetForEpoch(r, e) = EndOffsetForEpoch(r, e)
------------------------------------------------------------------------------
(* Properties                                                                *)

(* Messages are those of KRaftVoters, and one more. *)
Others == INSTANCE KRaftVoters WITH
  messages <- Drop(messages, {m \in InFlight(messages) : m \in OtherResponse})
StepsTypeOK ==
  /\ Others!DynamicTypeOK
  /\ IsBagOf(messages, InFlight(messages))

(* Who changes a log, and how: as PermittedLogChangesProp of KRaftProperties, *)
(* but that a leader appends a batch, and that a crash may keep a part of    *)
(* what was being written, or cut off.                                       *)
(* Source: KIP-595, KIP-630. Broken by: a start with records that the disk   *)
(* cannot have, or without some that were flushed.                           *)
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
