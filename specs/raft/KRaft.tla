-------------------------------- MODULE KRaft --------------------------------
(***************************************************************************)
(* KRaft: Raft as Kafka's controllers run it. Followers pull: a fetch asks *)
(* for records, and acknowledges all records before its offset. A leader   *)
(* needs a majority of votes to begin, and begins its epoch with a record  *)
(* of its own. Nothing is committed in that epoch until this record is on  *)
(* a majority. A replica asks whether it could win (pre-vote) before it    *)
(* stands for election.                                                    *)
(*                                                                         *)
(* Sources: KIP-595 (the protocol), KIP-630 (snapshots), KIP-996           *)
(* (pre-vote), and Kafka 4.1 as built. The voter set of a replica is       *)
(* VotersOf its own records: constant here, and read from the records in   *)
(* KRaftVoters, the module of KIP-853.                                     *)
(*                                                                         *)
(* An offset counts records from 0. An end is the first offset that is not *)
(* there. A log begins at its start; a snapshot holds everything before    *)
(* the start.                                                              *)
(*                                                                         *)
(* Kafka's raft thread takes one message at a time. Before it takes the    *)
(* next, it has written and flushed what the last one asked for. So one    *)
(* step here handles one message. One exception is visible from outside:   *)
(* between a leader's append and its flush, the leader already answers     *)
(* fetches that wait for records. Idle(r) says that r may take a message.  *)
(*                                                                         *)
(* Kafka's handler -> actions here (KafkaRaftClient where no class is      *)
(* given; KRaftElection has the table of elections and epochs)             *)
(*   buildFetchRequest, maybeSendFetchToAnyBootstrap -> SendFetch          *)
(*   handleFetchRequest, tryCompleteFetchRequest -> AnswerFetch,           *)
(*     AnswerDiverging, AnswerWithSnapshotId                               *)
(*   LeaderState.updateReplicaState -> AnswerFetch                         *)
(*   validateLeaderOnlyRequest -> RefuseFetch, FenceRequest                *)
(*   handleFetchResponse -> AppendFetched, TruncateDiverging,              *)
(*     BeginSnapshotFetch                                                  *)
(*   appendAsFollower -> AppendFetched                                     *)
(*   FollowerState.setFetchingSnapshot -> BeginSnapshotFetch               *)
(*   buildFetchSnapshotRequest -> SendFetchSnapshot                        *)
(*   handleFetchSnapshotRequest -> AnswerFetchSnapshot, RefuseFetch        *)
(*   handleFetchSnapshotResponse -> LoadSnapshot, AbandonSnapshot          *)
(*   ReplicatedLog.truncateToLatestSnapshot -> LoadSnapshot, Boot          *)
(*   createSnapshot, KafkaMetadataLog.createNewSnapshot -> CreateSnapshot  *)
(*   KafkaMetadataLog.maybeClean, deleteBeforeSnapshot -> CleanLog         *)
(*   appendBatch -> AppendRecord                                           *)
(*   flushLeaderLog -> Flush (AnswerFetch and AppendRecord before it)      *)
(*   initialize -> Restart, CrashLosingTail                                *)
(*   RequestManager.hasRequestTimedOut -> RequestTimeout                   *)
(*   the network -> DuplicateMessage                                       *)
(***************************************************************************)
EXTENDS KRaftElection

------------------------------------------------------------------------------
(* Fetching                                                                  *)

(* The replicas that r may ask if it knows no leader, or, as an observer,    *)
(* does not trust the leader it knows.                                       *)
BootstrapServers(r) == Voters(r) \ {r}

(***************************************************************************)
(* A follower asks its leader for the records after the end of its own     *)
(* log. A voter has flushed its log, so its request acknowledges it. A     *)
(* replica that knows no leader asks any voter, and sends no other request *)
(* meanwhile.                                                              *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.buildFetchRequest, maybeSendFetchToAnyBootstrap. *)
(***************************************************************************)
SendFetch(r, other) ==
  /\ Idle(r)
  /\ \/ /\ role[r] = "Follower"
        /\ other = leader[r]
        /\ fetching_snapshot[r] = Nil
        /\ ~Waiting(r, other)
     \/ /\ role[r] = "Unattached" \/ (role[r] = "Follower" /\ ~IsVoter(r))
        /\ other \in BootstrapServers(r)
        /\ \A any \in Replica : ~Waiting(r, any)
  /\ messages' = Put(messages,
       [type |-> "FetchRequest", from |-> r, to |-> other, awaited |-> TRUE,
        epoch |-> epoch[r], offset |-> LogEnd(r), last_epoch |-> LastEpoch(r)])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

FetchAnswer(m, error) ==
  [type |-> "FetchResponse", from |-> m.to, to |-> m.from, epoch |-> epoch[m.to],
   leader |-> leader[m.to], error |-> error, records |-> << >>,
   high_watermark |-> NoOffset, diverging |-> Nil, snapshot_id |-> Nil]

(***************************************************************************)
(* Only a leader answers fetches, and only fetches of its own epoch.       *)
(* Another replica refuses them.                                           *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.validateLeaderOnlyRequest.                       *)
(***************************************************************************)
RefuseFetch(m) ==
  LET r == m.to
      error == IF m.epoch > epoch[r] THEN "UNKNOWN_LEADER_EPOCH" ELSE "NOT_LEADER_OR_FOLLOWER"
  IN
  /\ m.type \in {"FetchRequest", "FetchSnapshotRequest"}
  /\ Idle(r)
  /\ m.epoch > epoch[r] \/ (m.epoch = epoch[r] /\ role[r] # "Leader")
  /\ messages' = Reply(m,
       IF m.type = "FetchRequest"
       THEN FetchAnswer(m, error)
       ELSE [type |-> "FetchSnapshotResponse", from |-> r, to |-> m.from, epoch |-> epoch[r],
             leader |-> leader[r], error |-> error, snapshot |-> Nil])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

IsFetchOfEpoch(m) ==
  /\ m.type = "FetchRequest"
  /\ role[m.to] = "Leader"
  /\ m.epoch = epoch[m.to]

(* How the leader treats a fetch from m.offset whose last record before that *)
(* is of m.last_epoch.                                                       *)
(* Kafka: ReplicatedLog.validateOffsetAndEpoch.                              *)
NeedsSnapshot(r, m) ==
  /\ snapshots[r] # {}
  /\ \/ m.offset = 0
     \/ m.offset < log_start[r]
     \/ m.offset = log_start[r] /\ m.last_epoch # EarliestSnapshot(r).epoch
     \/ m.last_epoch < EarliestSnapshot(r).epoch
Diverges(r, m) ==
  LET end == EndOffsetForEpoch(r, m.last_epoch) IN
  /\ m.offset # 0
  /\ end.epoch # m.last_epoch \/ end.end_offset < m.offset

(***************************************************************************)
(* The follower lacks records that the leader has only in a snapshot. Its  *)
(* position says nothing about its log, so the leader does not note it.    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.tryCompleteFetchRequest.                         *)
(***************************************************************************)
AnswerWithSnapshotId(m) ==
  LET r == m.to IN
  /\ IsFetchOfEpoch(m)
  /\ Idle(r)
  /\ NeedsSnapshot(r, m)
  /\ messages' = Reply(m, [FetchAnswer(m, "NONE") EXCEPT !.snapshot_id = IdOf(LatestSnapshot(r))])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* The follower's log is not a prefix of the leader's. The leader tells it *)
(* where the follower's last epoch ends in the leader's log. The leader    *)
(* does not note the follower's position.                                  *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.tryCompleteFetchRequest.                         *)
(***************************************************************************)
AnswerDiverging(m) ==
  LET r == m.to IN
  /\ IsFetchOfEpoch(m)
  /\ Idle(r)
  /\ ~NeedsSnapshot(r, m)
  /\ Diverges(r, m)
  /\ messages' = Reply(m, [FetchAnswer(m, "NONE") EXCEPT
                             !.diverging = EndOffsetForEpoch(r, m.last_epoch)])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* The ends at which the records in an answer of the leader may stop. *)
