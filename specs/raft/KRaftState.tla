----------------------------- MODULE KRaftState -----------------------------
(***************************************************************************)
(* The state of a KRaft replica, the messages it sends, predicates on its  *)
(* own state, and the transitions of its quorum state. The steps are in    *)
(* KRaftElection and KRaft.                                                *)
(***************************************************************************)
EXTENDS Network, FiniteSets, Sequences

CONSTANTS
  Replica,      \* All replicas of the log: voters and observers.
  Value,        \* The values that the state machine above may write.
  VotersOf(_),  \* VotersOf(records): the voters, given all records of a replica from offset 0 on.
  Reorder,      \* TRUE: a request may arrive after its sender has given up on it.
  Nil           \* No replica, no snapshot id, no value.

ASSUME Constants ==
  /\ Replica # {} /\ IsFiniteSet(Replica)
  /\ VotersOf(<< >>) \in SUBSET Replica
  /\ Reorder \in BOOLEAN
  /\ Nil \notin Replica

VARIABLES
  (* The quorum-state file. Kafka keeps the same three fields in memory and  *)
  (* writes the file before it goes on; so each of them is one variable      *)
  (* here.                                                                   *)
  epoch,              \* [Replica -> Nat].
  leader,             \* [Replica -> Replica or Nil]: the leader of that epoch, if known.
  voted,              \* [Replica -> Replica or Nil]: the replica that got the vote of that epoch.
  (* The log directory.                                                      *)
  log,                \* [Replica -> Seq(Entry)]: the first entry stands at log_start.
  log_start,          \* [Replica -> offset].
  flushed,            \* [Replica -> offset]: a crash keeps everything before this offset.
  snapshots,          \* [Replica -> set of snapshots].
  (* In memory, and lost with every restart.                                 *)
  role,               \* [Replica -> Role]: in Kafka the class of its EpochState.
  granted,            \* [Replica -> set of replicas]: the replicas that granted their vote in its election.
  rejected,           \* [Replica -> set of replicas]: the replicas that refused it.
  has_fetched,        \* [Replica -> BOOLEAN]: whether a follower has heard from its leader.
  fetching_snapshot,  \* [Replica -> snapshot id or Nil]: the snapshot that a follower must load.
  end_offset,         \* [Replica -> [Replica -> offset]]: the log ends that a leader knows.
  high_watermark,     \* [Replica -> offset]: the end of what it knows to be committed.
  messages,           \* The bag of messages in flight.
  (* History, which no step reads.                                           *)
  committed           \* Seq(Entry): the longest log that any leader has declared committed.

quorum_state == <<epoch, leader, voted>>
log_state == <<log, log_start, flushed, snapshots>>
election == <<granted, rejected>>
following == <<has_fetched, fetching_snapshot>>
commit == <<high_watermark, committed>>
vars == <<epoch, leader, voted, log, log_start, flushed, snapshots, role, granted,
          rejected, has_fetched, fetching_snapshot, end_offset, high_watermark,
          messages, committed>>
------------------------------------------------------------------------------
(* Values                                                                    *)

Role == {"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned"}

NoOffset == -1    \* Not known.
Offset == Nat \cup {NoOffset}

(* A LeaderChange entry begins an epoch and names its leader. A Data entry   *)
(* is written by the state machine. A Voters entry is written by KRaftVoters *)
(* only.                                                                     *)
Entry ==
  [epoch : Nat \ {0}, kind : {"LeaderChange"}, value : Replica]
  \cup [epoch : Nat \ {0}, kind : {"Data"}, value : Value]
  \cup [epoch : Nat \ {0}, kind : {"Voters"}, value : SUBSET Replica]

(* epoch is the epoch of the last record before end_offset. *)
OffsetAndEpoch == [end_offset : Nat, epoch : Nat]

(* A snapshot holds the state that the records before its end produce. That  *)
(* state is a function of the records, so a snapshot here holds the records  *)
(* themselves.                                                               *)
Snapshot == [end_offset : Nat \ {0}, epoch : Nat \ {0}, records : Seq(Entry)]
IdOf(snapshot) == [end_offset |-> snapshot.end_offset, epoch |-> snapshot.epoch]

VoteRequest ==
  [type : {"VoteRequest"}, from : Replica, to : Replica, awaited : BOOLEAN, epoch : Nat,
   pre_vote : BOOLEAN, last_epoch : Nat, last_offset : Nat]
