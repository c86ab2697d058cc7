-------------------------------- MODULE KRaft --------------------------------
(***************************************************************************)
(* KRaft: Raft as Kafka's controllers run it. Followers pull: a fetch asks *)
(* for records, and acknowledges all before its offset. A leader needs a   *)
(* majority of votes to begin, and begins its epoch with a record of its   *)
(* own; only once that record is on a majority is anything committed in    *)
(* that epoch. Who stands for election first asks whether it could win.    *)
(*                                                                         *)
(* Sources: KIP-595 (the protocol), KIP-630 (snapshots), KIP-996           *)
(* (pre-vote), and Kafka 4.1 as built. The voter set is what VotersOf says *)
(* of a replica's own records: constant here, and taken from the records   *)
(* themselves by KIP-853's module, KRaftVoters.                            *)
(*                                                                         *)
(* An offset counts records from 0, an end is the first offset that is not *)
(* there. A log begins at its start; what lies before is in a snapshot.    *)
(*                                                                         *)
(* Kafka's raft thread takes one message at a time, and has written and    *)
(* flushed what the last one asked for before it takes the next. So a step *)
(* here is one message, with one exception that can be seen from outside:  *)
(* between a leader's append and its flush, fetches that wait for records  *)
(* are answered already. Idle says who may take a message.                 *)
(***************************************************************************)
EXTENDS Network, FiniteSets, Sequences

CONSTANTS
  Replica,      \* All that hold the log: voters and observers.
  Value,        \* What the state machine above may write.
  VotersOf(_),  \* The voters, by all records a replica has, from offset 0 on.
  Reorder,      \* TRUE: a request its sender gave up on may arrive still.
  Nil           \* Nobody, nothing.

ASSUME Constants ==
  /\ Replica # {} /\ IsFiniteSet(Replica)
  /\ VotersOf(<< >>) \in SUBSET Replica
  /\ Reorder \in BOOLEAN
  /\ Nil \notin Replica

VARIABLES
  (* The quorum-state file. Kafka keeps the same three in memory, and        *)
  (* writes the file before it goes on; so they are here once.               *)
  epoch,              \* [Replica -> Nat].
  leader,             \* [Replica -> Replica or Nil]: who leads that epoch, if known.
  voted,              \* [Replica -> Replica or Nil]: who got the vote of that epoch.
  (* The log directory.                                                      *)
  log,                \* [Replica -> Seq(Entry)], the first one at log_start.
  log_start,          \* [Replica -> offset].
  flushed,            \* [Replica -> offset]: the end of what a crash cannot take.
  snapshots,          \* [Replica -> set of snapshots].
  (* In memory, lost with every restart.                                     *)
  role,               \* [Replica -> Role]: the class of its EpochState in Kafka.
  granted,            \* [Replica -> set of replicas]: who said yes in its election.
  rejected,           \* [Replica -> set of replicas]: who said no.
  has_fetched,        \* [Replica -> BOOLEAN]: a follower heard from its leader.
  fetching_snapshot,  \* [Replica -> snapshot id or Nil]: what a follower must load.
  end_offset,         \* [Replica -> [Replica -> offset]]: what a leader knows of the logs.
  high_watermark,     \* [Replica -> offset]: the end of what it knows to be committed.
  messages,           \* The bag of messages in flight.
  (* History, which no step reads.                                           *)
  committed           \* Seq(Entry): the longest log that any leader said is committed.

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

(* LeaderChange begins an epoch and names its leader. Data is what the state *)
(* machine writes. Voters is written by KRaftVoters only.                    *)
Entry ==
  [epoch : Nat \ {0}, kind : {"LeaderChange"}, value : Replica]
  \cup [epoch : Nat \ {0}, kind : {"Data"}, value : Value]
  \cup [epoch : Nat \ {0}, kind : {"Voters"}, value : SUBSET Replica]

(* The last record before end_offset has this epoch. *)
OffsetAndEpoch == [end_offset : Nat, epoch : Nat]

(* A snapshot holds what a state machine makes of the records before its end;*)
(* that is a function of them, so here it holds the records.                 *)
Snapshot == [end_offset : Nat \ {0}, epoch : Nat \ {0}, records : Seq(Entry)]
IdOf(snapshot) == [end_offset |-> snapshot.end_offset, epoch |-> snapshot.epoch]

VoteRequest ==
  [type : {"VoteRequest"}, from : Replica, to : Replica, awaited : BOOLEAN, epoch : Nat,
   pre_vote : BOOLEAN, last_epoch : Nat, last_offset : Nat]
VoteResponse ==
  [type : {"VoteResponse"}, from : Replica, to : Replica, epoch : Nat,
   leader : Replica \cup {Nil}, pre_vote : BOOLEAN, granted : BOOLEAN]
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

(* All records that r has, those in its snapshot included, from offset 0 on. *)
History(r) == IF log_start[r] = 0 THEN log[r] ELSE EarliestSnapshot(r).records \o log[r]

(* The epoch of the record before an offset. *)
EpochBefore(r, offset) ==
  IF offset > log_start[r] THEN EntryAt(r, offset - 1).epoch
  ELSE IF offset = 0 THEN 0 ELSE EarliestSnapshot(r).epoch

LastEpoch(r) == EpochBefore(r, LogEnd(r))

(* The largest epoch in r's log that is no larger than the given one, and    *)
(* where it ends. Kafka: ReplicatedLog.endOffsetForEpoch.                    *)
EndOffsetForEpoch(r, e) ==
  LET ends == {o \in log_start[r] .. LogEnd(r) : EpochBefore(r, o) <= e} IN
  IF ends = {} THEN [end_offset |-> log_start[r], epoch |-> 0]
  ELSE LET end == CHOOSE o \in ends : \A p \in ends : p <= o
       IN  [end_offset |-> end, epoch |-> EpochBefore(r, end)]

(* Where the leader's epoch begins in its log. If that is in a snapshot, the *)
(* whole log is of its epoch.                                                *)
EpochStart(r) ==
  LET own == {o \in log_start[r] .. (LogEnd(r) - 1) : EntryAt(r, o).epoch = epoch[r]} IN
  IF own = {} THEN log_start[r] ELSE CHOOSE o \in own : \A p \in own : o <= p

(* How far the log is flushed after an append up to an end: not further than *)
(* before. Models in which no crash takes a tail put FlushedAtOnce here.     *)
FlushedWith(r, end) == flushed[r]
FlushedAtOnce(r, end) == end

(* r's raft thread takes messages: it has flushed what it wrote.             *)
Idle(r) == flushed[r] = LogEnd(r)
------------------------------------------------------------------------------
(* Voters, by what r itself has in its log                                   *)

Voters(r) == VotersOf(History(r))

IsVoter(r) == r \in Voters(r)

IsMajority(r, some) ==
  2 * Cardinality(some \cap Voters(r)) > Cardinality(Voters(r))

IsNominee(r) == role[r] \in {"Prospective", "Candidate"}

(* The log of the sender of a vote request is no worse than r's: by the      *)
(* epoch of the last record first, and by length only within one epoch.      *)
IsUpToDate(r, m) ==
  \/ m.last_epoch > LastEpoch(r)
  \/ m.last_epoch = LastEpoch(r) /\ m.last_offset >= LogEnd(r)
------------------------------------------------------------------------------
(* Connections. A replica has one request under way to each other replica;   *)
(* once it gives that up, an answer finds a closed connection.               *)

Waiting(r, other) ==
  \E m \in InFlight(messages) :
    \/ IsRequest(m) /\ m.awaited /\ m.from = r /\ m.to = other
    \/ ~IsRequest(m) /\ m.to = r /\ m.from = other

(* The bag once r waits no longer for any of the others. Where order is not  *)
(* kept, its requests may arrive still.                                      *)
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

(* Every change of role or epoch closes all connections of r.                *)
(* Kafka: RequestManager.resetAll.                                           *)
Disconnected(r) == Unawaited(messages, r, Replica)

RECURSIVE PutAll(_, _)
PutAll(bag, set) ==
  IF set = {} THEN bag
  ELSE LET m == CHOOSE x \in set : TRUE IN PutAll(Put(bag, m), set \ {m})

(* The answer to a request; to one that nobody waits for there is none.      *)
Reply(m, response) == IF m.awaited THEN Answer(messages, m, response) ELSE Take(messages, m)

VoteRequests(r, e, pre_vote, others) ==
  {[type |-> "VoteRequest", from |-> r, to |-> other, awaited |-> TRUE, epoch |-> e,
    pre_vote |-> pre_vote, last_epoch |-> LastEpoch(r), last_offset |-> LogEnd(r)] :
     other \in others}

QuorumEpochRequests(type, r, others) ==
  {[type |-> type, from |-> r, to |-> other, awaited |-> TRUE, epoch |-> epoch[r]] :
     other \in others}
------------------------------------------------------------------------------
(* Transitions of the quorum state. Each leaves behind all that belongs to   *)
(* the role it ends. The high watermark stays, but for a new leader.         *)

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

(* The vote of this epoch stays; a new epoch begins without one. *)
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

(* r stands, votes for itself, and asks all others, in the same step: what   *)
(* could happen in between could as well happen before.                      *)
(* Kafka: QuorumState.transitionToProspective, prospectiveAddVotedState,     *)
(* transitionToCandidate; KafkaRaftClient.maybeSendVoteRequests.             *)
Stand(r, e, as, bag) ==
  /\ role' = [role EXCEPT ![r] = as]
  /\ granted' = [granted EXCEPT ![r] = {r}]
  /\ rejected' = [rejected EXCEPT ![r] = {}]
  /\ NoFollowing(r) /\ NoLeading(r)
  /\ messages' = PutAll(bag, VoteRequests(r, e, as = "Prospective", Voters(r) \ {r}))
------------------------------------------------------------------------------
(* The high watermark                                                        *)

(* The largest offset that a majority of r's voters has reached. A leader    *)
(* knows its own end; it counts only if it is a voter.                       *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                              *)
MajorityOffset(voters, ends) ==
  LET reached == {o \in {ends[v] : v \in voters} :
                    2 * Cardinality({v \in voters : ends[v] >= o}) > Cardinality(voters)}
  IN  IF reached = {} THEN NoOffset ELSE CHOOSE o \in reached : \A p \in reached : p <= o

(* What a leader knows to be committed when the logs of its voters end so.   *)
(* A record of its own epoch must be among it (!): records of older epochs   *)
(* on a majority may still be replaced. It never goes back.                  *)
HighWatermarkOf(r, old, start, voters, ends) ==
  LET offset == MajorityOffset(voters, ends) IN
  IF offset > start /\ offset > old THEN offset ELSE old                       \* (!)

(* Leader r raises its high watermark as far as it can, given its records    *)
(* and what it knows of the others' ends after this step.                    *)
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
------------------------------------------------------------------------------
(* Elections                                                                 *)

(***************************************************************************)
(* A voter has waited too long: a follower for its leader's answers, an    *)
(* unattached one for a leader, a candidate for votes. It asks the others  *)
(* whether they would vote for it. Nothing is written, and the epoch, its  *)
(* vote and the leader it knows of stay.                                   *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToProspective.                             *)
(***************************************************************************)
BecomeProspective(r) ==
  /\ Idle(r)
  /\ IsVoter(r)
  /\ Voters(r) # {r}
  /\ role[r] \in {"Unattached", "Follower", "Candidate"}
  /\ Stand(r, epoch[r], "Prospective", Disconnected(r))
  /\ UNCHANGED <<quorum_state, log_state, commit>>

(***************************************************************************)
(* A prospective voter was refused, or waited too long. It goes back to    *)
(* the leader it knew, or waits for one; in the same epoch, so the vote it *)
(* may have given there stays (!).                                         *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.pollProspective.                                 *)
(***************************************************************************)
LosePreVote(r) ==
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ IF leader[r] = Nil
     THEN TransitionToUnattached(r, epoch[r], voted[r])                        \* (!)
     ELSE TransitionToFollower(r, epoch[r], leader[r])
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A resigned leader has waited for its successor. It may not stand in the *)
(* epoch it led, nor vote there, so it goes on to the next.                *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.pollResigned.                                    *)
(***************************************************************************)
LeaveResigned(r) ==
  /\ Idle(r)
  /\ role[r] = "Resigned"
  /\ TransitionToUnattached(r, epoch[r] + 1, Nil)
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<log_state, commit>>

(* Who would vote for the sender of m, or does.                              *)
(* In a higher epoch nothing binds r yet but its log. A pre-vote binds       *)
(* nobody: it is refused by a leader, and by a follower whose leader         *)
(* answers it. A vote is given once in an epoch, and not when its leader is  *)
(* known; the one who got it gets it again.                                  *)
(* Kafka: canGrantVote of the EpochStates.                                   *)
CanGrantVote(r, m) ==
  IF m.epoch > epoch[r] THEN IsUpToDate(r, m)
  ELSE IF m.pre_vote THEN
    /\ role[r] # "Leader"
    /\ role[r] = "Follower" => ~has_fetched[r]
    /\ IsUpToDate(r, m)
  ELSE
    /\ role[r] \in {"Unattached", "Prospective"}
    /\ IF voted[r] # Nil THEN voted[r] = m.from
       ELSE leader[r] = Nil /\ IsUpToDate(r, m)

VoteResponseTo(m, l, grant) ==
  [type |-> "VoteResponse", from |-> m.to, to |-> m.from, epoch |-> m.epoch,
   leader |-> l, pre_vote |-> m.pre_vote, granted |-> grant]

(***************************************************************************)
(* r votes for the sender of m. The vote is written before it is sent. A   *)
(* prospective r goes on asking, from the beginning.                       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
GrantVote(m) ==
  LET r == m.to IN
  /\ m.type = "VoteRequest"
  /\ ~m.pre_vote
  /\ Idle(r)
  /\ m.epoch >= epoch[r]
  /\ CanGrantVote(r, m)
  /\ CASE m.epoch = epoch[r] /\ voted[r] = m.from ->
            /\ messages' = Reply(m, VoteResponseTo(m, leader[r], TRUE))
            /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>
       [] m.epoch = epoch[r] /\ voted[r] = Nil /\ role[r] = "Prospective" ->
            /\ WriteQuorumState(r, m.epoch, Nil, m.from)
            /\ Stand(r, m.epoch, "Prospective",
                     Unawaited(Reply(m, VoteResponseTo(m, Nil, TRUE)), r, Replica))
       [] OTHER ->
            /\ TransitionToUnattached(r, m.epoch, m.from)
            /\ messages' = Unawaited(Reply(m, VoteResponseTo(m, Nil, TRUE)), r, Replica)
  /\ UNCHANGED <<log_state, commit>>

(* What a vote request leaves of r's role and epoch, if it is given no vote. *)
HearOfEpoch(r, m, grant) ==
  IF m.epoch > epoch[r]
  THEN /\ TransitionToUnattached(r, m.epoch, Nil)
       /\ messages' = Unawaited(Reply(m, VoteResponseTo(m, Nil, grant)), r, Replica)
  ELSE /\ messages' = Reply(m, VoteResponseTo(m, leader[r], grant))
       /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>

(***************************************************************************)
(* r would vote for the sender of m. Only a higher epoch is written.       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
GrantPreVote(m) ==
  /\ m.type = "VoteRequest"
  /\ m.pre_vote
  /\ Idle(m.to)
  /\ m.epoch >= epoch[m.to]
  /\ CanGrantVote(m.to, m)
  /\ HearOfEpoch(m.to, m, TRUE)
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* r refuses. It takes over a higher epoch all the same: its own leader,   *)
(* if it had one, is deposed by that.                                      *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
RefuseVote(m) ==
  /\ m.type = "VoteRequest"
  /\ Idle(m.to)
  /\ m.epoch >= epoch[m.to]
  /\ ~CanGrantVote(m.to, m)
  /\ HearOfEpoch(m.to, m, FALSE)
  /\ UNCHANGED <<log_state, commit>>

(* The answer m counts in the election that its receiver is in.              *)
Counts(m) ==
  /\ m.type = "VoteResponse"
  /\ m.epoch = epoch[m.to]
  /\ IsNominee(m.to)
  /\ m.pre_vote = (role[m.to] = "Prospective")

(* The receiver of answer m learns who leads its epoch. *)
LearnsLeader(m) ==
  ~IsRequest(m) /\ m.epoch = epoch[m.to] /\ m.leader # Nil /\ leader[m.to] = Nil

(* With answer m its receiver has a majority. *)
Wins(m) == m.granted /\ IsMajority(m.to, granted[m.to] \cup {m.from})

(***************************************************************************)
(* An answer that decides nothing is noted.                                *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteResponse, EpochElection.recordVote.    *)
(***************************************************************************)
RecordVote(m) ==
  /\ Counts(m)
  /\ Idle(m.to)
  /\ ~LearnsLeader(m)
  /\ ~Wins(m)
  /\ granted' = IF m.granted THEN [granted EXCEPT ![m.to] = @ \cup {m.from}] ELSE granted
  /\ rejected' = IF m.granted THEN rejected ELSE [rejected EXCEPT ![m.to] = @ \cup {m.from}]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, following, end_offset, commit>>

(***************************************************************************)
(* A majority would vote for r: now it stands, in an epoch of its own. Its *)
(* own vote is written before it asks for others.                          *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToCandidate.                               *)
(***************************************************************************)
BecomeCandidate(m) ==
  LET r == m.to IN
  /\ Counts(m)
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ ~LearnsLeader(m)
  /\ Wins(m)
  /\ WriteQuorumState(r, epoch[r] + 1, Nil, r)
  /\ Stand(r, epoch[r] + 1, "Candidate", Unawaited(Take(messages, m), r, Replica))
  /\ UNCHANGED <<log_state, commit>>

(* Replica r leads epoch e. It begins it with a record, of which it is the   *)
(* first to count, and tells the others. What it knew to be committed it     *)
(* forgets (!): its own epoch must confirm it first. Its vote for itself is  *)
(* no longer in the file, and need not be: that it leads says as much.       *)
Lead(r, e, bag) ==
  LET entry == [epoch |-> e, kind |-> "LeaderChange", value |-> r] IN
  /\ WriteQuorumState(r, e, r, Nil)
  /\ role' = [role EXCEPT ![r] = "Leader"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ log' = [log EXCEPT ![r] = Append(@, entry)]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + 1)]
  /\ UpdateHighWatermark(r, NoOffset, LogEnd(r), Append(History(r), entry),    \* (!)
                         NoEndOffsets)
  /\ messages' = PutAll(bag,
       {[type |-> "BeginQuorumEpochRequest", from |-> r, to |-> other, awaited |-> TRUE,
         epoch |-> e] : other \in Voters(r) \ {r}})
  /\ UNCHANGED <<log_start, snapshots>>

(***************************************************************************)
(* A majority has voted for r.                                             *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToLeader, KafkaRaftClient.onBecomeLeader.  *)
(***************************************************************************)
BecomeLeader(m) ==
  /\ Counts(m)
  /\ Idle(m.to)
  /\ role[m.to] = "Candidate"
  /\ ~LearnsLeader(m)
  /\ Wins(m)
  /\ Lead(m.to, epoch[m.to], Unawaited(Take(messages, m), m.to, Replica))

(***************************************************************************)
(* The sole voter asks nobody. It leads a new epoch also when the file     *)
(* says that it led the last one: records it did not flush are gone.       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize, transitionToProspective.             *)
(***************************************************************************)
BecomeSoleLeader(r) ==
  /\ Idle(r)
  /\ Voters(r) = {r}
  /\ role[r] # "Leader"
  /\ Lead(r, epoch[r] + 1, Disconnected(r))

(***************************************************************************)
(* A nominee asks a voter again from which it has no answer.               *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeSendVoteRequests.                           *)
(***************************************************************************)
SendVoteRequest(r, other) ==
  /\ Idle(r)
  /\ IsNominee(r)
  /\ other \in Voters(r) \ (granted[r] \cup rejected[r] \cup {r})
  /\ ~Waiting(r, other)
  /\ messages' = PutAll(messages,
                   VoteRequests(r, epoch[r], role[r] = "Prospective", {other}))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
(* The beginning and the end of an epoch                                     *)

(***************************************************************************)
(* A leader tells a voter again that it leads. A voter that forgot it      *)
(* needs that: one that stood in this epoch, followed, and was restarted,  *)
(* comes back as a candidate.                                              *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeSendBeginQuorumEpochRequests.               *)
(***************************************************************************)
SendBeginQuorumEpoch(r, other) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ other \in Voters(r) \ {r}
  /\ ~Waiting(r, other)
  /\ messages' = PutAll(messages, QuorumEpochRequests("BeginQuorumEpochRequest", r, {other}))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* A leader steps down: because it was told to, or because no majority has *)
(* fetched from it for too long. It keeps that it led this epoch, and      *)
(* tells the others that it does no more. Any time will do: it is told to  *)
(* whenever an operator or its state machine likes, so a guard on who      *)
(* fetched would forbid nothing.                                           *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToResigned, LeaderState.timeUntilCheckQuorumExpires. *)
(***************************************************************************)
Resign(r) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ role' = [role EXCEPT ![r] = "Resigned"]
  /\ NoLeading(r)
  /\ messages' = PutAll(Disconnected(r),
                   QuorumEpochRequests("EndQuorumEpochRequest", r, Voters(r) \ {r}))
  /\ UNCHANGED <<quorum_state, log_state, election, following, commit>>

(* m names a leader of its receiver's epoch that is not the one known there. *)
(* Kafka: KafkaRaftClient.hasConsistentLeader; the process dies.             *)
OtherLeader(m) ==
  LET named == IF IsRequest(m) THEN m.from ELSE m.leader IN
  /\ m.type \notin {"VoteRequest", "FetchRequest", "FetchSnapshotRequest"}
  /\ m.epoch = epoch[m.to]
  /\ named # Nil
  /\ leader[m.to] # Nil
  /\ named # leader[m.to]

(* The receiver of m knows the sender for the leader of m's epoch.           *)
(* A prospective voter that knows it already stays prospective.              *)
HearOfLeader(m) ==
  LET r == m.to IN
  /\ Idle(r)
  /\ m.epoch >= epoch[r]
  /\ ~OtherLeader(m)
  /\ IF m.epoch > epoch[r] \/ leader[r] = Nil \/ role[r] = "Unattached"
     THEN /\ TransitionToFollower(r, m.epoch, m.from)
          /\ messages' = Unawaited(Take(messages, m), r, Replica)
     ELSE /\ messages' = Take(messages, m)
          /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A replica hears who leads. The answer would tell the leader nothing,    *)
(* and is left out.                                                        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.                   *)
(***************************************************************************)
HandleBeginQuorumEpoch(m) ==
  /\ m.type = "BeginQuorumEpochRequest"
  /\ HearOfLeader(m)

(***************************************************************************)
(* A replica hears that its leader has stepped down. It may stand sooner   *)
(* for that; but nothing says here when it may not.                        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.                     *)
(***************************************************************************)
HandleEndQuorumEpoch(m) ==
  /\ m.type = "EndQuorumEpochRequest"
  /\ HearOfLeader(m)
------------------------------------------------------------------------------
(* Answers and requests of another epoch                                     *)

(***************************************************************************)
(* A request of an epoch that is over is refused, with the newer epoch and *)
(* its leader.                                                             *)
(*                                                                         *)
(* Kafka: Errors.FENCED_LEADER_EPOCH; KafkaRaftClient.validateVoterOnlyRequest, *)
(* validateLeaderOnlyRequest.                                              *)
(***************************************************************************)
FencedResponse(m, e, l) ==
  CASE m.type = "VoteRequest" ->
         [type |-> "VoteResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, pre_vote |-> m.pre_vote, granted |-> FALSE]
    [] m.type = "BeginQuorumEpochRequest" ->
         [type |-> "BeginQuorumEpochResponse", from |-> m.to, to |-> m.from,
          epoch |-> e, leader |-> l]
    [] m.type = "EndQuorumEpochRequest" ->
         [type |-> "EndQuorumEpochResponse", from |-> m.to, to |-> m.from,
          epoch |-> e, leader |-> l]
    [] m.type = "FetchRequest" ->
         [type |-> "FetchResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, error |-> "FENCED_LEADER_EPOCH", records |-> << >>,
          high_watermark |-> NoOffset, diverging |-> Nil, snapshot_id |-> Nil]
    [] m.type = "FetchSnapshotRequest" ->
         [type |-> "FetchSnapshotResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, error |-> "FENCED_LEADER_EPOCH", snapshot |-> Nil]

FenceRequest(m) ==
  /\ IsRequest(m)
  /\ Idle(m.to)
  /\ m.epoch < epoch[m.to]
  /\ messages' = Reply(m, FencedResponse(m, epoch[m.to], leader[m.to]))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* An answer shows a higher epoch, or who leads this one. Whatever else it *)
(* says is left; the next request asks for it again.                       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeHandleCommonResponse, maybeTransition.      *)
(***************************************************************************)
DiscoverEpoch(m) ==
  LET r == m.to IN
  /\ ~IsRequest(m)
  /\ Idle(r)
  /\ m.epoch > epoch[r] \/ LearnsLeader(m)
  /\ IF m.leader = Nil
     THEN TransitionToUnattached(r, m.epoch, Nil)
     ELSE TransitionToFollower(r, m.epoch, m.leader)
  /\ messages' = Unawaited(Take(messages, m), r, Replica)
  /\ UNCHANGED <<log_state, commit>>

(* Answer m is for the fetch of a follower by its leader. *)
FromLeader(m) ==
  /\ m.epoch = epoch[m.to]
  /\ role[m.to] = "Follower"
  /\ m.from = leader[m.to]
  /\ m.error = "NONE"

(***************************************************************************)
(* An answer says nothing that its receiver could use.                     *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeHandleCommonResponse.                       *)
(***************************************************************************)
IgnoreResponse(m) ==
  /\ ~IsRequest(m)
  /\ Idle(m.to)
  /\ m.epoch <= epoch[m.to]
  /\ ~LearnsLeader(m)
  /\ ~OtherLeader(m)
  /\ CASE m.type = "VoteResponse" -> ~Counts(m)
       [] m.type = "FetchResponse" -> ~FromLeader(m)
       [] m.type = "FetchSnapshotResponse" -> ~FromLeader(m) /\ m.error # "SNAPSHOT_NOT_FOUND"
       [] OTHER -> TRUE
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
(* Fetching                                                                  *)

(* Whom a replica may ask that knows no leader, or, as an observer, does not *)
(* trust the one it knows.                                                   *)
BootstrapServers(r) == Voters(r) \ {r}

(***************************************************************************)
(* A follower asks its leader for what follows its own log. It has flushed *)
(* that, so to ask is to acknowledge. Who knows no leader asks any voter,  *)
(* and nothing else meanwhile.                                             *)
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
   high_watermark |-> high_watermark[m.to], diverging |-> Nil, snapshot_id |-> Nil]

(***************************************************************************)
(* Only a leader answers fetches, and only those of its own epoch.         *)
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
       THEN [FetchAnswer(m, error) EXCEPT !.high_watermark = NoOffset]
       ELSE [type |-> "FetchSnapshotResponse", from |-> r, to |-> m.from, epoch |-> epoch[r],
             leader |-> leader[r], error |-> error, snapshot |-> Nil])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

IsFetchOfEpoch(m) ==
  /\ m.type = "FetchRequest"
  /\ role[m.to] = "Leader"
  /\ m.epoch = epoch[m.to]

(* How the leader takes a fetch from m.offset, after a record of             *)
(* m.last_epoch. Kafka: KafkaRaftClient.validateFetchOffsetAndEpoch.         *)
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
(* position says nothing, so the leader notes none.                        *)
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
(* The follower's log is not the beginning of the leader's. It is told     *)
(* where its last epoch ends here. Its position says nothing.              *)
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

(* Where what a leader sends may end. *)
ReadEnds(r, offset) == offset .. LogEnd(r)

(***************************************************************************)
(* The follower's log is the beginning of the leader's, and flushed that   *)
(* far: the leader notes it, may know more to be committed by it, and      *)
(* sends what follows, if anything. A fetch at a position noted before may *)
(* have waited for these records, and is answered before they are flushed; *)
(* what the leader has noted then changes nothing.                         *)
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

(* Answer m is a good one to r's fetch.                                      *)
IsFetched(m) ==
  /\ m.type = "FetchResponse"
  /\ Idle(m.to)
  /\ FromLeader(m)

(* A follower knows what its leader says is committed, as far as it has it.  *)
(* That never goes back. Kafka: KafkaRaftClient.updateFollowerHighWatermark. *)
HighWatermarkFrom(r, m, end) ==
  IF Min(m.high_watermark, end) > high_watermark[r]
  THEN Min(m.high_watermark, end) ELSE high_watermark[r]

(***************************************************************************)
(* A follower writes the records it got, and flushes them before it does   *)
(* anything else: a crash in between is a crash before. Only then does it  *)
(* raise its high watermark.                                               *)
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
  /\ flushed' = [flushed EXCEPT ![r] = end]
  /\ high_watermark' = [high_watermark EXCEPT ![r] = HighWatermarkFrom(r, m, end)]
  /\ has_fetched' = [has_fetched EXCEPT ![r] = TRUE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, fetching_snapshot,
                 end_offset, committed>>

(* Where r's log can still agree with a leader whose log has this epoch end  *)
(* there. Kafka: ReplicatedLog.truncateToEndOffset.                          *)
TruncationPoint(r, diverging) ==
  LET own == EndOffsetForEpoch(r, diverging.epoch) IN
  IF diverging.epoch = 0 THEN Min(diverging.end_offset, LogEnd(r))
  ELSE IF own.epoch # diverging.epoch THEN own.end_offset
  ELSE Min(own.end_offset, diverging.end_offset)

(* r would lose what it knows to be committed. Kafka: the process dies.      *)
TruncatesCommitted(m) ==
  /\ m.type = "FetchResponse"
  /\ FromLeader(m)
  /\ m.diverging # Nil
  /\ m.diverging.end_offset < high_watermark[m.to]

(***************************************************************************)
(* A follower cuts its log back to where it can agree with its leader's,   *)
(* and asks again; that may take several rounds.                           *)
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
(* Kafka: KafkaRaftClient.handleFetchResponse, FollowerState.setFetchingSnapshot. *)
(***************************************************************************)
BeginSnapshotFetch(m) ==
  /\ IsFetched(m)
  /\ m.snapshot_id # Nil
  /\ fetching_snapshot' = [fetching_snapshot EXCEPT ![m.to] = m.snapshot_id]
  /\ has_fetched' = [has_fetched EXCEPT ![m.to] = TRUE]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, end_offset, commit>>

(***************************************************************************)
(* A follower asks its leader for the snapshot, all of it at once. Kafka   *)
(* asks for pieces, writes them to a file of their own, and drops that     *)
(* file when anything goes wrong; so only the last piece changes anything. *)
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
(* The leader sends the snapshot, if it still has it.                      *)
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

(* r has what snapshot m carries, or more. Kafka: the process dies.          *)
LoadsOldSnapshot(m) ==
  /\ m.type = "FetchSnapshotResponse"
  /\ FromLeader(m)
  /\ \/ m.snapshot.epoch < LastEpoch(m.to)
     \/ m.snapshot.epoch = LastEpoch(m.to) /\ m.snapshot.end_offset <= LogEnd(m.to)

(***************************************************************************)
(* A follower has the whole snapshot. It takes the place of the log.       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchSnapshotResponse,                     *)
(* ReplicatedLog.truncateToLatestSnapshot.                                 *)
(***************************************************************************)
LoadSnapshot(m) ==
  LET r == m.to IN
  /\ m.type = "FetchSnapshotResponse"
  /\ Idle(r)
  /\ FromLeader(m)
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
(* The leader has the snapshot no more. The follower fetches, and is told  *)
(* of a newer one.                                                         *)
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
(* The state machine writes a snapshot of what it knows to be committed    *)
(* and has not yet in a snapshot.                                          *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.createSnapshot, KafkaMetadataLog.createNewSnapshot. *)
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
(* The log is cleaned: it begins at its next snapshot, and what that holds *)
(* is gone from it, with the snapshots before. The newest always stays.    *)
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
(* A record is appended by leader r. It counts itself at once, and flushes *)
(* next. A sole voter is its own majority: the record is committed, and    *)
(* said to be, before it is flushed.                                       *)
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
  AppendEntry(r, [epoch |-> epoch[r], kind |-> "Data", value |-> value])

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
(* The world                                                                 *)

(* r starts with this log. What the file says decides what r is: it led:     *)
(* Resigned, never Leader again in that epoch, since it may have lost        *)
(* records that others have (!); it voted for itself: Candidate, even if it  *)
(* followed another since; it knows the leader: Follower, if the leader is   *)
(* one of its voters.                                                        *)
(* Kafka: QuorumState.initialize. Its rule for a file that is older than the *)
(* log is left out: it never is (EpochCoversLogInv).                         *)
Boot(r, end) ==
  LET voters == VotersOf(SubSeq(History(r), 1, end))
      others == voters \ {r}
      bag == Disconnected(r)
      is == CASE leader[r] = r -> "Resigned"                                     \* (!)
              [] leader[r] # r /\ voted[r] = r -> "Candidate"
              [] leader[r] # r /\ voted[r] # r /\ leader[r] \in voters -> "Follower"
              [] OTHER -> "Unattached"
      cut == Records(r, log_start[r], end)
  IN
  /\ log' = [log EXCEPT ![r] = cut]
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
              PutAll(bag, {[m EXCEPT !.last_offset = end, !.last_epoch = EpochBefore(r, end)] :
                             m \in VoteRequests(r, epoch[r], FALSE, others)})
         [] OTHER -> bag
  /\ UNCHANGED <<epoch, voted, log_start, snapshots, end_offset, committed>>

(***************************************************************************)
(* A replica stops and starts again, with all that it wrote.               *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize.                                      *)
(***************************************************************************)
Restart(r) == Boot(r, LogEnd(r))

(***************************************************************************)
(* A replica's machine loses power, and with it what was not flushed.      *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize.                                      *)
(***************************************************************************)
CrashLosingTail(r) == ~Idle(r) /\ Boot(r, flushed[r])

(***************************************************************************)
(* A replica gives up on what it asked of another: something was lost.     *)
(*                                                                         *)
(* Kafka: RequestManager.hasRequestTimedOut.                               *)
(***************************************************************************)
RequestTimeout(r, other) ==
  /\ Waiting(r, other)
  /\ messages' = Unawaited(messages, r, {other})
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* A request arrives once more. Nobody waits for the answer to the copy.   *)
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