ReadEnds(r, offset) == offset .. LogEnd(r)

(***************************************************************************)
(* The follower's log is a prefix of the leader's, and a voter has flushed *)
(* it. The leader notes the position, may raise its high watermark, and    *)
(* sends the records that follow, if any. A fetch at a                     *)
(* position that the leader has noted already may have waited for these    *)
(* records. The leader answers it before it flushes them, and the noted    *)
(* position changes nothing then.                                          *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.tryCompleteFetchRequest,                         *)
(* LeaderState.updateReplicaState, flushLeaderLog.                         *)
(***************************************************************************)
AnswerFetch(m, end) ==
  LET r == m.to
      ends == [end_offset[r] EXCEPT ![m.from] = m.offset]
  IN
  /\ IsFetchOfEpoch(m)
  /\ Idle(r) \/ end_offset[r][m.from] = m.offset
  /\ ~NeedsSnapshot(r, m)
  /\ ~Diverges(r, m)
  /\ end \in ReadEnds(r, m.offset)
  /\ LogEnd(r) > m.offset => end > m.offset
  /\ end_offset' = [end_offset EXCEPT ![r] = ends]
  /\ UpdateHighWatermark(r, high_watermark[r], EpochStart(r), History(r), ends)
  /\ messages' = Reply(m, [FetchAnswer(m, "NONE") EXCEPT
                             !.records = Records(r, m.offset, end),
                             !.high_watermark = high_watermark'[r]])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following>>