VoteResponse ==
  [type : {"VoteResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil}, granted : BOOLEAN]
QuorumEpochRequest ==
  [type : {"BeginQuorumEpochRequest", "EndQuorumEpochRequest"},
   from : Replica, to : Replica, awaited : BOOLEAN, epoch : Nat]
QuorumEpochResponse ==
  [type : {"BeginQuorumEpochResponse", "EndQuorumEpochResponse"},
   from : Replica, to : Replica, epoch : Nat, leader : Replica \cup {Nil}]
FetchRequest ==
  [type : {"FetchRequest"}, from : Replica, to : Replica, awaited : BOOLEAN, epoch : Nat,
   offset : Nat, last_epoch : Nat]
FetchResponse ==
  [type : {"FetchResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil},
   error : {"NONE", "NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"},
   records : Seq(Entry), high_watermark : Offset,
   diverging : OffsetAndEpoch \cup {Nil}, snapshot_id : OffsetAndEpoch \cup {Nil}]
FetchSnapshotRequest ==
  [type : {"FetchSnapshotRequest"}, from : Replica, to : Replica, awaited : BOOLEAN,
   epoch : Nat, snapshot_id : OffsetAndEpoch]
FetchSnapshotResponse ==
  [type : {"FetchSnapshotResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil},
   error : {"NONE", "NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH",
            "SNAPSHOT_NOT_FOUND"},
   snapshot : Snapshot \cup {Nil}]
Message ==
  VoteRequest \cup VoteResponse \cup QuorumEpochRequest \cup QuorumEpochResponse
  \cup FetchRequest \cup FetchResponse \cup FetchSnapshotRequest \cup FetchSnapshotResponse

IsRequest(m) ==
  m.type \in {"VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest",
              "FetchRequest", "FetchSnapshotRequest"}

TypeOK ==
  /\ epoch \in [Replica -> Nat]
  /\ leader \in [Replica -> Replica \cup {Nil}]
  /\ voted \in [Replica -> Replica \cup {Nil}]
  /\ log \in [Replica -> Seq(Entry)]
  /\ log_start \in [Replica -> Nat]
  /\ flushed \in [Replica -> Nat]
  /\ \A r \in Replica : snapshots[r] \subseteq Snapshot
  /\ role \in [Replica -> Role]
  /\ granted \in [Replica -> SUBSET Replica]
  /\ rejected \in [Replica -> SUBSET Replica]
  /\ has_fetched \in [Replica -> BOOLEAN]
  /\ fetching_snapshot \in [Replica -> OffsetAndEpoch \cup {Nil}]
  /\ end_offset \in [Replica -> [Replica -> Offset]]
  /\ high_watermark \in [Replica -> Offset]
  /\ IsBagOf(messages, Message)
  /\ committed \in Seq(Entry)
------------------------------------------------------------------------------
(* The log of replica r                                                      *)

Min(a, b) == IF a < b THEN a ELSE b

LogEnd(r) == log_start[r] + Len(log[r])

(* The record at an offset from log_start on. *)
EntryAt(r, offset) == log[r][offset - log_start[r] + 1]

(* The records from one offset up to another. *)
Records(r, from, end) == SubSeq(log[r], from - log_start[r] + 1, end - log_start[r])

EarliestSnapshot(r) ==
  CHOOSE s \in snapshots[r] : \A t \in snapshots[r] : s.end_offset <= t.end_offset
LatestSnapshot(r) ==
  CHOOSE s \in snapshots[r] : \A t \in snapshots[r] : s.end_offset >= t.end_offset

(* All records that r has from offset 0 on, including those in its snapshot. *)
History(r) == IF log_start[r] = 0 THEN log[r] ELSE EarliestSnapshot(r).records \o log[r]

(* The epoch of the record before an offset. *)
EpochBefore(r, offset) ==
  IF offset > log_start[r] THEN EntryAt(r, offset - 1).epoch
  ELSE IF offset = 0 THEN 0 ELSE EarliestSnapshot(r).epoch

LastEpoch(r) == EpochBefore(r, LogEnd(r))

(* The largest epoch in r's log that is not larger than e, and the offset    *)
(* where it ends. Kafka: ReplicatedLog.endOffsetForEpoch.                    *)
EndOffsetForEpoch(r, e) ==
  LET ends == {o \in log_start[r] .. LogEnd(r) : EpochBefore(r, o) <= e} IN
  IF ends = {} THEN [end_offset |-> log_start[r], epoch |-> 0]
  ELSE LET end == CHOOSE o \in ends : \A p \in ends : p <= o
       IN  [end_offset |-> end, epoch |-> EpochBefore(r, end)]

(* The offset where the leader's epoch begins in its log. If that offset is  *)
(* covered by a snapshot, the whole log is of its epoch.                     *)
EpochStart(r) ==
  LET own == {o \in log_start[r] .. (LogEnd(r) - 1) : EntryAt(r, o).epoch = epoch[r]} IN
  IF own = {} THEN log_start[r] ELSE CHOOSE o \in own : \A p \in own : o <= p

(* The end up to which the log is flushed after an append: no further than   *)
(* before. Models in which no crash takes a tail replace this by             *)
(* FlushedAtOnce.                                                            *)
FlushedWith(r, end) == flushed[r]
FlushedAtOnce(r, end) == end

(* r's raft thread can take a message: a leader that has appended flushes    *)
(* first.                                                                    *)
Idle(r) == role[r] = "Leader" => flushed[r] = LogEnd(r)
------------------------------------------------------------------------------
(* Voters, according to r's own log                                          *)

Voters(r) == VotersOf(History(r))

IsVoter(r) == r \in Voters(r)

(* r flushes what it fetches even if it is not a voter. A controller does,    *)
(* since it may become a voter; a broker never becomes one. Models with      *)
(* brokers replace this. Kafka: KafkaRaftClient.followersAlwaysFlush.        *)
AlwaysFlushes(r) == TRUE

(* The end up to which r's log is flushed once r has fetched records up to   *)
(* an end. Kafka: KafkaRaftClient.appendAsFollower, which looks at the       *)
(* voters before these records.                                              *)
FlushedFetching(r, end) == IF AlwaysFlushes(r) \/ IsVoter(r) THEN end ELSE flushed[r]

IsMajority(r, some) ==
  2 * Cardinality(some \cap Voters(r)) > Cardinality(Voters(r))

IsNominee(r) == role[r] \in {"Prospective", "Candidate"}

(* The log of the sender of vote request m is at least as up to date as r's  *)
(* log: the epoch of the last record decides, and the length decides only    *)
(* within one epoch.                                                         *)
IsUpToDate(r, m) ==
  \/ m.last_epoch > LastEpoch(r)
  \/ m.last_epoch = LastEpoch(r) /\ m.last_offset >= LogEnd(r)

(* A timer of r has expired. The spec has no time, so that is possible       *)
(* always.                                                                   *)
TimerExpired(r) == TRUE

(* The values that r's state machine may write. *)
Writable(r) == Value
------------------------------------------------------------------------------
(* Connections. A replica has at most one request in flight to each other    *)
(* replica. Once it gives up on that request, the answer finds a closed      *)
(* connection.                                                               *)

Waiting(r, other) ==
  \E m \in InFlight(messages) :
    \/ IsRequest(m) /\ m.awaited /\ m.from = r /\ m.to = other
    \/ ~IsRequest(m) /\ m.to = r /\ m.from = other

(* The bag after r has given up on its requests to the replicas in `others`. *)
(* With Reorder, these requests may still arrive.                            *)
Unawaited(bag, r, others) ==
  LET asked   == {m \in InFlight(bag) :
                    IsRequest(m) /\ m.awaited /\ m.from = r /\ m.to \in others}
      answers == {m \in InFlight(bag) : ~IsRequest(m) /\ m.to = r /\ m.from \in others}
      rest    == Drop(bag, asked \cup answers)
      late    == {[m EXCEPT !.awaited = FALSE] : m \in asked}
  IN  IF Reorder
      THEN [m \in InFlight(rest) \cup late |->
              (IF m \in InFlight(rest) THEN rest[m] ELSE 0) + (IF m \in late THEN 1 ELSE 0)]
      ELSE rest

(* Every change of role or epoch closes all connections of r. Requests that  *)
(* it has sent may still arrive. Kafka: RequestManager.resetAll.             *)
Disconnected(r) == Unawaited(messages, r, Replica)

RECURSIVE PutAll(_, _)
PutAll(bag, set) ==
  IF set = {} THEN bag
  ELSE LET m == CHOOSE x \in set : TRUE IN PutAll(Put(bag, m), set \ {m})

(* The bag with m answered. A request that its sender no longer awaits gets  *)
(* no answer.                                                                *)
Reply(m, response) == IF m.awaited THEN Answer(messages, m, response) ELSE Take(messages, m)

VoteRequests(r, e, pre_vote, others) ==
  {[type |-> "VoteRequest", from |-> r, to |-> other, awaited |-> TRUE, epoch |-> e,
    pre_vote |-> pre_vote, last_epoch |-> LastEpoch(r), last_offset |-> LogEnd(r)] :
     other \in others}

QuorumEpochRequests(type, r, others) ==
  {[type |-> type, from |-> r, to |-> other, awaited |-> TRUE, epoch |-> epoch[r]] :
     other \in others}
------------------------------------------------------------------------------
(* Transitions of the quorum state. Each clears all state of the role that   *)
(* it ends. Only a new leader resets the high watermark. Kafka's leader also *)
(* forgets it when it resigns (docs/not-modelled.md).                        *)

NoElection(r) ==
  /\ granted' = [granted EXCEPT ![r] = {}]
  /\ rejected' = [rejected EXCEPT ![r] = {}]
NoFollowing(r) ==
  /\ has_fetched' = [has_fetched EXCEPT ![r] = FALSE]
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![r] = Nil]
NoEndOffsets == [other \in Replica |-> NoOffset]
NoLeading(r) == end_offset' = [end_offset EXCEPT ![r] = NoEndOffsets]

WriteQuorumState(r, e, l, v) ==
  /\ epoch' = [epoch EXCEPT ![r] = e]
  /\ leader' = [leader EXCEPT ![r] = l]
  /\ voted' = [voted EXCEPT ![r] = v]

(* The vote stays within an epoch; a new epoch begins without a vote. *)
VoteIn(r, e) == IF e = epoch[r] THEN voted[r] ELSE Nil

(* Kafka: QuorumState.transitionToUnattached, unattachedAddVotedState. *)
TransitionToUnattached(r, e, v) ==
  /\ WriteQuorumState(r, e, Nil, v)
  /\ role' = [role EXCEPT ![r] = "Unattached"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)

(* Kafka: QuorumState.transitionToFollower. *)
TransitionToFollower(r, e, l) ==
  /\ WriteQuorumState(r, e, l, VoteIn(r, e))
  /\ role' = [role EXCEPT ![r] = "Follower"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)

(* r stands for election, votes for itself, and asks all other voters, all   *)
(* in one step: anything that could happen in between could also happen      *)
(* before.                                                                   *)
(* Kafka: QuorumState.transitionToProspective, transitionToCandidate;        *)
(* KafkaRaftClient.maybeSendVoteRequests.                                    *)
Stand(r, e, as, bag) ==
  /\ role' = [role EXCEPT ![r] = as]
  /\ granted' = [granted EXCEPT ![r] = {r}]
  /\ rejected' = [rejected EXCEPT ![r] = {}]
  /\ NoFollowing(r) /\ NoLeading(r)
  /\ messages' = PutAll(bag, VoteRequests(r, e, as = "Prospective", Voters(r) \ {r}))

(* A prospective r has given its vote to another replica, and counts from    *)
(* the beginning. Replicas it asked before may still answer; it asks the     *)
(* others again (SendVoteRequest).                                           *)
(* Kafka: QuorumState.prospectiveAddVotedState.                              *)
StandOn(r) ==
  /\ granted' = [granted EXCEPT ![r] = {r}]
  /\ rejected' = [rejected EXCEPT ![r] = {}]
  /\ UNCHANGED <<role, following, end_offset>>
------------------------------------------------------------------------------
(* The high watermark                                                        *)

(* The largest offset that a majority of the voters has reached. A leader    *)
(* knows its own end, and counts it only if it is a voter.                   *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                              *)
MajorityOffset(voters, ends) ==
  LET reached == {o \in {ends[v] : v \in voters} :
                    2 * Cardinality({v \in voters : ends[v] >= o}) > Cardinality(voters)}
  IN  IF reached = {} THEN NoOffset ELSE CHOOSE o \in reached : \A p \in reached : p <= o

(* The high watermark of leader r, given the log ends of its voters. The     *)
(* offset must be beyond the start of the leader's epoch, so a record of its *)
(* own epoch is included: records of older epochs may still be replaced even *)
(* if they are on a majority. The high watermark never goes back.            *)
HighWatermarkOf(r, old, start, voters, ends) ==
  LET offset == MajorityOffset(voters, ends) IN
  IF offset > start /\ offset > old THEN offset ELSE old

(* Leader r raises its high watermark as far as it can, given its records    *)
(* and the log ends that it knows after this step.                           *)
UpdateHighWatermark(r, old, start, history, ends) ==
  LET hw == HighWatermarkOf(r, old, start, VotersOf(history),
                            [ends EXCEPT ![r] = Len(history)])
  IN  /\ high_watermark' = [high_watermark EXCEPT ![r] = hw]
      /\ committed' = IF hw > Len(committed) THEN SubSeq(history, 1, hw) ELSE committed
------------------------------------------------------------------------------
Init ==
  /\ epoch = [r \in Replica |-> 0]
  /\ leader = [r \in Replica |-> Nil]
  /\ voted = [r \in Replica |-> Nil]
  /\ log = [r \in Replica |-> << >>]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> 0]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> "Unattached"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> FALSE]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |-> NoEndOffsets]
  /\ high_watermark = [r \in Replica |-> NoOffset]
  /\ messages = NoMessages
  /\ committed = << >>
==============================================================================