(* Answer m is a successful answer to r's fetch, where r is m.to.            *)
IsFetched(m) ==
  /\ m.type = "FetchResponse"
  /\ Idle(m.to)
  /\ FromLeader(m)

(* The high watermark of a follower: that of its leader, up to the end of    *)
(* the follower's own log. It never goes back. Kafka:                        *)
(* KafkaRaftClient.updateFollowerHighWatermark.                              *)
HighWatermarkFrom(r, m, end) ==
  IF Min(m.high_watermark, end) > high_watermark[r]
  THEN Min(m.high_watermark, end) ELSE high_watermark[r]

(***************************************************************************)
(* A follower writes the records it got, and flushes them before it does   *)
(* anything else: a crash in between has the effect of a crash before.     *)
(* Only then does it raise its high watermark. A broker does not flush     *)
(* them: no commit counts it, and after a crash it fetches again what it   *)
(* lost.                                                                   *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchResponse, appendAsFollower.           *)
(***************************************************************************)
AppendFetched(m) ==
  LET r == m.to
      end == LogEnd(r) + Len(m.records)
  IN
  /\ IsFetched(m)
  /\ m.diverging = Nil
  /\ m.snapshot_id = Nil
  /\ log' = [log EXCEPT ![r] = @ \o m.records]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedFetching(r, end)]
  /\ high_watermark' = [high_watermark EXCEPT ![r] = HighWatermarkFrom(r, m, end)]
  /\ has_fetched' = [has_fetched EXCEPT ![r] = TRUE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, fetching_snapshot,
                 end_offset, committed>>

(* The offset up to which r's log can still agree with the log of a leader   *)
(* in which this epoch ends there. Kafka: ReplicatedLog.truncateToEndOffset. *)
TruncationPoint(r, diverging) ==
  LET own == EndOffsetForEpoch(r, diverging.epoch) IN
  IF diverging.epoch = 0 THEN Min(diverging.end_offset, LogEnd(r))
  ELSE IF own.epoch # diverging.epoch THEN own.end_offset
  ELSE Min(own.end_offset, diverging.end_offset)

(* The receiver would truncate below its high watermark. Kafka: the process  *)
(* dies.                                                                     *)
TruncatesCommitted(m) ==
  /\ m.type = "FetchResponse"
  /\ FromLeader(m)
  /\ m.diverging # Nil
  /\ m.diverging.end_offset < high_watermark[m.to]

(***************************************************************************)
(* A follower truncates its log to the point up to which it can agree with *)
(* its leader's, and fetches again. That may take several rounds.          *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchResponse.                             *)
(***************************************************************************)
TruncateDiverging(m) ==
  LET r == m.to
      end == TruncationPoint(r, m.diverging)
  IN
  /\ IsFetched(m)
  /\ m.diverging # Nil
  /\ ~TruncatesCommitted(m)
  /\ log' = [log EXCEPT ![r] = Records(r, log_start[r], end)]
  /\ flushed' = [flushed EXCEPT ![r] = end]
  /\ has_fetched' = [has_fetched EXCEPT ![r] = TRUE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, fetching_snapshot,
                 end_offset, commit>>
------------------------------------------------------------------------------
(* Snapshots                                                                 *)

(***************************************************************************)
(* A follower is told to load a snapshot.                                  *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchResponse,                             *)
(* FollowerState.setFetchingSnapshot.                                      *)
(***************************************************************************)
BeginSnapshotFetch(m) ==
  /\ IsFetched(m)
  /\ m.snapshot_id # Nil
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![m.to] = m.snapshot_id]
  /\ has_fetched' = [has_fetched EXCEPT ![m.to] = TRUE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, end_offset, commit>>

(***************************************************************************)
(* A follower asks its leader for the whole snapshot at once. Kafka asks   *)
(* for pieces, writes them to a file of their own, and drops that file if  *)
(* anything goes wrong; so only the last piece changes anything.           *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.buildFetchSnapshotRequest.                       *)
(***************************************************************************)
SendFetchSnapshot(r) ==
  /\ Idle(r)
  /\ role[r] = "Follower"
  /\ fetching_snapshot[r] # Nil
  /\ ~Waiting(r, leader[r])
  /\ messages' = Put(messages,
       [type |-> "FetchSnapshotRequest", from |-> r, to |-> leader[r], awaited |-> TRUE,
        epoch |-> epoch[r], snapshot_id |-> fetching_snapshot[r]])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* The leader sends the snapshot if it still has it.                       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchSnapshotRequest.                      *)
(***************************************************************************)
AnswerFetchSnapshot(m) ==
  LET r == m.to
      found == {s \in snapshots[r] : IdOf(s) = m.snapshot_id}
  IN
  /\ m.type = "FetchSnapshotRequest"
  /\ role[r] = "Leader"
  /\ Idle(r)
  /\ m.epoch = epoch[r]
  /\ messages' = Reply(m,
       [type |-> "FetchSnapshotResponse", from |-> r, to |-> m.from, epoch |-> epoch[r],
        leader |-> leader[r],
        error |-> IF found = {} THEN "SNAPSHOT_NOT_FOUND" ELSE "NONE",
        snapshot |-> IF found = {} THEN Nil ELSE CHOOSE s \in found : TRUE])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* m brings its receiver a snapshot that it does not fetch: it fetches none, *)
(* or another. Kafka: the process dies.                                      *)
IsOfOtherSnapshot(m) ==
  /\ m.type = "FetchSnapshotResponse"
  /\ FromLeader(m)
  /\ IdOf(m.snapshot) # fetching_snapshot[m.to]

(* The receiver of m already has all records of the snapshot in m. Kafka:    *)
(* the process dies.                                                         *)
LoadsOldSnapshot(m) ==
  /\ m.type = "FetchSnapshotResponse"
  /\ FromLeader(m)
  /\ \/ m.snapshot.epoch < LastEpoch(m.to)
     \/ m.snapshot.epoch = LastEpoch(m.to) /\ m.snapshot.end_offset <= LogEnd(m.to)

(***************************************************************************)
(* A follower has received the whole snapshot. The snapshot replaces its   *)
(* log.                                                                    *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchSnapshotResponse,                     *)
(* ReplicatedLog.truncateToLatestSnapshot.                                 *)
(***************************************************************************)
LoadSnapshot(m) ==
  LET r == m.to IN
  /\ m.type = "FetchSnapshotResponse"
  /\ Idle(r)
  /\ FromLeader(m)
  /\ ~IsOfOtherSnapshot(m)
  /\ ~LoadsOldSnapshot(m)
  /\ log' = [log EXCEPT ![r] = << >>]
  /\ log_start' = [log_start EXCEPT ![r] = m.snapshot.end_offset]
  /\ flushed' = [flushed EXCEPT ![r] = m.snapshot.end_offset]
  /\ snapshots' = [snapshots EXCEPT ![r] = {m.snapshot}]
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![r] = Nil]
  /\ high_watermark' = [high_watermark EXCEPT ![r] = m.snapshot.end_offset]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, role, election, has_fetched, end_offset, committed>>

(***************************************************************************)
(* The leader no longer has the snapshot. The follower fetches again, and  *)
(* is then told of a newer snapshot.                                       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchSnapshotResponse.                     *)
(***************************************************************************)
AbandonSnapshot(m) ==
  /\ m.type = "FetchSnapshotResponse"
  /\ Idle(m.to)
  /\ m.epoch = epoch[m.to]
  /\ role[m.to] = "Follower"
  /\ m.error = "SNAPSHOT_NOT_FOUND"
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![m.to] = Nil]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, has_fetched, end_offset, commit>>

(***************************************************************************)
(* The state machine writes a snapshot of records that it knows to be      *)
(* committed, up to an end that no snapshot of r covers yet.               *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.createSnapshot,                                  *)
(* KafkaMetadataLog.createNewSnapshot.                                     *)
(***************************************************************************)
CreateSnapshot(r, end) ==
  /\ end \in (log_start[r] + 1) .. high_watermark[r]
  /\ \A s \in snapshots[r] : s.end_offset < end
  /\ snapshots' = [snapshots EXCEPT ![r] = @ \cup
       {[end_offset |-> end, epoch |-> EpochBefore(r, end),
         records |-> SubSeq(History(r), 1, end)]}]
  /\ UNCHANGED <<quorum_state, log, log_start, flushed, role, election, following, end_offset,
                 commit, messages>>

(***************************************************************************)
(* The log is cleaned: it begins at its next snapshot. The records before  *)
(* that are deleted from it, and so are the older snapshots. The newest    *)
(* snapshot always stays.                                                  *)
(*                                                                         *)
(* Kafka: KafkaMetadataLog.maybeClean, deleteBeforeSnapshot.               *)
(***************************************************************************)
CleanLog(r) ==
  LET later == {s \in snapshots[r] : s.end_offset > log_start[r]}
      next == CHOOSE s \in later : \A t \in later : s.end_offset <= t.end_offset
  IN
  /\ later # {}
  /\ log' = [log EXCEPT ![r] = Records(r, next.end_offset, LogEnd(r))]
  /\ log_start' = [log_start EXCEPT ![r] = next.end_offset]
  /\ snapshots' = [snapshots EXCEPT ![r] = later]
  /\ UNCHANGED <<quorum_state, flushed, role, election, following, end_offset, commit, messages>>
------------------------------------------------------------------------------
(* The leader's log                                                          *)

(***************************************************************************)
(* Leader r appends a record. It counts itself at once, and flushes next.  *)
(* A sole voter is its own majority: the record is committed, and declared *)
(* committed, before it is flushed.                                        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.appendBatch, flushLeaderLog.                     *)
(***************************************************************************)
AppendEntry(r, entry) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ log' = [log EXCEPT ![r] = Append(@, entry)]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + 1)]
  /\ UpdateHighWatermark(r, high_watermark[r], EpochStart(r), Append(History(r), entry),
                         end_offset[r])
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, following, end_offset,
                 messages>>

AppendRecord(r, value) ==
  /\ value \in Writable(r)
  /\ AppendEntry(r, [epoch |-> epoch[r], kind |-> "Data", value |-> value])

(***************************************************************************)
(* A leader flushes what it appended.                                      *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.flushLeaderLog.                                  *)
(***************************************************************************)
Flush(r) ==
  /\ ~Idle(r)
  /\ flushed' = [flushed EXCEPT ![r] = LogEnd(r)]
  /\ UNCHANGED <<quorum_state, log, log_start, snapshots, role, election, following,
                 end_offset, commit, messages>>
------------------------------------------------------------------------------
(* Restarts, timeouts and the network                                        *)

(* The role of r when it starts, according to its file. If r led: Resigned,  *)
(* and never Leader again in that epoch, since r may have lost records that  *)
(* others have. If it voted for itself: Candidate, even if it has followed   *)
(* another since. If it knows the leader: Follower, provided that the leader *)
(* is one of its voters.                                                     *)
(* Kafka: QuorumState.initialize. Its rule for a file that is older than the *)
(* log is left out, since the file never is (EpochsAscendInv).               *)
RoleAtBoot(r, voters) ==
  CASE leader[r] = r -> "Resigned"
    [] leader[r] # r /\ voted[r] = r -> "Candidate"
    [] leader[r] # r /\ voted[r] # r /\ leader[r] \in voters -> "Follower"
    [] OTHER -> "Unattached"

(* The snapshots of r that go beyond an end of its log.                      *)
SnapshotsBeyond(r, end) == {s \in snapshots[r] : s.end_offset > end}

(* r starts with the part of its log that ends at `kept`. If its latest      *)
(* snapshot goes beyond that, the log begins anew where the snapshot ends.   *)
(* The snapshot was flushed, and the records that it covers were not.        *)
(* Kafka: ReplicatedLog.truncateToLatestSnapshot.                            *)
Boot(r, kept) ==
  LET anew == SnapshotsBeyond(r, kept) # {}
      end == IF anew THEN LatestSnapshot(r).end_offset ELSE kept
      last == IF anew THEN LatestSnapshot(r).epoch ELSE EpochBefore(r, end)
      voters == VotersOf(IF anew THEN LatestSnapshot(r).records ELSE SubSeq(History(r), 1, end))
      others == voters \ {r}
      bag == Disconnected(r)
      is == RoleAtBoot(r, voters)
  IN
  /\ log' = [log EXCEPT ![r] = IF anew THEN << >> ELSE Records(r, log_start[r], end)]
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
(* A replica stops and starts again, with everything that it wrote.        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize.                                      *)
(***************************************************************************)
Restart(r) == Boot(r, LogEnd(r))

(***************************************************************************)
(* A replica's machine loses power, and the replica loses what it had not  *)
(* flushed.                                                                *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize.                                      *)
(***************************************************************************)
CrashLosingTail(r) == flushed[r] < LogEnd(r) /\ Boot(r, flushed[r])

(***************************************************************************)
(* A replica gives up on its request to another replica: the request or    *)
(* the answer was lost.                                                    *)
(*                                                                         *)
(* Kafka: RequestManager.hasRequestTimedOut.                               *)
(***************************************************************************)
RequestTimeout(r, other) ==
  /\ Waiting(r, other)
  /\ messages' = Unawaited(messages, r, {other})
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* A request arrives a second time. Its sender does not wait for the       *)
(* answer to the copy.                                                     *)
(***************************************************************************)
DuplicateMessage(m) ==
  /\ IsRequest(m)
  /\ Reorder
  /\ messages' = Put(messages, [m EXCEPT !.awaited = FALSE])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
ElectionNext ==
  \/ \E r \in Replica : BecomeProspective(r)
  \/ \E r \in Replica : LosePreVote(r)
  \/ \E r \in Replica : LeaveResigned(r)
  \/ \E m \in InFlight(messages) : GrantVote(m)
  \/ \E m \in InFlight(messages) : GrantPreVote(m)
  \/ \E m \in InFlight(messages) : RefuseVote(m)
  \/ \E m \in InFlight(messages) : RecordVote(m)
  \/ \E m \in InFlight(messages) : BecomeCandidate(m)
  \/ \E m \in InFlight(messages) : BecomeLeader(m)
  \/ \E r \in Replica : BecomeSoleLeader(r)
  \/ \E r, other \in Replica : SendVoteRequest(r, other)

EpochNext ==
  \/ \E r, other \in Replica : SendBeginQuorumEpoch(r, other)
  \/ \E r \in Replica : Resign(r)
  \/ \E m \in InFlight(messages) : HandleBeginQuorumEpoch(m)
  \/ \E m \in InFlight(messages) : HandleEndQuorumEpoch(m)
  \/ \E m \in InFlight(messages) : FenceRequest(m)
  \/ \E m \in InFlight(messages) : DiscoverEpoch(m)
  \/ \E m \in InFlight(messages) : IgnoreResponse(m)

FetchNext ==
  \/ \E r, other \in Replica : SendFetch(r, other)
  \/ \E m \in InFlight(messages) : RefuseFetch(m)
  \/ \E m \in InFlight(messages) : AnswerWithSnapshotId(m)
  \/ \E m \in InFlight(messages) : AnswerDiverging(m)
  \/ \E m \in InFlight(messages) : \E end \in 0 .. LogEnd(m.to) : AnswerFetch(m, end)
  \/ \E m \in InFlight(messages) : AppendFetched(m)
  \/ \E m \in InFlight(messages) : TruncateDiverging(m)

SnapshotNext ==
  \/ \E m \in InFlight(messages) : BeginSnapshotFetch(m)
  \/ \E r \in Replica : SendFetchSnapshot(r)
  \/ \E m \in InFlight(messages) : AnswerFetchSnapshot(m)
  \/ \E m \in InFlight(messages) : LoadSnapshot(m)
  \/ \E m \in InFlight(messages) : AbandonSnapshot(m)
  \/ \E r \in Replica : \E end \in 1 .. high_watermark[r] : CreateSnapshot(r, end)
  \/ \E r \in Replica : CleanLog(r)

LogNext ==
  \/ \E r \in Replica, value \in Value : AppendRecord(r, value)
  \/ \E r \in Replica : Flush(r)

WorldNext ==
  \/ \E r \in Replica : Restart(r)
  \/ \E r \in Replica : CrashLosingTail(r)
  \/ \E r, other \in Replica : RequestTimeout(r, other)
  \/ \E m \in InFlight(messages) : DuplicateMessage(m)

Next == ElectionNext \/ EpochNext \/ FetchNext \/ SnapshotNext \/ LogNext \/ WorldNext

Spec == Init /\ [][Next]_vars
==============================================================================
